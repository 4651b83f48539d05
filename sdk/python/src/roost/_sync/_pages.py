# Made by generate.py from src/roost/_async/_pages.py; change that.
"""Lists that come a page at a time."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from .._page import Page

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["Paged", "each"]

_MOST_IN_A_PAGE = 200

T = TypeVar("T")


class Paged(Iterator[T]):
    """A list of the API. An iterator over its items, each page fetched when it is reached.

    `pages` has the pages themselves, and begins where another page has ended.
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
        self._items: Generator[T, None, None] | None = None

    def __next__(self) -> T:
        if self._items is None:
            self._items = self._each()
        return self._items.__next__()

    def __repr__(self) -> str:
        params = dict(self._params)
        if self._limit is not None:
            params["limit"] = str(self._limit)
        query = "&".join(f"{name}={value}" for name, value in params.items())
        name = f"{type(self).__module__}.{type(self).__qualname__}"
        return f"<{name} of /v1{self._path}{query and '?'}{query}: iterate over it, or its pages()>"

    def pages(self, *, cursor: str | None = None) -> Generator[Page[T], None, None]:
        """Yield the pages, from the first one on or after the page whose `next_cursor` is given.

        Their sizes are the server's choice, or at most the list's `limit`, which all of them
        together keep. Iterating over the list itself is not affected.
        """
        params, left = dict(self._params), self._limit
        while left is None or left > 0:
            size = self._page_size
            if left is not None:
                size = min(left, size or _MOST_IN_A_PAGE)
            if size is not None:
                params["limit"] = str(size)
            if cursor is not None:
                params["cursor"] = cursor
            page = self._client._transport.get(self._path, params)
            items = page["data"] if left is None else page["data"][:left]
            cursor = page.get("next_cursor") or None
            yield Page([self._item(data) for data in items], cursor)
            if left is not None:
                left -= len(items)
            if cursor is None:
                return

    def _each(self) -> Generator[T, None, None]:
        for page in self.pages():
            for item in page.items:
                yield item


def each(
    client: Client,
    path: str,
    params: Mapping[str, str],
    *,
    page_size: int | None = None,
) -> Paged[Any]:
    """Return a list as the API has it."""
    return Paged(client, path, params, lambda data: data, page_size=page_size)
