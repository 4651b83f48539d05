"""Output of commands: tables and facts for people, JSON for programs."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime, timezone
from itertools import islice
from typing import TYPE_CHECKING, Any, Callable, Generic, Literal, TypeVar, cast

import click

from .echo import echo

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from .comparing import Change

__all__ = [
    "Column",
    "Listing",
    "data_of",
    "facts",
    "heading",
    "json_line",
    "json_text",
    "note",
    "print_diff",
    "print_json",
    "shown_data",
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
    "suspended": "yellow",
    "waiting": "yellow",
    "building": "cyan",
    "updated": "green",
    "completed": "green",
    "failed": "red",
    "timed_out": "red",
    "lost": "red",
}
_C1 = re.compile(r"[\x7f-\x9f]")
_HIDDEN = "***"
_UNBOUNDED = 100_000
_GAP = 2
_LEAST = 6


def note(text: str) -> None:
    """Print a message that isn't the result, on standard error."""
    echo(text, err=True)


def data_of(thing: Any) -> Any:
    """Return a resource as in the API, or a dataclass of the SDK as JSON-compatible data."""
    data = getattr(thing, "_data", None)
    if data is not None:
        return dict(cast("Mapping[str, Any]", data))
    if is_dataclass(thing):
        return {each.name: data_of(getattr(thing, each.name)) for each in fields(thing)}
    if isinstance(thing, datetime):
        return f"{thing.astimezone(timezone.utc):%Y-%m-%dT%H:%M:%S.%f}Z"
    if isinstance(thing, (list, tuple)):
        return [data_of(item) for item in cast("Sequence[Any]", thing)]
    if isinstance(thing, Mapping):
        items = cast("Mapping[str, Any]", thing).items()
        return {key: data_of(value) for key, value in items}
    return thing


def shown_data(thing: Any, *, values: bool = False) -> Any:
    """Return `data_of`, without the values of variables unless `values`.

    Output is often logged.
    """
    data = data_of(thing)
    if values or not isinstance(data, dict):
        return data
    found = cast("dict[str, Any]", data)
    variables: str | Mapping[str, str] | None = found.get("env_vars")
    if not variables:
        return found
    if isinstance(variables, Mapping):
        return {**found, "env_vars": dict.fromkeys(variables, _HIDDEN)}
    from .._history import env_vars_of

    lines = (f"{name}={_HIDDEN}\n" for name in env_vars_of(variables))
    return {**found, "env_vars": "".join(lines)}


def json_text(value: Any) -> str:
    """Return JSON that standard output can encode: indented in a terminal, else on one line."""
    return _json(value, 2 if sys.stdout.isatty() else None)


def json_line(value: Any) -> str:
    """Return JSON that standard output can encode, on one line."""
    return _json(value, None)


def _json(value: Any, indent: int | None) -> str:
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    if sys.stdout.isatty():  # JSON itself escapes the others
        text = _C1.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    try:
        text.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text


def print_json(value: Any) -> None:
    """Print one JSON document."""
    echo(json_text(value))


@dataclass(frozen=True)
class Column:
    """A column of a table. `whole` columns, such as ids, are never truncated.

    `right` aligns numbers; `extra` columns are omitted in a narrow terminal.
    """

    title: str
    whole: bool = False
    right: bool = False
    extra: bool = False


def state_text(state: str | None, reason: str | None = None) -> Text:
    """Return a state in its colour, with the reason if there is one."""
    from rich.text import Text

    word = state or ""
    text = Text(word, style=_STYLES.get(word, ""))
    if reason and reason != state:
        text.append(f" ({reason})", style="dim")
    return text


