"""What waiting takes in `async` code. Written by hand; `_sync` has a counterpart to each name."""

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
    "last_words",
    "next_or",
    "stream",
]

T = TypeVar("T")
D = TypeVar("D")

_LAST_WORDS_SECONDS = 10.0


def stream(
    items: AsyncGenerator[T, None], begin: Callable[[], Awaitable[None]] | None = None
) -> Stream[T]:
    """Return a stream of these; `begin` is called before the first is taken."""
    return Stream(items, begin)


@asynccontextmanager
async def aclosing(items: AsyncGenerator[T, None]) -> AsyncGenerator[AsyncGenerator[T, None], None]:
    """Close the generator at the end of the block, as `contextlib.aclosing` of Python 3.10."""
    try:
        yield items
    finally:
        await items.aclose()


async def iterate(items: Items[T]) -> AsyncGenerator[T, None]:
    """Yield the items, of whichever kind they are."""
    if isinstance(items, AsyncIterable):
        async for item in items:
            yield item
    else:
        for item in items:
            yield item


async def next_or(items: AsyncIterator[T], default: D) -> T | D:
    """Return the next item, or the default when there is none."""
    try:
        return await items.__anext__()
    except StopAsyncIteration:
        return default


async def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """Call what reads or writes a file, without keeping the event loop from everything else."""
    return await anyio.to_thread.run_sync(function, *arguments)


@contextmanager
def last_words() -> Generator[None, None, None]:
    """Let requests be made although the task is being cancelled, for a short time."""
    with anyio.move_on_after(_LAST_WORDS_SECONDS, shield=True):
        yield


class _Closable(Protocol):
    async def close(self) -> None: ...


C = TypeVar("C", bound=_Closable)


class DefaultClient(Generic[C]):
    """Keeps one client for each event loop, since connections belong to one.

    It is made anew when the settings change, and closed when its loop ends.
    """

    def __init__(self, make: Callable[[Settings], C]) -> None:
        self._make = make
        self._kept: dict[asyncio.AbstractEventLoop, tuple[Settings, C]] = {}
        self._closers: set[AsyncGenerator[None, None]] = set()

    def get(self, settings: Settings) -> C:
        """Return the client with these settings of the loop that is running."""
        loop = asyncio.get_running_loop()
        kept = self._kept.get(loop)
        if kept is None or kept[0] != settings:
            kept = self._kept[loop] = settings, self._make(settings)
            self._close_with(loop, kept[1])
        return kept[1]

    def _close_with(self, loop: asyncio.AbstractEventLoop, client: C) -> None:
        """Have the client closed by the loop's last act, which is to end its generators."""

        async def until_the_end() -> AsyncGenerator[None, None]:
            try:
                yield
            finally:
                self._kept.pop(loop, None)
                self._closers.discard(closer)
                await client.close()

        closer = until_the_end()
        self._closers.add(closer)
        # Up to its `yield`, on the way to which there is nothing to wait for.
        with suppress(StopIteration):
            closer.__anext__().__await__().__next__()
