"""Lists that come a page at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ._values import format_time

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["each", "given"]

_MOST_IN_A_PAGE = 200


def given(**filters: object) -> dict[str, str]:
    """Return the filters that are not `None` as query parameters; several values with commas."""
    return {name: _text(name, value) for name, value in filters.items() if value is not None}


def _text(name: str, value: object) -> str:
    if isinstance(value, datetime):
        return format_time(name, value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(str(item) for item in value)
    return str(value)


def each(
    client: Client,
    path: str,
    params: Mapping[str, str],
    *,
    limit: int | None = None,
    page_size: int | None = None,
) -> Iterator[Any]:
    """Yield up to `limit` items of a list, asking for the next page when it is reached."""
    if limit is not None and limit < 0:
        raise ValueError("limit must not be negative")
    return _each(client, path, dict(params), limit, page_size)


def _each(
    client: Client,
    path: str,
    params: dict[str, str],
    left: int | None,
    page_size: int | None,
) -> Iterator[Any]:
    while left is None or left > 0:
        size = page_size if left is None else min(left, page_size or _MOST_IN_A_PAGE)
        if size is not None:
            params["limit"] = str(size)
        page = client._transport.get(path, params)
        items = page["data"] if left is None else page["data"][:left]
        yield from items
        if left is not None:
            left -= len(items)
        cursor = page.get("next_cursor")
        if not cursor:
            return
        params["cursor"] = cursor