def table(columns: Sequence[Column], rows: Iterable[Sequence[str | Text]]) -> None:
    """Print a table at most as wide as the terminal; nothing is truncated in a pipe."""
    from rich.table import Table
    from rich.text import Text

    cells = [[cell if isinstance(cell, Text) else Text(cell) for cell in row] for row in rows]
    widths = [
        max([len(column.title), *(row[number].cell_len for row in cells)])
        for number, column in enumerate(columns)
    ]
    least = [
        width if column.whole else min(width, max(_LEAST, len(column.title)))
        for column, width in zip(columns, widths)
    ]
    available = _available_width()
    kept = _fitting(columns, least, available)
    given = _narrowed([widths[n] for n in kept], [least[n] for n in kept], available)
    drawn = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, header_style="bold")
    for number, width in zip(kept, given):
        column = columns[number]
        justify: Literal["left", "right"] = "right" if column.right else "left"
        drawn.add_column(
            column.title, justify=justify, no_wrap=True, overflow="ellipsis", width=width
        )
    for row in cells:
        drawn.add_row(*(row[number] for number in kept))
    _draw(drawn)


def _available_width() -> int:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else _UNBOUNDED


def _fitting(columns: Sequence[Column], least: Sequence[int], available: int) -> list[int]:
    """Return the numbers of the columns that fit; extra ones are dropped, the last first."""
    kept = list(range(len(columns)))
    for number in reversed(range(len(columns))):
        if sum(least[each] + _GAP for each in kept) <= available:
            break
        if columns[number].extra:
            kept.remove(number)
    return kept


def _narrowed(widths: Sequence[int], least: Sequence[int], available: int) -> list[int]:
    """Return the widths with which the columns fit, as far as they can be narrowed."""
    given = list(widths)
    while sum(given) + _GAP * len(given) > available:
        spare = [width - most for width, most in zip(given, least)]
        if not any(spare):
            break  # the terminal is too narrow; it wraps the lines
        given[spare.index(max(spare))] -= 1
    return given


def facts(pairs: Iterable[tuple[str, str | Text | None]]) -> None:
    """Print names and values as rows; those without a value are omitted."""
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=None, padding=(0, _GAP, 0, 0), pad_edge=False, show_header=False)
    drawn.add_column(no_wrap=True, style="dim")
    drawn.add_column(overflow="fold")
    for name, value in pairs:
        if value is not None and str(value) != "":
            drawn.add_row(name, value if isinstance(value, Text) else Text(value))
    _draw(drawn, _available_width())


@dataclass(frozen=True)
class Listing(Generic[T]):
    """How a kind of resource is listed: columns, cells, and the message for an empty list."""

    columns: Sequence[Column]
    row: Callable[[T], Sequence[str | Text]]
    nothing: str
    order: str = "newest"

    def show(
        self,
        items: Iterable[T],
        *,
        as_json: bool,
        limit: int | None = None,
        values: bool = False,
    ) -> None:
        """Print up to `limit` items: as a table, or as JSON, an array of API objects.

        values: whether JSON includes the values of variables.
        """
        found = list(items if limit is None else islice(items, limit + 1))
        more = limit is not None and len(found) > limit
        shown = found[:limit]
        if as_json:
            print_json([shown_data(item, values=values) for item in shown])
            return
        if not shown:
            note(self.nothing)
            return
        table(self.columns, map(self.row, shown))
        if more:
            first = f"Showing the {self.order} {limit}"
            note(f"{first}; use --limit {10 * len(shown)} or --all for more.")


def heading(title: str) -> None:
    """Print a title after a blank line."""
    echo(f"\n{click.style(title, bold=True)}")


def print_diff(changes: Iterable[Change], before: str, after: str) -> None:
    """Print differences as a coloured diff."""
    colours = {"+": "green", "-": "red", "@": "cyan"}
    for change in changes:
        for line in change.lines(before, after):
            echo(click.style(line, fg=colours.get(line[:1])))


def _draw(renderable: Any, width: int = _UNBOUNDED) -> None:
    """Print a renderable of rich without its trailing spaces."""
    buffer = io.StringIO()
    console = _console(buffer, sys.stdout.isatty(), width)
    console.print(renderable)
    for line in buffer.getvalue().splitlines():
        echo(line.rstrip())


def _console(file: Any, terminal: bool, width: int) -> Console:
    from rich.console import Console

    return Console(
        file=file,
        force_terminal=terminal,
        width=width,
        highlight=False,
        markup=False,
        emoji=False,
    )
