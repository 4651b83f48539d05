"""Concurrency helpers for `async` code. Written by hand; `_sync` has counterparts."""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Generator,
)
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any, Callable, Generic, Protocol, TypeVar

import anyio
import anyio.to_thread

from .._settings import Settings
from ._stream import Items, Stream

__all__ = [
    "DefaultClient",
    "aclosing",
    "in_thread",
    "iterate",
    "shielded_cleanup",
    "next_or",
    "stream",
]

T = TypeVar("T")
D = TypeVar("D")

_CLEANUP_SECONDS = 10.0


def stream(
    items: AsyncGenerator[T, None], begin: Callable[[], Awaitable[None]] | None = None
) -> Stream[T]:
    """Return a stream of the items; `begin` is called before the first one."""
    return Stream(items, begin)


@asynccontextmanager
async def aclosing(items: AsyncGenerator[T, None]) -> AsyncGenerator[AsyncGenerator[T, None], None]:
    """Close the generator at the end of the block, as `contextlib.aclosing` of Python 3.10."""
    try:
        yield items
    finally:
        await items.aclose()


async def iterate(items: Items[T]) -> AsyncGenerator[T, None]:
    """Yield the items of either kind of iterable."""
    if isinstance(items, AsyncIterable):
        async for item in items:
            yield item
    else:
        for item in items:
            yield item


async def next_or(items: AsyncIterator[T], default: D) -> T | D:
    """Return the next item, or the default at the end."""
    try:
        return await items.__anext__()
    except StopAsyncIteration:
        return default


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """Call a function that blocks on a file, without blocking the event loop."""
    return await anyio.to_thread.run_sync(function, *arguments)


@contextmanager
def shielded_cleanup() -> Generator[None, None, None]:
    """Allow requests for a short time although the task is being cancelled."""
    with anyio.move_on_after(_CLEANUP_SECONDS, shield=True):
        yield


class _Closable(Protocol):
    async def close(self) -> None: ...


C = TypeVar("C", bound=_Closable)


class DefaultClient(Generic[C]):
    """One client per event loop, since connections belong to a loop.

    Replaced when the settings change, and closed when its loop ends.
    """

    def __init__(self, make: Callable[[Settings], C]) -> None:
        self._make = make
        self._clients: dict[asyncio.AbstractEventLoop, tuple[Settings, C]] = {}
        self._closers: set[AsyncGenerator[None, None]] = set()

    def get(self, settings: Settings) -> C:
        """Return the running loop's client with these settings."""
        loop = asyncio.get_running_loop()
        kept = self._clients.get(loop)
        if kept is None or kept[0] != settings:
            kept = self._clients[loop] = settings, self._make(settings)
            self._close_with(loop, kept[1])
        return kept[1]

    def _close_with(self, loop: asyncio.AbstractEventLoop, client: C) -> None:
        """Close the client when the loop shuts down its generators."""

        async def until_the_end() -> AsyncGenerator[None, None]:
            try:
                yield
            finally:
                self._clients.pop(loop, None)
                self._closers.discard(closer)
                await client.close()

        closer = until_the_end()
        self._closers.add(closer)
        # Run it up to its `yield`, which needs no waiting.
        with suppress(StopIteration):
            closer.__anext__().__await__().__next__()
