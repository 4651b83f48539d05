"""Reading and following of logs."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, Callable

from .._log_entry import Log, LogEntry
from .._params import given
from .._values import parse_json
from . import _follow
from ._concurrency import aclosing
from ._pages import each

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["follow", "read", "read_text"]

_PAGE_SIZE = 1000


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
    last = after_seq
    async with aclosing(_follow.follow(client, path, str(last) if last else None)) as events:
        async for event in events:
            if event.name == "end":
                on_end(parse_json(event.data.encode()))
            elif event.name == "log":
                entry = LogEntry.of(parse_json(event.data.encode()))
                if entry.seq > last:
                    last = entry.seq
                    yield entry
