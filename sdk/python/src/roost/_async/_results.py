"""Following many ExecutorJobs to their ends and fetching the results.

The event log says which jobs have ended; it is read from before the first of them, so that nothing
is missed after a disconnect. Batches without events for a minute, and all batches if the log
isn't kept that far back, are polled as well.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Iterable
from typing import TYPE_CHECKING, Callable, TypeVar

from .._errors import APIConnectionError, APITimeout, Gone
from .._event import Event
from .._fields import path_to
from .._submissions import SubmittedBatch
from ._concurrency import next_or
from ._events import MAX_SILENCE_SECONDS, WORKING_STREAM_SECONDS, EventLog
from ._executor_job import ENDED, ExecutorJob
from ._pages import each
from ._submit import cancel_batch
from ._waiting import TRANSIENT_ERRORS, Outage

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["Results"]

T = TypeVar("T")

_PATH = "/executor-jobs"
_MAX_PAGE_SIZE = 200
_MAX_QUIET_SECONDS = 60.0
# Up to this many are fetched one by one.
_FEW = 3
# The minimum share of wanted jobs for which a page of a batch is fetched.
_MIN_PAGE_SHARE = 0.1
# Events in quick succession: the rest is read as a page.
_BUSY_SECONDS = 0.25
# A stream whose read timeout exceeds the remaining time by more than this is reopened with a
# shorter one.
_TOLERANCE_SECONDS = 1.0
_NOTE = "while waiting for executions, which may still be running"


class _Batch:
    """One batch: the number of its open jobs, and when to poll it."""

    def __init__(self, submitted: SubmittedBatch, poll_at: float) -> None:
        self.id = submitted.id
        self.job_ids = submitted.job_ids
        self.open = len(submitted.job_ids)
        self.poll_at = poll_at
        self.page_size = _MAX_PAGE_SIZE


class Results:
    """The ExecutorJobs of an agent that were added and not yet taken.

    `ended` has the final states of jobs that were not yet taken, in the order of completion.
    """

    def __init__(self, client: Client, agent_id: str, deadline: float) -> None:
        # Not a dict: finding its first item takes longer the more items were removed before it.
        self.ended: OrderedDict[str, str] = OrderedDict()
        self._client = client
        self._transport = client._transport
        self._clock = client._transport.clock
        self._deadline = deadline
        types = ",".join(f"executor_job.{state}" for state in ENDED)
        self._log = EventLog(client, {"types": types, "agent_id": agent_id}, None)
        self._read_at = self._clock.monotonic()
        self._notified_at = -math.inf
        self._stream: AsyncGenerator[list[Event], None] | None = None
        self._read_timeout = math.inf
        self._opened = 0.0
        self._gone = False
        self._outage = Outage(client._transport)
        self._places: dict[str, tuple[_Batch, int]] = {}
        self._fetched: dict[str, ExecutorJob] = {}
        self._open: dict[str, _Batch] = {}  # those with jobs that haven't ended

    @property
    def open(self) -> int:
        """The number of jobs that have not ended."""
        return len(self._places) - len(self.ended)

    def __len__(self) -> int:
        return len(self._places)

    def add(self, submitted: SubmittedBatch) -> None:
        """Follow the jobs of another batch."""
        now = self._clock.monotonic()
        if self._log.position is None:
            self._log.position = submitted.last_event_id
        # Events of an earlier, repeated request may have been read already.
        batch = _Batch(submitted, now if submitted.repeated else now + _MAX_QUIET_SECONDS)
        self._open[batch.id] = batch
        for index, job_id in enumerate(submitted.job_ids):
            self._places[job_id] = (batch, index)

    async def take(self, job_id: str) -> ExecutorJob:
        """Return and remove an ended job."""
        if job_id not in self._fetched:
            await self._retrying(lambda: self._fetch(job_id))
        del self._places[job_id], self.ended[job_id]
        return self._fetched.pop(job_id)

    async def peek(self, every: float) -> None:
        """Read new events without waiting, if they were last read `every` seconds ago."""
        if self._clock.monotonic() - self._read_at >= every and self.open and not self._gone:
            try:
                await self._retrying(self._read_page)
            except Gone:
                self._gone = True

    async def wait(self, until: float = math.inf) -> None:
        """Return when more jobs have ended, at `until`, a time of the clock, or at the deadline.

        Requires open jobs.
        """
        before = len(self.ended)
        until = min(until, self._deadline)
        while len(self.ended) == before:
            now = self._clock.monotonic()
            if now >= until:
                return
            try:
                if self._gone:
                    await self._restart_stream()
                due = [batch for batch in self._open.values() if batch.poll_at <= now]
                if due:
                    await self._poll(due)
                else:
                    await self._read(until - now)
                    if len(self.ended) > before and self._is_busy() and self.open:
                        await self._read_page()
            except Gone:
                self._gone = True
                await self.disconnect()
            except TRANSIENT_ERRORS as error:
                await self.disconnect()
                await self._outage.pause(error, _NOTE, began=now, most=until - now)

    async def disconnect(self) -> None:
        """Close the connection; the next `wait` opens a new one."""
        if self._stream is not None:
            stream, self._stream = self._stream, None
            await stream.aclose()

    async def cancel_waiting(self) -> None:
        """Cancel the queued jobs."""
        for batch in reversed(list(self._open.values())):
            await cancel_batch(self._client, batch.id, running=False)

    async def _read(self, left: float) -> None:
        """Read the next events of the stream, for about `left` seconds at most."""
        now = self._clock.monotonic()
        if self._stream is None or self._read_timeout > left + _TOLERANCE_SECONDS:
            await self.disconnect()
            self._read_timeout = min(MAX_SILENCE_SECONDS, left)
            self._stream = self._log.stream(self._read_timeout)
            self._opened = now
        try:
            burst = await next_or(self._stream, None)
        except APITimeout:
            if self._read_timeout < MAX_SILENCE_SECONDS:  # the caller's deadline
                await self.disconnect()
                return
            raise
        if burst or self._clock.monotonic() - self._opened >= WORKING_STREAM_SECONDS:
            self._outage.reset()
        if burst is None:
            raise APIConnectionError(f"{self._transport.base_url} keeps closing the event stream")
        self._note(burst)

    async def _read_page(self) -> None:
        self._note(await self._log.page())

    def _is_busy(self) -> bool:
        before, self._notified_at = self._notified_at, self._clock.monotonic()
        return self._notified_at - before < _BUSY_SECONDS

    async def _restart_stream(self) -> None:
        """Continue with new events, and poll all batches for what happened before."""
        await self.disconnect()
        self._log.position = None
        self._read_timeout = MAX_SILENCE_SECONDS
        self._stream = self._log.stream()
        nothing: list[Event] = []
        self._note(await next_or(self._stream, nothing))
        self._gone = False
        for batch in self._open.values():
            batch.poll_at = 0.0

    async def _poll(self, batches: list[_Batch]) -> None:
        for batch in batches:
            # Only ended jobs, to skip the payloads of the others.
            for state in ENDED:
                params = {"batch_id": batch.id, "state": state}
                async for data in each(self._client, _PATH, params, page_size=_MAX_PAGE_SIZE):
                    self._end(data["id"], state)
            batch.poll_at = self._clock.monotonic() + _MAX_QUIET_SECONDS

    def _note(self, events: Iterable[Event]) -> None:
        for event in events:
            self._end(event.subject, event.type.rpartition(".")[2])
        self._read_at = self._clock.monotonic()

    def _end(self, job_id: str, state: str) -> None:
        if job_id not in self._places or job_id in self.ended:
            return
        self.ended[job_id] = state
        batch, _ = self._places[job_id]
        batch.open -= 1
        batch.poll_at = self._clock.monotonic() + _MAX_QUIET_SECONDS
        if not batch.open:
            del self._open[batch.id]

    async def _fetch(self, job_id: str) -> None:
        """Fetch a job, together with the next ones of its batch if that saves requests."""
        batch, index = self._places[job_id]
        end = min(index + batch.page_size, len(batch.job_ids))
        wanted = [place for place in range(index, end) if self._is_missing(batch.job_ids[place])]
        end = max(wanted, default=index) + 1
        if len(wanted) > max(_FEW, _MIN_PAGE_SHARE * (end - index)):
            params = {"batch_id": batch.id, "state": "succeeded", "limit": str(end - index)}
            if end < len(batch.job_ids):
                params["cursor"] = batch.job_ids[end]  # the list continues with the previous job
            for data in (await self._transport.get(_PATH, params))["data"]:
                if self._is_missing(data["id"]):
                    self._fetched[data["id"]] = ExecutorJob(self._client, data)
            if job_id in self._fetched:
                return
            batch.page_size = max(1, batch.page_size // 2)  # large pages are truncated
        data = await self._transport.get(path_to(_PATH, job_id))
        self._fetched[job_id] = ExecutorJob(self._client, data)

    def _is_missing(self, job_id: str) -> bool:
        return self.ended.get(job_id) == "succeeded" and job_id not in self._fetched

    async def _retrying(self, action: Callable[[], Awaitable[T]]) -> T:
        """Run the action, with retries while the server is unavailable."""
        while True:
            began = self._clock.monotonic()
            try:
                done = await action()
            except TRANSIENT_ERRORS as error:
                left = self._deadline - self._clock.monotonic()
                if left <= 0:
                    raise APITimeout(f"timed out {_NOTE}") from error
                await self._outage.pause(error, _NOTE, began=began, most=left)
            else:
                self._outage.reset()
                return done
