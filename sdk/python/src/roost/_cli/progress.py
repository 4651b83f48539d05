"""Progress display on standard error, only in a terminal."""

from __future__ import annotations

import sys
from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING

from .echo import plain

if TYPE_CHECKING:
    from rich.live import Live

__all__ = ["Progress", "watched"]

_TAIL_LINES = 6


def watched() -> bool:
    """Return whether standard error is a terminal."""
    return sys.stderr.isatty()


class Progress:
    """A spinner with the last lines of a log below; removed at the end of the block."""

    def __init__(self) -> None:
        self._live: Live | None = None
        self._status = ""
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)

    def __enter__(self) -> Progress:
        if watched():
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True, highlight=False, markup=False, emoji=False)
            self._live = Live(console=console, transient=True, refresh_per_second=8)
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._live is not None:
            self._live.stop()

    def say(self, status: str) -> None:
        """Show a status, on one line."""
        status = plain(" ".join(status.split()))
        if status != self._status:
            self._status = status
            self._draw()

    def clear(self) -> None:
        """Remove it until there is something to say again, so that output can be written."""
        if self._live is not None and self._status:
            self._status = ""
            self._live.update("")
            self._live.refresh()

    def log(self, line: str) -> None:
        """Append a line of the log."""
        self._tail.append(plain(line))
        self._draw()

    def _draw(self) -> None:
        if self._live is None:
            return
        from rich.console import Group
        from rich.spinner import Spinner
        from rich.text import Text

        tail = (Text(f"  {line}", style="dim", no_wrap=True) for line in self._tail)
        spinner = Spinner("dots", text=Text(self._status))
        self._live.update(Group(spinner, *tail))
