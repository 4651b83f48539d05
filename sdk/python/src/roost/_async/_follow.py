"""Server-sent events until their end, whatever cuts the connection."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from .._errors import APIConnectionError, APITimeout, RateLimited, RoostError, Unavailable
from .._http import httpx
from .._sse import Event, Parser

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["follow"]

# The server sends a comment every 15 seconds; longer silence is a dead connection.
_MAX_SILENCE_SECONDS = 60.0
# A stream that lasted this long was working: its end resets the failures.
_WORKING_STREAM_SECONDS = 5.0
_MAX_FAILURES = 8


async def follow(client: Client, path: str, last: str | None) -> AsyncGenerator[Event, None]:
    """Yield the events after the one with the id `last`; the final one is called `end`.

    After a disconnect it resumes after the last event with an id. A server may repeat events.
    """
    transport = client._transport
    failures = 0
    while True:
        headers = {"Accept": "text/event-stream", "Accept-Encoding": "identity"}
        if last is not None:
            headers["Last-Event-ID"] = last
        began = transport.clock.monotonic()
        retry_after: float | None = None
        try:
            async with transport.stream(
                path, headers=headers, read_timeout=_MAX_SILENCE_SECONDS
            ) as response:
                async for event in _events(response):
                    if event.id is not None and event.id != last:
                        last = event.id
                        failures = 0
                    yield event
                    if event.name == "end":
                        return
            broken: RoostError = APIConnectionError(
                f"{transport.base_url} keeps closing the stream {path} before its end"
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
