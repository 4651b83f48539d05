# Made by generate.py from src/roost/_async/_pages.py; change that.
"""Lists that come a page at a time."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["each"]

_MOST_IN_A_PAGE = 200


def each(
    client: Client,
    path: str,
    params: Mapping[str, str],
    *,
    limit: int | None = None,
    page_size: int | None = None,
) -> Generator[Any, None, None]:
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
) -> Generator[Any, None, None]:
    while left is None or left > 0:
        size = page_size if left is None else min(left, page_size or _MOST_IN_A_PAGE)
        if size is not None:
            params["limit"] = str(size)
        page = client._transport.get(path, params)
        items = page["data"] if left is None else page["data"][:left]
        for item in items:
            yield item
        if left is not None:
            left -= len(items)
        cursor = page.get("next_cursor")
        if not cursor:
            return
        params["cursor"] = cursor
