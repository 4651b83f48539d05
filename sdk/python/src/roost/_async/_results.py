"""What becomes of many ExecutorJobs: following them to their ends and fetching the results.

The log of events tells which have ended, whoever ran them; it is read on from before the first of
them, so that nothing is missed when a connection breaks. It is only a hint all the same: a batch
that has been quiet for a minute, and every batch when the log isn't kept that far back, is looked
at itself.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Iterable
from typing import TYPE_CHECKING, Callable, TypeVar

from .._errors import APIConnectionError, APITimeout, Gone
from .._event import Event
from .._fields import path_to
from .._ordered import Ordered
from ._concurrency import next_or
from ._events import GOOD_STREAM_SECONDS, SILENCE_MOST_SECONDS, EventLog
from ._executor_job import ENDED, ExecutorJob
from ._orders import cancel_batch
from ._pages import each
from ._waiting import PASSING, Outage

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["Results"]

T = TypeVar("T")

_PATH = "/executor-jobs"
_PAGE_MOST = 200
_QUIET_MOST_SECONDS = 60.0
# So few are asked for one by one.
_FEW = 3
# A page of a batch holds what is not wanted, too; it is worth its while from this part on.
_WORTH_A_PAGE = 0.1
# Events that come so close are the first of many, which a page has together.
_BUSY_SECONDS = 0.25
# A stream that is silent for longer than its reader has time is opened again with less patience,
# but not for this little.
_TOLERANCE_SECONDS = 1.0
_NOTE = "executions were being waited for; they may well go on"


class _Batch:
    """One batch: which of its jobs are open, and when to look at it."""

    def __init__(self, ordered: Ordered, look_at: float) -> None:
        self.id = ordered.id
        self.job_ids = ordered.job_ids
        self.open = len(ordered.job_ids)
        self.look_at = look_at
        self.page_size = _PAGE_MOST


class Results:
    """The ExecutorJobs of an agent that were added, until they are taken.

    `ended` has the states of those that have ended and were not taken yet, in the order in which
    that became known.
    """

    def __init__(self, client: Client, agent_id: str, deadline: float) -> None:
        # Not a dict: to find the first one of that takes longer the more were taken before it.
        self.ended: OrderedDict[str, str] = OrderedDict()
        self._client = client
        self._transport = client._transport
        self._clock = client._transport.clock
        self._deadline = deadline
        types = ",".join(f"executor_job.{state}" for state in ENDED)
        self._log = EventLog(client, {"types": types, "agent_id": agent_id}, None)
        self._read_at = self._clock.monotonic()
        self._woken_at = -math.inf
        self._stream: AsyncGenerator[list[Event], None] | None = None
        self._patience = math.inf
        self._opened = 0.0
        self._gone = False
        self._outage = Outage(client._transport)
        self._places: dict[str, tuple[_Batch, int]] = {}
        self._fetched: dict[str, ExecutorJob] = {}
        self._open: dict[str, _Batch] = {}  # those with jobs that haven't ended

    @property
    def open(self) -> int:
        """How many have not ended."""
        return len(self._places) - len(self.ended)

    def __len__(self) -> int:
        return len(self._places)

    def add(self, ordered: Ordered) -> None:
        """Follow these, too."""
        now = self._clock.monotonic()
        if self._log.position is None:
            self._log.position = ordered.last_event_id
        # The events of what was ordered by an earlier request may have been read before its answer.
        batch = _Batch(ordered, now if ordered.repeated else now + _QUIET_MOST_SECONDS)
        self._open[batch.id] = batch
        for index, job_id in enumerate(ordered.job_ids):
            self._places[job_id] = (batch, index)

    async def take(self, job_id: str) -> ExecutorJob:
        """Return one that has ended, and forget it."""
        if job_id not in self._fetched:
            await self._enduring(lambda: self._fetch(job_id))
        del self._places[job_id], self.ended[job_id]
        return self._fetched.pop(job_id)

    async def glance(self, every: float) -> None:
        """See what has ended, without waiting, if that was last seen so many seconds ago."""
        if self._clock.monotonic() - self._read_at >= every and self.open and not self._gone:
            try:
                await self._enduring(self._read_page)
            except Gone:
                self._gone = True

    async def wait(self, until: float = math.inf) -> None:
        """Return when more have ended, at `until`, a time of the clock, or at the deadline.

        There must be some that have not ended.
        """
        before = len(self.ended)
        until = min(until, self._deadline)
        while len(self.ended) == before:
            now = self._clock.monotonic()
            if now >= until:
                return
            try:
                if self._gone:
                    await self._begin_anew()
                due = [batch for batch in self._open.values() if batch.look_at <= now]
                if due:
                    await self._look_at(due)
                else:
                    await self._read(until - now)
                    if len(self.ended) > before and self._is_busy() and self.open:
                        await self._read_page()
            except Gone:
                self._gone = True
                await self.disconnect()
            except PASSING as error:
                await self.disconnect()
                await self._outage.endure(error, _NOTE, began=now, most=until - now)

    async def disconnect(self) -> None:
        """Give up the connection; the next `wait` makes a new one."""
        if self._stream is not None:
            stream, self._stream = self._stream, None
            await stream.aclose()

    async def cancel_waiting(self) -> None:
        """Ask for the end of those that have not begun."""
        for batch in reversed(list(self._open.values())):
            await cancel_batch(self._client, batch.id, running=False)

    async def _read(self, left: float) -> None:
        """Read what comes next of the stream, for about `left` seconds at most."""
        now = self._clock.monotonic()
        if self._stream is None or self._patience > left + _TOLERANCE_SECONDS:
            await self.disconnect()
            self._patience = min(SILENCE_MOST_SECONDS, left)
            self._stream = self._log.stream(self._patience)
            self._opened = now
        try:
            burst = await next_or(self._stream, None)
        except APITimeout:
            if self._patience < SILENCE_MOST_SECONDS:  # it is the caller's time that is over
                await self.disconnect()
                return
            raise
        if burst or self._clock.monotonic() - self._opened >= GOOD_STREAM_SECONDS:
            self._outage.over()
        if burst is None:
            raise APIConnectionError(
                f"{self._transport.base_url} ends the stream of events again and again"
            )
        self._note(burst)

    async def _read_page(self) -> None:
        self._note(await self._log.page())

    def _is_busy(self) -> bool:
        before, self._woken_at = self._woken_at, self._clock.monotonic()
        return self._woken_at - before < _BUSY_SECONDS

    async def _begin_anew(self) -> None:
        """Go on with what happens from now on, and look at all that may have happened before."""
        await self.disconnect()
        self._log.position = None
        self._patience = SILENCE_MOST_SECONDS
        self._stream = self._log.stream()
        nothing: list[Event] = []
        self._note(await next_or(self._stream, nothing))
        self._gone = False
        for batch in self._open.values():
            batch.look_at = 0.0

    async def _look_at(self, batches: list[_Batch]) -> None:
        for batch in batches:
            # Those that have ended, so that no payload comes along of one that hasn't.
            for state in ENDED:
                params = {"batch_id": batch.id, "state": state}
                async for data in each(self._client, _PATH, params, page_size=_PAGE_MOST):
                    self._end(data["id"], state)
            batch.look_at = self._clock.monotonic() + _QUIET_MOST_SECONDS

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
        batch.look_at = self._clock.monotonic() + _QUIET_MOST_SECONDS
        if not batch.open:
            del self._open[batch.id]

    async def _fetch(self, job_id: str) -> None:
        """Get that one, and with it as many that come next in its batch as pays off."""
        batch, index = self._places[job_id]
        end = min(index + batch.page_size, len(batch.job_ids))
        wanted = [place for place in range(index, end) if self._is_missing(batch.job_ids[place])]
        end = max(wanted, default=index) + 1
        if len(wanted) > max(_FEW, _WORTH_A_PAGE * (end - index)):
            params = {"batch_id": batch.id, "state": "succeeded", "limit": str(end - index)}
            if end < len(batch.job_ids):
                params["cursor"] = batch.job_ids[end]  # the list goes on with the one before
            for data in (await self._transport.get(_PATH, params))["data"]:
                if self._is_missing(data["id"]):
                    self._fetched[data["id"]] = ExecutorJob(self._client, data)
            if job_id in self._fetched:
                return
            batch.page_size = max(1, batch.page_size // 2)  # pages are cut when they get large
        data = await self._transport.get(path_to(_PATH, job_id))
        self._fetched[job_id] = ExecutorJob(self._client, data)

    def _is_missing(self, job_id: str) -> bool:
        return self.ended.get(job_id) == "succeeded" and job_id not in self._fetched

    async def _enduring(self, action: Callable[[], Awaitable[T]]) -> T:
        """Do it, again and again while the server is away."""
        while True:
            began = self._clock.monotonic()
            try:
                done = await action()
            except PASSING as error:
                left = self._deadline - self._clock.monotonic()
                if left <= 0:
                    raise APITimeout(f"the time was over while {_NOTE}") from error
                await self._outage.endure(error, _NOTE, began=began, most=left)
            else:
                self._outage.over()
                return done
