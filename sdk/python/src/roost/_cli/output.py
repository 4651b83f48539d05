"""What commands print: tables and facts for people, JSON for programs."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime, timezone
from itertools import islice
from typing import TYPE_CHECKING, Any, Callable, Generic, TypeVar

import click

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

__all__ = [
    "Column",
    "Listing",
    "data_of",
    "facts",
    "json_text",
    "note",
    "print_json",
    "state_text",
    "table",
]

T = TypeVar("T")

_STYLES = {
    "succeeded": "green",
    "active": "green",
    "running": "cyan",
    "queued": "yellow",
    "pending": "yellow",
    "paused": "yellow",
    "failed": "red",
    "timed_out": "red",
    "lost": "red",
}
_UNBOUNDED = 100_000
_GAP = 2


def note(text: str) -> None:
    """Tell the person something that is no result: on standard error."""
    click.echo(text, err=True)


def data_of(thing: Any) -> Any:
    """Return a resource as the API has it, and a dataclass of the SDK as JSON can hold it."""
    data = getattr(thing, "_data", None)
    if isinstance(data, Mapping):
        return dict(data)
    if is_dataclass(thing):
        return {each.name: data_of(getattr(thing, each.name)) for each in fields(thing)}
    if isinstance(thing, datetime):
        return f"{thing.astimezone(timezone.utc):%Y-%m-%dT%H:%M:%S.%f}Z"
    if isinstance(thing, (list, tuple)):
        return [data_of(item) for item in thing]
    if isinstance(thing, Mapping):
        return {key: data_of(value) for key, value in thing.items()}
    return thing


def json_text(value: Any) -> str:
    """Return indented JSON that standard output can hold."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, indent=2)
    return text


def print_json(value: Any) -> None:
    """Print one JSON document."""
    click.echo(json_text(value))


@dataclass(frozen=True)
class Column:
    """A column of a table. What is `whole` is never cut off; ids are, so that they can be copied.

    `right` is for numbers.
    """

    title: str
    whole: bool = False
    right: bool = False


def state_text(state: str | None, reason: str | None = None) -> Text:
    """Return a state in its colour, with the reason if there is one."""
    from rich.text import Text

    word = state or ""
    text = Text(word, style=_STYLES.get(word, ""))
    if reason and reason != state:
        text.append(f" ({reason})", style="dim")
    return text


def table(columns: Sequence[Column], rows: Iterable[Sequence[str | Text]]) -> None:
    """Print a table as wide as the terminal at most; in a pipe nothing is cut off."""
    from rich.table import Table
    from rich.text import Text

    cells = [[cell if isinstance(cell, Text) else Text(cell) for cell in row] for row in rows]
    drawn = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        widest = max([len(column.title), *(row[number].cell_len for row in cells)])
        drawn.add_column(
            column.title,
            justify="right" if column.right else "left",
            no_wrap=True,
            overflow="ellipsis",
            min_width=widest if column.whole else min(widest, 6),
        )
    for row in cells:
        drawn.add_row(*row)
    _draw(drawn)


def facts(pairs: Iterable[tuple[str, str | Text | None]]) -> None:
    """Print names and values below each other; those without a value are left out."""
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, show_header=False)
    drawn.add_column(no_wrap=True, style="dim")
    drawn.add_column(overflow="fold")
    for name, value in pairs:
        if value is not None and str(value) != "":
            drawn.add_row(name, value if isinstance(value, Text) else Text(value))
    _draw(drawn)


@dataclass(frozen=True)
class Listing(Generic[T]):
    """How a kind of thing is listed: its columns, its cells, and what to say when there is none."""

    columns: Sequence[Column]
    row: Callable[[T], Sequence[str | Text]]
    nothing: str

    def show(self, items: Iterable[T], *, as_json: bool, limit: int | None = None) -> None:
        """Print up to `limit` items: as a table, or as JSON, an array of what the API has."""
        found = list(items if limit is None else islice(items, limit + 1))
        more = limit is not None and len(found) > limit
        shown = found[:limit]
        if as_json:
            print_json([data_of(item) for item in shown])
            return
        if not shown:
            note(self.nothing)
            return
        table(self.columns, map(self.row, shown))
        if more:
            note(f"These are the newest {limit}; --limit {10 * len(shown)} or --all shows more.")


def _draw(renderable: Any) -> None:
    """Print something of rich without the spaces that it fills lines with."""
    terminal = sys.stdout.isatty()
    buffer = io.StringIO()
    console = _console(buffer, terminal)
    console.print(renderable)
    for line in buffer.getvalue().splitlines():
        click.echo(line.rstrip())


def _console(file: Any, terminal: bool) -> Console:
    from rich.console import Console

    return Console(
        file=file,
        force_terminal=terminal,
        width=None if terminal else _UNBOUNDED,
        highlight=False,
        markup=False,
        emoji=False,
    )
