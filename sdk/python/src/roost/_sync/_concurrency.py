"""Counterparts of the `async` concurrency helpers. Written by hand."""

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
    "shielded_cleanup",
    "next_or",
    "stream",
]

T = TypeVar("T")
D = TypeVar("D")
C = TypeVar("C")


def stream(
    items: Generator[T, None, None], begin: Callable[[], None] | None = None
) -> Generator[T, None, None]:
    """Call `begin`, if any, and return the items."""
    if begin is not None:
        begin()
    return items


def iterate(items: Iterable[T]) -> Iterator[T]:
    """Return an iterator over the items."""
    return iter(items)


def next_or(items: Iterator[T], default: D) -> T | D:
    """Return the next item, or the default at the end."""
    return next(items, default)


def in_thread(function: Callable[..., T], *arguments: Any) -> T:
    """Call a function that blocks on a file, in this thread."""
    return function(*arguments)


def shielded_cleanup() -> AbstractContextManager[None]:
    """Do nothing: without `async`, nothing interrupts the cleanup."""
    return nullcontext()


class DefaultClient(Generic[C]):
    """One client, replaced when the settings change.

    The previous client stays open, since its resources still use it.
    """

    def __init__(self, make: Callable[[Settings], C]) -> None:
        self._make = make
        self._current: tuple[Settings, C] | None = None
        self._lock = threading.Lock()

    def get(self, settings: Settings) -> C:
        """Return the client with these settings."""
        with self._lock:
            if self._current is None or self._current[0] != settings:
                self._current = settings, self._make(settings)
            return self._current[1]
