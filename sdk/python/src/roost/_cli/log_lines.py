"""Log entries on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .echo import echo

if TYPE_CHECKING:
    import roost

__all__ = ["LogPrinter"]

_COLOURS = {"WARNING": "yellow", "ERROR": "red", "CRITICAL": "red"}


class LogPrinter:
    """Prints entries; an entry that continues in the next one is joined with it.

    `err` prints to standard error, `timestamps` begins each line with its time.
    """

    def __init__(self, *, err: bool = False, timestamps: bool = False) -> None:
        self._err = err
        self._timestamps = timestamps
        self._open = False

    def print(self, entry: roost.LogEntry) -> None:
        """Print one entry."""
        text = entry.message
        if entry.stream == "system":
            text = click.style(text, dim=True)
        elif entry.level in _COLOURS:
            text = click.style(text, fg=_COLOURS[entry.level])
        if self._timestamps and not self._open:
            time = f"{entry.time.astimezone():%Y-%m-%d %H:%M:%S.%f}"[:-3]
            text = click.style(time, dim=True) + "  " + text
        self._open = entry.continued
        echo(text, err=self._err, nl=not entry.continued)

    def end(self) -> None:
        """End a line that was left open."""
        if self._open:
            echo(err=self._err)
            self._open = False
