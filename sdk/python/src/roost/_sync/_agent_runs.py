# Made by generate.py from src/roost/_async/_agent_runs.py; change that.
"""What an agent can be asked to run: one payload, many, or one at set times."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from datetime import datetime
from typing import Any, Literal, overload

from .._changes import MissedRuns, Overlap
from .._ordered import options
from .._values import NOT_GIVEN, NotGiven
from ._batch import Batch, execute_batch
from ._execution import Execution
from ._executor_job import ExecutorJob
from ._map import map_payloads
from ._orders import submit
from ._resource import Resource
from ._schedule import Schedule
from ._waiting import hold_most

__all__ = ["AgentRuns"]


class AgentRuns(Resource):
    """The part of an Agent that orders executions."""

    __slots__ = ()

    @overload
    def execute(
        self,
        payload: Any = ...,
        *,
        wait: Literal[True] = ...,
        timeout: float | None = ...,
        check: bool = ...,
        priority: int | None = ...,
        concurrency_key: str | None = ...,
        idempotency_key: str | None = ...,
    ) -> Execution: ...

    @overload
    def execute(
        self,
        payload: Any = ...,
        *,
        wait: Literal[False],
        priority: int | None = ...,
        concurrency_key: str | None = ...,
        idempotency_key: str | None = ...,
    ) -> ExecutorJob: ...

    def execute(
        self,
        payload: Any = NOT_GIVEN,
        *,
        wait: bool = True,
        timeout: float | None = None,
        check: bool = False,
        priority: int | None = None,
        concurrency_key: str | None = None,
        idempotency_key: str | None = None,
    ) -> Execution | ExecutorJob:
        """Run it once and return the Execution when it has ended, whether it succeeded or not.

        `payload` is any JSON value. `timeout` is how long to wait, in seconds, not how long the
        script may run: after it, `APITimeout` is raised and the job goes on. `check=True` raises
        `ExecutionFailed` unless the script succeeded; without it that is raised only when the
        script never ran, for example because the build failed. `wait=False` is `submit`.

        Orders with a higher `priority` (-100 to 100, 0 by default) are run first. Of those of an
        agent with the same `concurrency_key`, one runs at a time.

        A second call with the same `idempotency_key` and payload within a day returns the same
        run. Without one every call is a run of its own, and is never run twice by a retry.
        """
        if not wait:
            if timeout is not None or check:
                raise ValueError("timeout and check need wait=True")
            return self.submit(
                payload,
                priority=priority,
                concurrency_key=concurrency_key,
                idempotency_key=idempotency_key,
            )
        client = self._client
        deadline = None
        hold = hold_most(client)
        if timeout is not None:
            deadline = client._transport.clock.monotonic() + timeout
            hold = max(0.0, min(hold, timeout))
        given = options(priority, concurrency_key)
        job = submit(client, self.id, payload, idempotency_key, given, hold)
        return job._outcome(deadline, timeout, check)

    def submit(
        self,
        payload: Any | NotGiven = NOT_GIVEN,
        *,
        priority: int | None = None,
        concurrency_key: str | None = None,
        idempotency_key: str | None = None,
    ) -> ExecutorJob:
        """Order a run and return the ExecutorJob at once; its `wait()` gets the result."""
        given = options(priority, concurrency_key)
        return submit(self._client, self.id, payload, idempotency_key, given)

    def execute_batch(
        self,
        payloads: Iterable[Any],
        *,
        priority: int | None = None,
        concurrency_key: str | None = None,
        idempotency_key: str | None = None,
    ) -> Batch:
        """Order a run for each payload, and return when all are ordered.

        Up to 1,000 payloads and 64 MiB of JSON are one batch: ordered all or not at all. More are
        sent as several. Raises `RateLimited` when they don't fit into the agent's queue; `map`
        waits for room instead. When a later batch fails, the error's message says how many
        payloads are ordered and with which `idempotency_key` the same call orders the rest.
        """
        given = options(priority, concurrency_key)
        return execute_batch(self._client, self.id, payloads, idempotency_key, given)

    def map(
        self,
        payloads: Iterable[Any],
        *,
        ordered: bool = True,
        return_exceptions: bool = False,
        timeout: float | None = None,
        priority: int | None = None,
        concurrency_key: str | None = None,
    ) -> Generator[Any, None, None]:
        """Run it once for each payload and yield what the runs return, as they come.

        In the order of the payloads; or, with `ordered=False`, in that in which the runs end.
        `payloads` may be long, slow or endless; they are taken between results. 200 runs, after
        many results up to 1,000, are ordered ahead of the result that is taken, and memory doesn't
        grow beyond those. Nothing is ordered before the first result is asked for. A full queue is
        waited for, and connections that break are made again; no run is ordered twice by that and
        no result lost.

        A run without success raises `ExecutionFailed` where its result would be; with
        `return_exceptions=True` that is yielded instead, and it goes on. `timeout` is how many
        seconds after this call each result must be there, else `APITimeout` is raised. An error,
        `close()` and the end of the last reference end the iterator. Then what has not begun to
        run is cancelled, and what runs goes on.
        """
        return map_payloads(
            self._client,
            self.id,
            payloads,
            options(priority, concurrency_key),
            parallel=self._data.get("max_concurrency") or 0,
            ordered=ordered,
            return_exceptions=return_exceptions,
            timeout=timeout,
        )

    def schedule(
        self,
        cron: str,
        *,
        name: str | None = None,
        time_zone: str | None = None,
        payload: Any | NotGiven = NOT_GIVEN,
        missed_runs: MissedRuns | None = None,
        missed_runs_limit: int | None = None,
        overlap: Overlap | None = None,
        jitter: float | None = None,
        starts_at: datetime | None = None,
        ends_at: datetime | None = None,
    ) -> Schedule:
        """Have it run at the times of `cron`; the parameters are those of `Schedule.create`."""
        return self._client.schedules.create(
            agent_id=self.id,
            cron=cron,
            name=name,
            time_zone=time_zone,
            payload=payload,
            missed_runs=missed_runs,
            missed_runs_limit=missed_runs_limit,
            overlap=overlap,
            jitter=jitter,
            starts_at=starts_at,
            ends_at=ends_at,
        )
