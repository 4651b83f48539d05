# Made by generate.py from src/roost/_async/_map.py; change that.
"""Running an agent with each of many payloads: sending them bit by bit, yielding what comes."""

from __future__ import annotations

import math
import uuid
from collections import deque
from collections.abc import Generator, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .._errors import APITimeout, ExecutionFailed, RateLimited, RoostError
from .._ordered import Ordered
from ._concurrency import closing, last_words, next_or, stream
from ._orders import chunks, submit_batch
from ._results import Results
from ._waiting import PASSING, Outage

if TYPE_CHECKING:
    from ._client import Client
    from ._executor_job import ExecutorJob

__all__ = ["collect", "map_payloads"]

# Ordered and not yielded yet: at first, and after many results. Whoever stops early has to cancel
# them one by one.
_AHEAD_AT_FIRST = 200
_AHEAD_MOST = 1000
_CHUNK_MOST = 100
_CHUNK_MOST_BYTES = 4 << 20
# Payloads that take long to come are not kept back until there are many.
_CHUNK_MOST_SECONDS = 0.1
_GLANCE_SECONDS = 0.25
_RETRY_AFTER_SECONDS = 1.0
_RETRY_AFTER_MOST_SECONDS = 60.0


class _Sender:
    """Orders the payloads, a chunk at a time, each once."""

    def __init__(
        self,
        client: Client,
        agent_id: str,
        payloads: Iterable[Any],
        given: Mapping[str, Any],
        parallel: int = 0,
    ) -> None:
        self.done = False
        self.slow = False
        self.again_at = 0.0
        """When to try again, since the queue was full; sooner when one of one's own has ended."""
        self.ahead_most = min(max(_AHEAD_AT_FIRST, 2 * parallel), _AHEAD_MOST)
        self._room_at = -1
        self._client = client
        self._clock = client._transport.clock
        self._agent_id = agent_id
        self._given = given
        self._began = 0.0
        self._chunks = chunks(payloads, _CHUNK_MOST, _CHUNK_MOST_BYTES, self._takes_long)
        self._chunk: list[bytes] = []
        self._key = ""
        self._most = _CHUNK_MOST
        self._outage = Outage(client._transport)

    def may_send(self, ahead: int, open_jobs: int) -> bool:
        """Whether there is something to send, and no reason to wait."""
        if self.done or ahead > self.ahead_most - _CHUNK_MOST:
            return False
        return self._clock.monotonic() >= self.again_at or open_jobs <= self._room_at

    def yielded(self) -> None:
        """Go a little further ahead after a result."""
        self.ahead_most = min(self.ahead_most + 1, _AHEAD_MOST)

    def send(self, deadline: float, open_jobs: int) -> Ordered | None:
        """Order the next chunk, or part of it.

        Returns `None` when there are no more payloads, and when the order could not be made yet;
        then it is tried again the next time, with the same key, so that it is made once.
        """
        if not self._chunk:
            self._began = self._clock.monotonic()
            nothing: list[bytes] = []
            self._chunk = next_or(self._chunks, nothing)
            self.slow = self._takes_long()
            if not self._chunk:
                self.done = True
                return None
        part = self._chunk[: self._most]
        self._key = self._key or str(uuid.uuid4())
        now = self._clock.monotonic()
        try:
            # Without retries: what waits for this one may have results to yield.
            ordered = submit_batch(
                self._client, self._agent_id, part, self._key, self._given, deadline=now
            )
        except RateLimited as error:
            self._keep_back(error, len(part), open_jobs)
            return None
        except PASSING as error:
            note = "payloads were being sent; those that were ordered before are cancelled"
            self._outage.endure(error, note, began=now, most=deadline - now)
            return None
        self._outage.over()
        self._chunk, self._key = self._chunk[len(part) :], ""
        self._most = min(_CHUNK_MOST, self._most * 2)
        self.again_at, self._room_at = 0.0, -1
        return ordered

    def _keep_back(self, error: RateLimited, size: int, open_jobs: int) -> None:
        pause = min(error.retry_after or _RETRY_AFTER_SECONDS, _RETRY_AFTER_MOST_SECONDS)
        if error.code == "queue_full":
            # Nothing of it was ordered, so it may be cut: all of it may never fit.
            self._key = ""
            if open_jobs:
                self._most = max(1, min(size, open_jobs // 4))
                self._room_at = open_jobs - self._most
            elif size > 1:
                self._most = size // 2
                return
        self.again_at = self._clock.monotonic() + pause

    def _takes_long(self) -> bool:
        return self._clock.monotonic() - self._began >= _CHUNK_MOST_SECONDS


class _Turns:
    """Whose result is yielded next, and what that looks like."""

    def __init__(self, ordered: bool, return_exceptions: bool) -> None:
        self._return_exceptions = return_exceptions
        self._queue: deque[str] | None = deque() if ordered else None

    def expect(self, batch: Ordered) -> None:
        """Queue these, if the order matters."""
        if self._queue is not None:
            self._queue.extend(batch.job_ids)

    def ready(self, results: Results) -> ExecutorJob | None:
        """Take the one whose turn it is, if it has ended."""
        if self._queue is None:
            next_id = next(iter(results.ended), None)
        else:
            next_id = self._queue[0] if self._queue else None
        if next_id is None or next_id not in results.ended:
            return None
        job = results.take(next_id)
        if self._queue is not None:
            self._queue.popleft()
        return job

    def outcome(self, job: ExecutorJob) -> Any:
        """Return what a job that has ended came to."""
        try:
            return (job.wait(check=True)).return_value
        except ExecutionFailed as failure:
            if self._return_exceptions:
                return failure
            raise


def map_payloads(
    client: Client,
    agent_id: str,
    payloads: Iterable[Any],
    given: Mapping[str, Any],
    *,
    parallel: int,
    ordered: bool,
    return_exceptions: bool,
    timeout: float | None,
) -> Generator[Any, None, None]:
    """Order an execution for each payload and yield what they return; the rest is cancelled.

    `parallel` is how many the agent runs at a time.
    """
    deadline = _deadline(client, timeout)
    sender = _Sender(client, agent_id, payloads, given, parallel)
    results = Results(client, agent_id, deadline)
    turns = _Turns(ordered, return_exceptions)
    running = _run(client, sender, results, turns, deadline, timeout)
    return stream(_cancelling(results, running))


def collect(
    client: Client,
    agent_id: str,
    batches: Iterable[Ordered],
    *,
    ordered: bool,
    return_exceptions: bool,
    timeout: float | None,
) -> Generator[Any, None, None]:
    """Yield what those return that are ordered already; none is cancelled."""
    deadline = _deadline(client, timeout)
    results = Results(client, agent_id, deadline)
    turns = _Turns(ordered, return_exceptions)
    for batch in batches:
        results.add(batch)
        turns.expect(batch)
    nothing = _Sender(client, agent_id, (), {})
    return stream(_run(client, nothing, results, turns, deadline, timeout))


def _deadline(client: Client, timeout: float | None) -> float:
    return math.inf if timeout is None else client._transport.clock.monotonic() + timeout


def _cancelling(results: Results, inner: Generator[Any, None, None]) -> Generator[Any, None, None]:
    try:
        with closing(inner):
            for result in inner:
                yield result
    finally:
        # Whoever stops early wants no more of it, and no other error than the one that stopped it.
        # RuntimeError: the client is closed already.
        with suppress(RoostError, RuntimeError), last_words():
            results.cancel_waiting()


def _run(
    client: Client,
    sender: _Sender,
    results: Results,
    turns: _Turns,
    deadline: float,
    timeout: float | None,
) -> Generator[Any, None, None]:
    clock = client._transport.clock
    try:
        while True:
            if sender.may_send(len(results), results.open):
                batch = sender.send(deadline, results.open)
                if batch is not None:
                    results.add(batch)
                    turns.expect(batch)
                results.glance(_GLANCE_SECONDS)
            job = turns.ready(results)
            while job is not None:
                sender.yielded()
                yield turns.outcome(job)
                if sender.may_send(len(results), results.open) and not sender.slow:
                    break
                job = turns.ready(results)
            else:
                now = clock.monotonic()
                if sender.done and not len(results):
                    return
                if now >= deadline:
                    raise APITimeout(
                        f"{results.open:,} of the executions that were ordered had not ended "
                        f"after {timeout:g} s"
                    )
                if sender.may_send(len(results), results.open):
                    continue
                until = sender.again_at if sender.again_at > now and not sender.done else math.inf
                if len(results):
                    results.wait(until)
                else:
                    clock.sleep(min(until, deadline) - now)
    finally:
        results.disconnect()
