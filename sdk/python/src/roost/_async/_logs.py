"""Reading and following of logs."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, Callable

from .._errors import APIConnectionError, APITimeout, RateLimited, RoostError, Unavailable
from .._http import httpx
from .._log_entry import Log, LogEntry
from .._params import given
from .._sse import Event, Parser
from .._values import parse_json
from ._pages import each

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["follow", "read", "read_text"]

_PAGE_SIZE = 1000
# The server sends a comment every 15 seconds; longer silence is a dead connection.
_MAX_SILENCE_SECONDS = 60.0
# A stream that lasted this long was working: its end resets the failures.
_WORKING_STREAM_SECONDS = 5.0
_MAX_FAILURES = 8


async def read(
    client: Client,
    path: str,
    after_seq: int | None = None,
    level: str | None = None,
    contains: str | None = None,
) -> list[LogEntry]:
    """Return the current entries, page by page."""
    params = given(after_seq=after_seq, level=level, contains=contains)
    items = each(client, path, params, page_size=_PAGE_SIZE)
    return Log([LogEntry.of(data) async for data in items])


async def read_text(client: Client, path: str) -> str:
    """Return the current log as plain text."""
    response = await client._transport.request("GET", path, headers={"Accept": "text/plain"})
    return response.content.decode("utf-8", "replace")


async def follow(
    client: Client, path: str, after_seq: int, on_end: Callable[[Any], None]
) -> AsyncGenerator[LogEntry, None]:
    """Yield entries as they are written, until the end; `on_end` receives the final data.

    After a disconnect it resumes after the last entry, without gaps or duplicates.
    """
    transport = client._transport
    last = after_seq
    failures = 0
    while True:
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        if last:
            headers["Last-Event-ID"] = str(last)
        began = transport.clock.monotonic()
        retry_after: float | None = None
        try:
            async with transport.stream(
                path, headers=headers, read_timeout=_MAX_SILENCE_SECONDS
            ) as response:
                async for event in _events(response):
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
                f"{transport.base_url} keeps closing the log stream {path} before its end"
            )
        except (APIConnectionError, APITimeout, RateLimited, Unavailable) as error:
            broken = error
            retry_after = getattr(error, "retry_after", None)
        if transport.clock.monotonic() - began >= _WORKING_STREAM_SECONDS:
            failures = 0
        if failures >= _MAX_FAILURES:
            raise broken
        delay = transport.backoff(failures, retry_after)
        failures += 1
        await transport.clock.asleep(delay)


async def _events(response: httpx.Response) -> AsyncGenerator[Event, None]:
    parser = Parser()
    async for chunk in response.aiter_bytes():
        for event in parser.feed(chunk):
            yield event
