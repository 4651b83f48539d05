"""Paged lists."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from .._page import Page

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["Paged", "each"]

_MAX_PAGE_SIZE = 200

T = TypeVar("T")


class Paged(AsyncIterator[T]):
    """A list of the API: an iterator over its items that fetches pages on demand.

    `pages` yields the pages themselves, optionally after another page.
    """

    __slots__ = ("_client", "_item", "_items", "_limit", "_page_size", "_params", "_path")

    def __init__(
        self,
        client: Client,
        path: str,
        params: Mapping[str, str],
        item: Callable[[Any], T],
        *,
        limit: int | None = None,
        page_size: int | None = None,
    ) -> None:
        if limit is not None and limit < 0:
            raise ValueError("limit must not be negative")
        self._client, self._path, self._params, self._item = client, path, dict(params), item
        self._limit, self._page_size = limit, page_size
        self._items: AsyncGenerator[T, None] | None = None

    async def __anext__(self) -> T:
        if self._items is None:
            self._items = self._each()
        return await self._items.__anext__()

    def __repr__(self) -> str:
        params = dict(self._params)
        if self._limit is not None:
            params["limit"] = str(self._limit)
        query = "&".join(f"{name}={value}" for name, value in params.items())
        name = f"{type(self).__module__}.{type(self).__qualname__}"
        return f"<{name} of /v1{self._path}{query and '?'}{query}: iterate over it, or its pages()>"

    async def pages(self, *, cursor: str | None = None) -> AsyncGenerator[Page[T], None]:
        """Yield the pages, from the first one or after the page whose `next_cursor` is given.

        The server chooses the page sizes; the list's `limit` applies to all pages together.
        Iteration over the list itself is not affected.
        """
        params, left = dict(self._params), self._limit
        while left is None or left > 0:
            size = self._page_size
            if left is not None:
                size = min(left, size or _MAX_PAGE_SIZE)
            if size is not None:
                params["limit"] = str(size)
            if cursor is not None:
                params["cursor"] = cursor
            page = await self._client._transport.get(self._path, params)
            items = page["data"] if left is None else page["data"][:left]
            cursor = page.get("next_cursor") or None
            yield Page([self._item(data) for data in items], cursor)
            if left is not None:
                left -= len(items)
            if cursor is None:
                return

    async def _each(self) -> AsyncGenerator[T, None]:
        async for page in self.pages():
            for item in page.items:
                yield item


def each(
    client: Client,
    path: str,
    params: Mapping[str, str],
    *,
    page_size: int | None = None,
) -> Paged[Any]:
    """Return a list of API objects."""
    return Paged(client, path, params, lambda data: data, page_size=page_size)
