"""Running an agent with many payloads: submission in chunks, results as an iterator."""

from __future__ import annotations

import math
import uuid
from collections import deque
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from .._errors import APITimeout, ExecutionFailed, RateLimited, RoostError
from .._submissions import SubmittedBatch
from ._concurrency import aclosing, next_or, shielded_cleanup, stream
from ._results import Results
from ._stream import Items, Stream
from ._submit import chunks, submit_batch
from ._waiting import TRANSIENT_ERRORS, Outage

if TYPE_CHECKING:
    from ._client import Client
    from ._executor_job import ExecutorJob

__all__ = ["collect", "map_payloads"]

# Jobs submitted ahead of the current result: initially, and after many results. Stopping early
# cancels them.
_INITIAL_AHEAD = 200
_MAX_AHEAD = 1000
_MAX_CHUNK = 100
_MAX_CHUNK_BYTES = 4 << 20
# Slow payloads are sent before a chunk is full.
_MAX_CHUNK_SECONDS = 0.1
_PEEK_SECONDS = 0.25
_RETRY_AFTER_SECONDS = 1.0
_MAX_RETRY_AFTER_SECONDS = 60.0


class _Sender:
    """Submits the payloads in chunks, each payload once."""

    def __init__(
        self,
        client: Client,
        agent_id: str,
        payloads: Items[Any],
        given: Mapping[str, Any],
        parallel: int = 0,
    ) -> None:
        self.done = False
        self.slow = False
        self.retry_at = 0.0
        """When to retry after a full queue; earlier if enough of our own jobs have ended."""
        self.max_ahead = min(max(_INITIAL_AHEAD, 2 * parallel), _MAX_AHEAD)
        self._resume_at_open = -1
        self._client = client
        self._clock = client._transport.clock
        self._agent_id = agent_id
        self._given = given
        self._began = 0.0
        self._chunks = chunks(payloads, _MAX_CHUNK, _MAX_CHUNK_BYTES, self._takes_long)
        self._chunk: list[bytes] = []
        self._key = ""
        self._in_doubt = False
        self._most = _MAX_CHUNK
        self._outage = Outage(client._transport)

    def may_send(self, ahead: int, open_jobs: int) -> bool:
        """Whether to submit the next chunk now."""
        if self.done or ahead > self.max_ahead - _MAX_CHUNK:
            return False
        return self._clock.monotonic() >= self.retry_at or open_jobs <= self._resume_at_open

    def yielded(self) -> None:
        """Raise the limit by one after a result."""
        self.max_ahead = min(self.max_ahead + 1, _MAX_AHEAD)

    async def send(self, deadline: float, open_jobs: int) -> SubmittedBatch | None:
        """Submit the next chunk, or part of it.

        Returns `None` if there are no more payloads, or if the submission failed; the next call
        then retries with the same idempotency key.
        """
        if not self._chunk:
            self._began = self._clock.monotonic()
            nothing: list[bytes] = []
            self._chunk = await next_or(self._chunks, nothing)
            self.slow = self._takes_long()
            if not self._chunk:
                self.done = True
                return None
        part = self._chunk[: self._most]
        self._key = self._key or str(uuid.uuid4())
        now = self._clock.monotonic()
        self._in_doubt = True
        try:
            # Without retries, since results may be ready to be yielded.
            jobs = await self._submit(part, now)
        except RateLimited as error:
            self._in_doubt = False
            self._back_off(error, len(part), open_jobs)
            return None
        except TRANSIENT_ERRORS as error:
            note = "while submitting payloads; queued jobs are cancelled"
            await self._outage.pause(error, note, began=now, most=deadline - now)
            return None
        self._in_doubt = False
        self._outage.reset()
        self._chunk, self._key = self._chunk[len(part) :], ""
        self._most = min(_MAX_CHUNK, self._most * 2)
        self.retry_at, self._resume_at_open = 0.0, -1
        return jobs

    async def settle(self) -> SubmittedBatch | None:
        """Return the batch of a submission that was cut off.

        The server may have it: the same request with the same key returns that batch.
        """
        if not self._in_doubt:
            return None
        return await self._submit(self._chunk[: self._most], self._clock.monotonic())

    async def _submit(self, part: list[bytes], deadline: float) -> SubmittedBatch:
        return await submit_batch(
            self._client, self._agent_id, part, self._key, self._given, deadline=deadline
        )

    def _back_off(self, error: RateLimited, size: int, open_jobs: int) -> None:
        pause = min(error.retry_after or _RETRY_AFTER_SECONDS, _MAX_RETRY_AFTER_SECONDS)
        if error.code == "queue_full":
            # Nothing was submitted; split the chunk, since all of it may never fit.
            self._key = ""
            if open_jobs:
                self._most = max(1, min(size, open_jobs // 4))
                self._resume_at_open = open_jobs - self._most
            elif size > 1:
                self._most = size // 2
                return
        self.retry_at = self._clock.monotonic() + pause

    def _takes_long(self) -> bool:
        return self._clock.monotonic() - self._began >= _MAX_CHUNK_SECONDS


class _ResultOrder:
    """The order in which results are yielded."""

    def __init__(self, ordered: bool, return_exceptions: bool) -> None:
        self._return_exceptions = return_exceptions
        self._queue: deque[str] | None = deque() if ordered else None

    def expect(self, batch: SubmittedBatch) -> None:
        """Append the jobs of a batch, if the order matters."""
        if self._queue is not None:
            self._queue.extend(batch.job_ids)

    async def ready(self, results: Results) -> ExecutorJob | None:
        """Take the next job, if it has ended."""
        if self._queue is None:
            next_id = next(iter(results.ended), None)
        else:
            next_id = self._queue[0] if self._queue else None
        if next_id is None or next_id not in results.ended:
            return None
        job = await results.take(next_id)
        if self._queue is not None:
            self._queue.popleft()
        return job

    async def outcome(self, job: ExecutorJob) -> Any:
        """Return the result of an ended job."""
        try:
            return (await job.wait(check=True)).return_value
        except ExecutionFailed as failure:
            if self._return_exceptions:
                return failure
            raise


def map_payloads(
    client: Client,
    agent_id: str,
    payloads: Items[Any],
    given: Mapping[str, Any],
    *,
    parallel: int,
    ordered: bool,
    return_exceptions: bool,
    timeout: float | None,
) -> Stream[Any]:
    """Submit a job for each payload and yield the return values; cancel the rest at the end.

    `parallel` is the agent's `max_concurrency`.
    """
    deadline = _deadline(client, timeout)
    sender = _Sender(client, agent_id, payloads, given, parallel)
    results = Results(client, agent_id, deadline)
    order = _ResultOrder(ordered, return_exceptions)
    running = _run(client, sender, results, order, deadline, timeout)
    return stream(_cancelling(sender, results, running))


def collect(
    client: Client,
    agent_id: str,
    batches: Iterable[SubmittedBatch],
    *,
    ordered: bool,
    return_exceptions: bool,
    timeout: float | None,
) -> Stream[Any]:
    """Yield the return values of submitted batches; cancels nothing."""
    deadline = _deadline(client, timeout)
    results = Results(client, agent_id, deadline)
    order = _ResultOrder(ordered, return_exceptions)
    for batch in batches:
        results.add(batch)
        order.expect(batch)
    nothing = _Sender(client, agent_id, (), {})
    return stream(_run(client, nothing, results, order, deadline, timeout))


def _deadline(client: Client, timeout: float | None) -> float:
    return math.inf if timeout is None else client._transport.clock.monotonic() + timeout


async def _cancelling(
    sender: _Sender, results: Results, inner: AsyncGenerator[Any, None]
) -> AsyncGenerator[Any, None]:
    try:
        async with aclosing(inner):
            async for result in inner:
                yield result
    finally:
        # Errors of the cleanup must not replace the one that stopped the iteration.
        # RuntimeError: the client is already closed.
        with suppress(RuntimeError), shielded_cleanup():
            with suppress(RoostError):
                batch = await sender.settle()
                if batch is not None:
                    results.add(batch)
            with suppress(RoostError):
                await results.cancel_waiting()


async def _run(
    client: Client,
    sender: _Sender,
    results: Results,
    order: _ResultOrder,
    deadline: float,
    timeout: float | None,
) -> AsyncGenerator[Any, None]:
    clock = client._transport.clock
    try:
        while True:
            if sender.may_send(len(results), results.open):
                batch = await sender.send(deadline, results.open)
                if batch is not None:
                    results.add(batch)
                    order.expect(batch)
                await results.peek(_PEEK_SECONDS)
            job = await order.ready(results)
            while job is not None:
                sender.yielded()
                yield await order.outcome(job)
                if sender.may_send(len(results), results.open) and not sender.slow:
                    break
                job = await order.ready(results)
            else:
                now = clock.monotonic()
                if sender.done and not len(results):
                    return
                if now >= deadline:
                    raise APITimeout(
                        f"{results.open:,} of the submitted executions had not ended "
                        f"after {timeout:g} s"
                    )
                if sender.may_send(len(results), results.open):
                    continue
                until = sender.retry_at if sender.retry_at > now and not sender.done else math.inf
                if len(results):
                    await results.wait(until)
                else:
                    await clock.asleep(min(until, deadline) - now)
    finally:
        await results.disconnect()
