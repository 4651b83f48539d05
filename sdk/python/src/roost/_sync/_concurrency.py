"""What waiting takes without `async`. Written by hand; `_async` has a counterpart to each name."""

from __future__ import annotations

import threading
from collections.abc import Generator, Iterable, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from typing import Any, Callable, Generic, TypeVar

from .._settings import Settings

__all__ = [
    "DefaultClient",
    "closing",
    "in_thread",
    "iterate",
    "last_words",
    "next_or",
    "stream",
]

T = TypeVar("T")
D = TypeVar("D")
C = TypeVar("C")


def stream(
    items: Generator[T, None, None], begin: Callable[[], None] | None = None
) -> Generator[T, None, None]:
    """Return the items, after `begin` was called."""
    if begin is not None:
        begin()
    return items


def iterate(items: Iterable[T]) -> Iterator[T]:
    """Return an iterator over the items."""
    return iter(items)


def next_or(items: Iterator[T], default: D) -> T | D:
    """Return the next item, or the default when there is none."""
    return next(items, default)


def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """Call what reads or writes a file; there is nothing that it could keep from working."""
    return function(*arguments)


def last_words() -> AbstractContextManager[None]:
    """Do nothing: whoever is interrupted here has time."""
    return nullcontext()


class DefaultClient(Generic[C]):
    """Keeps one client. It is made anew when the settings change.

    The one before stays open, since things that came from it go on using it.
    """

    def __init__(self, make: Callable[[Settings], C]) -> None:
        self._make = make
        self._kept: tuple[Settings, C] | None = None
        self._lock = threading.Lock()

    def get(self, settings: Settings) -> C:
        """Return the client with these settings."""
        with self._lock:
            if self._kept is None or self._kept[0] != settings:
                self._kept = settings, self._make(settings)
            return self._kept[1]
