"""Streams of logs, events and results. `_sync` has generators instead."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Awaitable, Iterable
from types import TracebackType
from typing import Callable, TypeVar, Union

__all__ = ["Items", "Stream"]

T = TypeVar("T")

Items = Union[Iterable[T], AsyncIterable[T]]
"""An iterable or an async iterable."""


class Stream(AsyncIterator[T]):
    """A stream, to be read once with `async for`.

    `async with` closes it and its connection at the end of the block; so does `aclose()`. Without
    either, a stream that was not read to its end is closed by the garbage collector.
    """

    __slots__ = ("_begin", "_items")

    def __init__(
        self,
        items: AsyncGenerator[T, None],
        begin: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._items = items
        self._begin = begin

    def __aiter__(self) -> Stream[T]:
        return self

    async def __anext__(self) -> T:
        await self._begun()
        return await self._items.__anext__()

    async def aclose(self) -> None:
        """Close the stream and its connection; queued jobs of `map` are cancelled."""
        await self._items.aclose()

    async def __aenter__(self) -> Stream[T]:
        await self._begun()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    async def _begun(self) -> None:
        begin, self._begin = self._begin, None
        if begin is not None:
            await begin()
