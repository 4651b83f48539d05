"""`roost search`."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from . import connect
from .echo import echo
from .options import agent_option, connected, limit_option
from .spans import TIME
from .texts import examples

if TYPE_CHECKING:
    import roost

__all__ = ["search"]

_KINDS = ["logs", "errors", "payloads", "results"]
_STREAMS = ["stdout", "stderr", "logging", "system"]
_PAGE = 200
_COLOURS = {"WARNING": "yellow", "ERROR": "red", "CRITICAL": "red"}
_NAMES = {"errors": "error", "payloads": "payload", "results": "return value"}


@click.command(
    epilog=examples(
        """
        roost search timeout
        roost search '"connection reset"' --since 1d
        roost search 'order_id=42 refused' --agent billing --level ERROR
        roost search customer_17 --in payloads,results
        roost search 'disk quota' -C 2
        """
    )
)
@click.argument("words", nargs=-1, required=True, metavar="WORDS…")
@click.option(
    "--in",
    "kinds",
    metavar="KINDS",
    help="Only some of logs, errors, payloads, results; separated by commas.",
)
@click.option("--level", metavar="LEVELS", help="Only lines of these levels, such as ERROR.")
@click.option("--stream", type=click.Choice(_STREAMS), help="Only lines of this stream.")
@agent_option
@click.option("--since", type=TIME, help="Only from this time on, or this long ago: 1d, 2h.")
@click.option("--until", type=TIME, help="Only before this time.")
@click.option(
    "-C",
    "--context",
    type=click.IntRange(0, 5),
    default=0,
    metavar="N",
    help="Also print N lines before and after a match, up to 5.",
)
@limit_option(50)
@connected
def search(
    words: tuple[str, ...],
    kinds: str | None,
    level: str | None,
    stream: str | None,
    agent: str | None,
    since: datetime | None,
    until: datetime | None,
    context: int,
    limit: int,
    everything: bool,
    as_json: bool,
) -> None:
    """Search the logs, errors, payloads and return values of all executions, newest first.

    A match has all words, in any order. "Quoted words" follow each other: quote them for the shell,
    too. The last word and word* find words that begin with them.
    """
    filters: dict[str, Any] = {
        "kinds": kinds,
        "level": None if level is None else level.upper(),
        "stream": stream,
        "agent_id": None if agent is None else connect.agent(agent).id,
        "since": since,
        "until": until,
        "context": context,
    }
    found: list[roost.SearchMatch] = []
    printer = _Printer()
    most = None if everything else limit
    cursor = None
    while True:
        size = _PAGE if most is None else min(_PAGE, most - len(found))
        page = connect.client().search_page(" ".join(words), limit=size, cursor=cursor, **filters)
        found += page.items
        for match in () if as_json else page.items:
            printer.print(match)
        cursor = page.next_cursor
        if page.timed_out or cursor is None or (most is not None and len(found) >= most):
            break
    if as_json:
        from .output import data_of, print_json

        print_json([data_of(match) for match in found])
    _notes(page, found)


def _notes(page: roost.SearchPage, found: list[roost.SearchMatch]) -> None:
    """Say what the results don't have."""
    if page.timed_out:
        _note("The search took too long and ended early: add a rarer word, --agent or --since.")
    elif page.next_cursor is not None:
        _note("There are more: raise --limit, or use --all.")
    elif not found:
        _note("No results.")
    if page.indexed_from is not None:
        local = page.indexed_from.astimezone()
        _note(f"Executions that ended before {local:%Y-%m-%d %H:%M} are not indexed yet.")


def _note(text: str) -> None:
    echo(click.style(text, dim=True), err=True)


class _Printer:
    """Prints matches under the headings of their executions."""

    def __init__(self) -> None:
        self._execution: str | None = None

    def print(self, match: roost.SearchMatch) -> None:
        if match.execution_id != self._execution:
            if self._execution is not None:
                echo()
            self._execution = match.execution_id
            agent = match.agent_name or match.agent_id
            time = f"{match.time.astimezone():%Y-%m-%d %H:%M:%S}"
            echo(f"{click.style(match.execution_id, bold=True)}  {agent}  {time}")
        for line in match.before:
            self._context(line)
        text = "".join(
            click.style(part.text, fg="red", bold=True)
            if part.match
            else click.style(part.text, fg=_COLOURS.get(match.level or ""))
            for part in match.fragments
        )
        place = str(match.seq) if match.seq is not None else _NAMES.get(match.kind, match.kind)
        echo(f"{place:>6}: {text}{'…' if match.truncated else ''}")
        for line in match.after:
            self._context(line)

    def _context(self, line: roost.SearchLine) -> None:
        echo(click.style(f"{line.seq:>6}- {line.text}", dim=True))
