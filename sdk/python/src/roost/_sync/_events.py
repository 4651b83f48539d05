# Made by generate.py from src/roost/_async/_events.py; change that.
"""The log of events: every change of a state, in order, and how it is followed."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .. import _sse
from .._errors import APIConnectionError, RoostError
from .._event import Event
from .._params import given
from .._values import parse_json
from ._concurrency import closing, next_or, stream
from ._resource import default_client
from ._waiting import OUTAGE_MOST_SECONDS, PASSING, Outage

if TYPE_CHECKING:
    from ._client import Client

__all__ = [
    "GOOD_STREAM_SECONDS",
    "SILENCE_MOST_SECONDS",
    "EventLog",
    "events",
]

# The server sends a comment every 15 seconds; longer silence is a dead connection.
SILENCE_MOST_SECONDS = 60.0
# A stream that held this long was a good one: what broke it is a new trouble, not the old.
GOOD_STREAM_SECONDS = 5.0
# Before anything came, the server is more likely to be somewhere else than to come back.
_FIRST_OUTAGE_MOST_SECONDS = 10.0
_PAGE_SIZE = 200


class EventLog:
    """The events that match, read from a position on; what was given isn't given again.

    `position` is that of the last event seen, or of a later one that didn't match; with `None` the
    first stream begins with what happens from now on.
    """

    def __init__(self, client: Client, filters: Mapping[str, str], position: int | None) -> None:
        self.position = position
        self._transport = client._transport
        self._filters = filters

    def page(self) -> list[Event]:
        """Return the next events that are there, without waiting for any; none: that was all."""
        params = {**self._filters, "after": str(self.position or 0), "limit": str(_PAGE_SIZE)}
        return self._fresh((self._transport.get("/events", params))["data"])

    def stream(self, silence: float = SILENCE_MOST_SECONDS) -> Generator[list[Event], None, None]:
        """Yield events as they come over one connection, each time those that came together.

        That may be none, since the server makes itself heard at once and then every 15 seconds.
        Returns when the server ends it; raises `APITimeout` after `silence` seconds without a word.
        """
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        if self.position is not None:
            headers["Last-Event-ID"] = str(self.position)
        parser = _sse.Parser()
        with self._transport.stream(
            "/events", params=self._filters, headers=headers, read_timeout=silence
        ) as response:
            for chunk in response.iter_bytes():
                came = parser.feed(chunk)
                burst = self._fresh(parse_json(event.data.encode()) for event in came)
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
) -> Generator[Event, None, None]:
    """Yield every change of a state from now on, or after the event `after`, for ever.

    "Now" is when this is called, not when the first is taken.
    `types` are names such as "execution.failed" and "builder_job.*"; `agent_id` and `subject`
    choose, too. A connection that breaks is made again after the last event seen, so that none is
    skipped and none comes twice; only after two minutes without the server its error is raised.
    `close()` ends it.

    `after="0"` begins with the oldest event that is kept. Raises `Gone` when `after` is older than
    that. With `follow=False` it stops at the last event that is there, and begins with the oldest
    unless `after` is given.
    """
    client = client or default_client()
    if types is not None and not isinstance(types, str):
        types = ",".join(types)
    filters = given(types=types, agent_id=agent_id, subject=subject)
    log = EventLog(client, filters, None if after is None else int(after))
    if not follow:
        return stream(_kept(log))
    outage = Outage(client._transport, _FIRST_OUTAGE_MOST_SECONDS)
    return stream(_follow(client, log, outage), lambda: _begin(log, outage))


def _kept(log: EventLog) -> Generator[Event, None, None]:
    while True:
        page = log.page()
        if not page:
            return
        for event in page:
            yield event


def _begin(log: EventLog, outage: Outage) -> None:
    """Find out at which position of the log "now" is."""
    while log.position is None:
        try:
            with closing(log.stream()) as bursts:
                next_or(bursts, None)
            trouble: RoostError = APIConnectionError("the stream of events has ended at once")
        except PASSING as error:
            trouble = error
        if log.position is None:
            outage.endure(trouble, "no event was seen yet")


def _follow(client: Client, log: EventLog, outage: Outage) -> Generator[Event, None, None]:
    clock = client._transport.clock
    while True:
        began = clock.monotonic()
        try:
            with closing(log.stream()) as bursts:
                for burst in bursts:
                    outage.most_seconds = OUTAGE_MOST_SECONDS
                    if burst:
                        outage.over()
                    for event in burst:
                        yield event
            trouble: RoostError = APIConnectionError(
                f"{client.base_url} ends the stream of events again and again"
            )
        except PASSING as error:
            trouble = error
        if clock.monotonic() - began >= GOOD_STREAM_SECONDS:
            outage.over()
        outage.endure(trouble, f'events(after="{log.position}") goes on from here')
