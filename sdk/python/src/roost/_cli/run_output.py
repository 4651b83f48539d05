"""Output of `roost run`: log and failures on stderr, the return value on stdout."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from .._run.frames import Entry
from .._run.local_run import Execution
from .echo import echo
from .project import AgentFile

__all__ = ["RunOutput"]

_STYLES = {"DEBUG": "bright_black", "WARNING": "yellow", "ERROR": "red", "CRITICAL": "red"}
_FRAME = re.compile(r'( +File ")([^"/<][^"]*)(", line \d+.*)')


class RunOutput:
    """The output of one `roost run`; `as_json` prints the Execution as JSON instead."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self._script = Path("agent.py")
        self._directory: Path | None = None
        self._open = False

    def begin(self, agent: AgentFile) -> None:
        """Show the script by its file name from now on."""
        self._script = agent.script
        self._directory = agent.directory

    def entries(self, entries: Sequence[Entry]) -> None:
        """Write log entries to stderr."""
        for entry in entries:
            text = entry["message"]
            frame = _FRAME.fullmatch(text) if entry["stream"] == "stderr" else None
            if frame:
                text = f"{frame[1]}{self._source(frame[2])}{frame[3]}"
            if entry["stream"] == "system":
                text = click.style(text, dim=True)
            elif entry["stream"] == "logging":
                level = entry["level"]
                logger = "" if entry["logger"] in (None, "root") else f"{entry['logger']}: "
                text = f"{click.style(level, fg=_STYLES.get(level, 'blue'))} {logger}{text}"
            self._open = entry["continued"]
            echo(text, err=True, nl=not self._open)

    def _source(self, name: str) -> str:
        """Return the file that a traceback means."""
        if self._directory is not None:
            path = self._directory / name
            return str(path) if path.is_file() else name
        return str(self._script) if name == "agent.py" else name

    def values(self, texts: Sequence[str]) -> None:
        """Write values that the script emits to stdout, a JSON text per line."""
        if not self._as_json:
            for text in texts:
                echo(text)

    def note(self, text: str) -> None:
        """Write a message about the run to stderr."""
        self._end_line()
        echo(click.style(text, dim=True), err=True)

    def result(self, execution: Execution) -> None:
        """Write the result."""
        self._end_line()
        if execution.outcome.state != "succeeded":
            echo(self._failure(execution), err=True)
        if self._as_json:
            echo(_for_stdout(execution.document(with_logs=True)))
        elif execution.outcome.return_value is not None:
            echo(_for_stdout(execution.outcome.return_value))

    def _end_line(self) -> None:
        if self._open:
            echo(err=True)
            self._open = False

    def _failure(self, execution: Execution) -> str:
        outcome = execution.outcome
        words = outcome.state.replace("_", " ")
        if outcome.reason != "build_failed":
            words += f" after {execution.seconds:.2f} s"
        head = click.style(f"{words}:", fg="red", bold=True)
        parts = [f"{head} {outcome.message} ({outcome.reason})"]
        line = (outcome.error or {}).get("line")
        if line:
            parts.append(self._place(line, (outcome.error or {}).get("column")))
        return "\n".join(parts)

    def _place(self, line: int, column: int | None) -> str:
        """Return `file:line`, that line of the script, and a mark below the column."""
        place = f"  {click.style(f'{self._script}:{line}', bold=True)}"
        try:
            text = self._script.read_text(encoding="utf-8").splitlines()[line - 1]
        except (OSError, ValueError, IndexError):
            return place
        shown = text.strip()
        if not shown:
            return place
        place += f"\n    {shown}"
        offset = (column or 0) - 1 - (len(text) - len(text.lstrip()))
        if column and 0 <= offset <= len(shown):
            place += "\n    " + " " * offset + click.style("^", fg="red")
        return place


def _for_stdout(text: str) -> str:
    """Return JSON text, indented in a terminal."""
    if not sys.stdout.isatty():
        return text
    try:
        return json.dumps(json.loads(text), indent=2, ensure_ascii=False, allow_nan=False)
    except (ValueError, RecursionError):  # values that Python can't reproduce
        return text
