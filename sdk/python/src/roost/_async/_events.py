"""The event log: all state changes, in order, and how to follow it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import _sse
from .._errors import APIConnectionError, RoostError
from .._event import Event
from .._params import given
from .._values import parse_json
from ._concurrency import aclosing, next_or, stream
from ._resource import default_client
from ._stream import Stream
from ._waiting import MAX_OUTAGE_SECONDS, TRANSIENT_ERRORS, Outage

if TYPE_CHECKING:
    from ._client import Client

__all__ = [
    "WORKING_STREAM_SECONDS",
    "MAX_SILENCE_SECONDS",
    "EventLog",
    "events",
]

# The server sends a comment every 15 seconds; longer silence is a dead connection.
MAX_SILENCE_SECONDS = 60.0
# A stream that lasted this long was working: its end starts a new outage.
WORKING_STREAM_SECONDS = 5.0
# Before the first event, a wrong URL is more likely than an outage.
_MAX_FIRST_OUTAGE_SECONDS = 10.0
_PAGE_SIZE = 200


class EventLog:
    """The matching events after a position, without duplicates.

    `position` is that of the last event seen, or of a later one that didn't match; with `None` the
    first stream starts with new events.
    """

    def __init__(self, client: Client, filters: Mapping[str, str], position: int | None) -> None:
        self.position = position
        self._transport = client._transport
        self._filters = filters

    async def page(self) -> list[Event]:
        """Return the next existing events without waiting; an empty list at the end."""
        params = {**self._filters, "after": str(self.position or 0), "limit": str(_PAGE_SIZE)}
        return self._fresh((await self._transport.get("/events", params))["data"])

    async def stream(
        self, silence: float = MAX_SILENCE_SECONDS
    ) -> AsyncGenerator[list[Event], None]:
        """Yield new events of one connection, in lists of those that arrive together.

        Lists may be empty: the server sends a comment at the start and then every 15 seconds.
        Returns when the server closes the stream; raises `APITimeout` after `silence` seconds
        without data.
        """
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        if self.position is not None:
            headers["Last-Event-ID"] = str(self.position)
        parser = _sse.Parser()
        async with self._transport.stream(
            "/events", params=self._filters, headers=headers, read_timeout=silence
        ) as response:
            async for chunk in response.aiter_bytes():
                received = parser.feed(chunk)
                burst = self._fresh(parse_json(event.data.encode()) for event in received)
                if parser.last_id:
                    self.position = max(self.position or 0, int(parser.last_id))
                yield burst

    def _fresh(self, items: Iterable[Mapping[str, Any]]) -> list[Event]:
        fresh: list[Event] = []
        for event in map(Event.of, items):
            position = int(event.id)
            if self.position is None or position > self.position:
                self.position = position
                fresh.append(event)
        return fresh


def events(
    *,
    types: str | Sequence[str] | None = None,
    agent_id: str | None = None,
    subject: str | None = None,
    after: str | int | None = None,
    follow: bool = True,
    client: Client | None = None,
) -> Stream[Event]:
    """Yield all state changes from now on, or after the event `after`, indefinitely.

    "Now" is the start of the `async with` block, or else the first iteration.
    `types` are names such as "execution.failed" and "builder_job.*"; `agent_id` and `subject` are
    further filters. After a disconnect the stream resumes after the last event, without gaps or
    duplicates; an error is raised only after an outage of two minutes. `aclose()` ends it.

    `after="0"` starts with the oldest stored event. Raises `Gone` if events after `after` are no
    longer stored. With `follow=False` it stops at the latest event, and starts with the oldest
    unless `after` is given.
    """
    client = client or default_client()
    if types is not None and not isinstance(types, str):
        types = ",".join(types)
    filters = given(types=types, agent_id=agent_id, subject=subject)
    log = EventLog(client, filters, None if after is None else int(after))
    if not follow:
        return stream(_kept(log))
    outage = Outage(client._transport, _MAX_FIRST_OUTAGE_SECONDS)
    return stream(_follow(client, log, outage), lambda: _begin(log, outage))


async def _kept(log: EventLog) -> AsyncGenerator[Event, None]:
    while True:
        page = await log.page()
        if not page:
            return
        for event in page:
            yield event


async def _begin(log: EventLog, outage: Outage) -> None:
    """Determine the current position of the log."""
    while log.position is None:
        try:
            async with aclosing(log.stream()) as bursts:
                await next_or(bursts, None)
            failure: RoostError = APIConnectionError("the event stream was closed immediately")
        except TRANSIENT_ERRORS as error:
            failure = error
        if log.position is None:
            await outage.pause(failure, "no event was seen yet")


async def _follow(client: Client, log: EventLog, outage: Outage) -> AsyncGenerator[Event, None]:
    clock = client._transport.clock
    while True:
        began = clock.monotonic()
        try:
            async with aclosing(log.stream()) as bursts:
                async for burst in bursts:
                    outage.max_seconds = MAX_OUTAGE_SECONDS
                    if burst:
                        outage.reset()
                    for event in burst:
                        yield event
            failure: RoostError = APIConnectionError(
                f"{client.base_url} keeps closing the event stream"
            )
        except TRANSIENT_ERRORS as error:
            failure = error
        if clock.monotonic() - began >= WORKING_STREAM_SECONDS:
            outage.reset()
        await outage.pause(failure, f'events(after="{log.position}") continues from here')
