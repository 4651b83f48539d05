"""Log entries, and how they are read and followed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Callable

from ._errors import APIConnectionError, APITimeout, RateLimited, RoostError, Unavailable
from ._pages import each, given
from ._sse import events
from ._values import parse_json, parse_time

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["LogEntry", "follow", "read", "read_text"]

_PAGE_SIZE = 1000
# The server sends a comment every 15 seconds; longer silence is a dead connection.
_SILENCE_MOST_SECONDS = 60.0
# A stream that held this long was a good one: what broke it is a new trouble, not the old.
_GOOD_STREAM_SECONDS = 5.0
_FAILURES_MOST = 8


@dataclass(frozen=True)
class LogEntry:
    """One line that a script wrote, or that Roost wrote about it (`stream` "system").

    `seq` counts from 1 without gaps; `level` and `logger` are there for what came through
    `logging`; `continued` is true when the line was too long and goes on in the next entry.
    `str()` is the message.
    """

    seq: int
    time: datetime
    stream: str
    level: str | None
    logger: str | None
    message: str
    continued: bool

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> LogEntry:
        """Return the entry that is `data` in the API."""
        return cls(
            data["seq"],
            parse_time(data["time"]),
            data["stream"],
            data.get("level"),
            data.get("logger"),
            data["message"],
            bool(data.get("continued")),
        )

    def __str__(self) -> str:
        return self.message


def read(
    client: Client,
    path: str,
    after_seq: int | None = None,
    level: str | None = None,
    contains: str | None = None,
) -> list[LogEntry]:
    """Return what has been written so far, page by page."""
    params = given(after_seq=after_seq, level=level, contains=contains)
    return [LogEntry.of(data) for data in each(client, path, params, page_size=_PAGE_SIZE)]


def read_text(client: Client, path: str) -> str:
    """Return what has been written so far as plain text."""
    response = client._transport.request("GET", path, headers={"Accept": "text/plain"})
    return response.content.decode("utf-8", "replace")


def follow(
    client: Client, path: str, after_seq: int, on_end: Callable[[Any], None]
) -> Iterator[LogEntry]:
    """Yield entries as they are written, until the end; `on_end` gets the end's data.

    A connection that breaks is made again from the entry after the last one seen, so that none
    is lost and none comes twice.
    """
    transport = client._transport
    last = after_seq
    failures = 0
    while True:
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        if last:
            headers["Last-Event-ID"] = str(last)
        began = transport.clock.monotonic()
        asked: float | None = None
        try:
            with transport.stream(
                path, headers=headers, read_timeout=_SILENCE_MOST_SECONDS
            ) as response:
                for event in events(response.iter_bytes()):
                    if event.name == "end":
                        on_end(parse_json(event.data.encode()))
                        return
                    if event.name != "log":
                        continue
                    entry = LogEntry.of(parse_json(event.data.encode()))
                    if entry.seq > last:
                        last = entry.seq
                        failures = 0
                        yield entry
            broken: RoostError = APIConnectionError(
                f"{transport.base_url} ends the log of {path} again and again before its end"
            )
        except (APIConnectionError, APITimeout, RateLimited, Unavailable) as error:
            broken = error
            asked = getattr(error, "retry_after", None)
        if transport.clock.monotonic() - began >= _GOOD_STREAM_SECONDS:
            failures = 0
        if failures >= _FAILURES_MOST:
            raise broken
        delay = transport.backoff(failures, asked)
        failures += 1
        transport.clock.sleep(delay)
