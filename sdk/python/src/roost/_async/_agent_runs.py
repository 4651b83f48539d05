"""Methods of Agent that run it: with one payload, with many, or on a schedule."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from datetime import datetime
from typing import Any, Callable, Literal, overload

from .._changes import MissedRuns, Overlap
from .._details import Progress
from .._submissions import options
from .._values import NOT_GIVEN, NotGiven
from ._batch import Batch, execute_batch
from ._concurrency import aclosing, stream
from ._execution import Execution
from ._executor_job import ExecutorJob
from ._file import Content, File, ids_of
from ._map import map_payloads
from ._resource import Resource
from ._schedule import Schedule
from ._stream import Items, Stream
from ._submit import submit
from ._waiting import max_hold

__all__ = ["AgentRuns"]


class AgentRuns(Resource):
    """The methods of an Agent that submit jobs."""

    __slots__ = ()

    @overload
    async def execute(
        self,
        payload: Any = ...,
        *,
        wait: Literal[True] = ...,
        timeout: float | None = ...,
        check: bool = ...,
        files: Mapping[str, Content | File] | None = ...,
        draft: str | None = ...,
        priority: int | None = ...,
        concurrency_key: str | None = ...,
        idempotency_key: str | None = ...,
    ) -> Execution: ...

    @overload
    async def execute(
        self,
        payload: Any = ...,
        *,
        wait: Literal[False],
        files: Mapping[str, Content | File] | None = ...,
        draft: str | None = ...,
        priority: int | None = ...,
        concurrency_key: str | None = ...,
        idempotency_key: str | None = ...,
    ) -> ExecutorJob: ...

    async def execute(
        self,
        payload: Any = NOT_GIVEN,
        *,
        wait: bool = True,
        timeout: float | None = None,
        check: bool = False,
        files: Mapping[str, Content | File] | None = None,
        draft: str | None = None,
        priority: int | None = None,
        concurrency_key: str | None = None,
        idempotency_key: str | None = None,
    ) -> Execution | ExecutorJob:
        """Run the agent once and return the Execution when it has ended, successful or not.

        `payload` is any JSON value. `timeout` is how many seconds to wait, not how long the script
        may run: after it, `APITimeout` is raised and the job keeps running. `check=True` raises
        `ExecutionFailed` unless the script succeeded; otherwise that is only raised if the script
        never ran, for example because the build failed. `wait=False` is `submit`.

        Jobs with a higher `priority` (-100 to 100, 0 by default) run first. Jobs of an agent with
        the same `concurrency_key` run one at a time.

        `files` are what the script reads as `request.files`: files by name, each a path, bytes or a
        `File`. They are uploaded first.

        `draft` is a script to run instead of the agent's, without saving it, with the packages and
        environment variables of the agent's running revision. Runs of drafts are marked as such,
        and left out of the agent's figures and of issues.

        A second call with the same `idempotency_key` and payload within a day returns the same
        run. Without a key, every call is a separate run; retries never run it twice.
        """
        if not wait:
            if timeout is not None or check:
                raise ValueError("timeout and check require wait=True")
            return await self.submit(
                payload,
                files=files,
                draft=draft,
                priority=priority,
                concurrency_key=concurrency_key,
                idempotency_key=idempotency_key,
            )
        client = self._client
        deadline = None
        hold = max_hold(client)
        if timeout is not None:
            deadline = client._transport.clock.monotonic() + timeout
            hold = max(0.0, min(hold, timeout))
        given = options(priority, concurrency_key, draft, await ids_of(client, files))
        job = await submit(client, self.id, payload, idempotency_key, given, hold)
        return await job._outcome(deadline, timeout, check)

    async def submit(
        self,
        payload: Any | NotGiven = NOT_GIVEN,
        *,
        files: Mapping[str, Content | File] | None = None,
        draft: str | None = None,
        priority: int | None = None,
        concurrency_key: str | None = None,
        idempotency_key: str | None = None,
    ) -> ExecutorJob:
        """Submit a job and return it without waiting; `wait()` returns its result.

        `files` and `draft` are as in `execute`.
        """
        given = options(priority, concurrency_key, draft, await ids_of(self._client, files))
        return await submit(self._client, self.id, payload, idempotency_key, given)

    def stream(
        self,
        payload: Any = NOT_GIVEN,
        *,
        files: Mapping[str, Content | File] | None = None,
        draft: str | None = None,
        priority: int | None = None,
        concurrency_key: str | None = None,
        idempotency_key: str | None = None,
        on_restart: Callable[[int], None] | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Stream[Any]:
        """Run the agent once and yield the values that its script emits, as they come.

        Raises `ExecutionFailed` at the end unless the script succeeded. `submit` and the job's
        `stream` are the same in two steps; with them, the return value can be read afterwards.
        """

        async def run() -> AsyncGenerator[Any, None]:
            ids = await ids_of(self._client, files)
            given = options(priority, concurrency_key, draft, ids)
            job = await submit(self._client, self.id, payload, idempotency_key, given)
            async with aclosing(job._values(on_restart, on_progress)) as values:
                async for value in values:
                    yield value
            await job.wait(check=True)

        return stream(run())

    async def execute_batch(
        self,
        payloads: Items[Any],
        *,
        priority: int | None = None,
        concurrency_key: str | None = None,
        idempotency_key: str | None = None,
    ) -> Batch:
        """Submit a job for each payload, without waiting for results.

        Up to 1,000 payloads and 64 MiB of JSON are one batch, submitted atomically; more are sent
        as several batches. Raises `RateLimited` if they don't fit into the agent's queue; `map`
        waits for capacity instead. If a later batch fails, the error's message says how many
        payloads were submitted and which `idempotency_key` submits the rest.
        """
        given = options(priority, concurrency_key)
        return await execute_batch(self._client, self.id, payloads, idempotency_key, given)

    def map(
        self,
        payloads: Items[Any],
        *,
        ordered: bool = True,
        return_exceptions: bool = False,
        timeout: float | None = None,
        priority: int | None = None,
        concurrency_key: str | None = None,
    ) -> Stream[Any]:
        """Run the agent once for each payload and yield the return values.

        In the order of the payloads or, with `ordered=False`, in the order of completion.
        `payloads` may be long, slow or infinite; they are consumed between results. Up to 200
        jobs, rising to 1,000 with the number of results, are submitted ahead of the current
        result, which bounds memory. Nothing is submitted before the first result is requested.
        Waits while the queue is full, and reconnects; no job is submitted twice and no result is
        lost.

        A failed run raises `ExecutionFailed` in place of its result; with `return_exceptions=True`
        the error is yielded instead, and the iteration continues. `timeout` is the deadline of
        each result in seconds after this call; then `APITimeout` is raised. An error, `close()`
        and garbage collection end the iterator: queued jobs are cancelled, running ones continue.
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

    async def schedule(
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
        """Run the agent on a schedule; the parameters are those of `Schedule.create`."""
        return await self._client.schedules.create(
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
