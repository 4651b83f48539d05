"""A progress line while waiting, in a terminal or a notebook."""

from __future__ import annotations

import importlib
import os
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Any, Callable, Protocol

__all__ = ["Line", "line", "progress_enabled"]

_busy = threading.Lock()
"""Held by the only visible line; concurrent waits show nothing."""


class _Screen(Protocol):
    def show(self, text: str) -> None: ...

    def clear(self) -> None: ...


class Line:
    """Shows the status and the elapsed time; nothing without a screen."""

    def __init__(self, screen: _Screen | None, monotonic: Callable[[], float]) -> None:
        self._screen = screen
        self._monotonic = monotonic
        self._began = monotonic()

    @property
    def visible(self) -> bool:
        """Whether the line is shown."""
        return self._screen is not None

    def show(self, text: str) -> None:
        """Replace the text of the line."""
        if self._screen is not None:
            self._screen.show(f"{text} · {self._monotonic() - self._began:.0f} s")


def progress_enabled(enabled: bool | None) -> bool:
    """Return whether to show progress; `enabled` overrides `roost.progress`.

    By default: on the main thread, if stderr is a terminal or a notebook.
    """
    import roost

    enabled = roost.progress if enabled is None else enabled
    if enabled is None:
        enabled = threading.current_thread() is threading.main_thread() and (
            _is_terminal() or _in_notebook()
        )
    return enabled


@contextmanager
def line(enabled: bool | None, monotonic: Callable[[], float]) -> Generator[Line, None, None]:
    """Show a line until the end of the block, if enabled and no other line is shown."""
    if not progress_enabled(enabled) or not _busy.acquire(blocking=False):
        yield Line(None, monotonic)
        return
    screen: _Screen = _Notebook() if _in_notebook() else _Terminal()
    try:
        yield Line(screen, monotonic)
    finally:
        _busy.release()
        screen.clear()


class _Terminal:
    """The last line of a terminal, via stderr."""

    def show(self, text: str) -> None:
        import shutil

        width = max(10, shutil.get_terminal_size().columns - 1)
        self._write(f"\r{text if len(text) <= width else text[: width - 1] + '…'}\x1b[K")

    def clear(self) -> None:
        self._write("\r\x1b[K")

    def _write(self, text: str) -> None:
        # A broken stderr must not interrupt the wait.
        with suppress(AttributeError, OSError, ValueError):
            sys.stderr.write(text)
            sys.stderr.flush()


class _Notebook:
    """A separate display below the cell, emptied at the end."""

    def __init__(self) -> None:
        self._display: Any = None

    def show(self, text: str) -> None:
        content = {"text/plain": text}
        if self._display is None:
            display: Any = importlib.import_module("IPython.display")
            self._display = display.display(content, raw=True, display_id=True)
        else:
            self._display.update(content, raw=True)

    def clear(self) -> None:
        if self._display is not None:
            self._display.update({"text/plain": ""}, raw=True)


def _is_terminal() -> bool:
    if os.environ.get("TERM") == "dumb":
        return False
    with suppress(AttributeError, ValueError):  # stderr may be None or closed
        return sys.stderr.isatty()
    return False


def _in_notebook() -> bool:
    """Return whether this is IPython's kernel, without importing IPython."""
    module = sys.modules.get("IPython")
    shell: Any = None if module is None else module.get_ipython()
    return shell is not None and getattr(shell, "kernel", None) is not None
