"""The mistakes in a file, reported together, each with its line."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Mistakes", "ProjectError", "did_you_mean"]


class ProjectError(Exception):
    """A project's file is invalid. The text has one `file:line: mistake` per line."""


@dataclass(frozen=True)
class Mistakes:
    """Collects the mistakes of one file; `offset` is added to line numbers."""

    path: Path
    offset: int = 0
    found: list[tuple[int, str]] = field(default_factory=list)

    def add(self, line: int, message: str) -> None:
        """Note a mistake in that line, counted from 1."""
        self.found.append((self.offset + line, message))

    def offset_by(self, lines: int) -> Mistakes:
        """Return a view for a part of the file that begins that many lines further down."""
        return Mistakes(self.path, self.offset + lines, self.found)

    def raise_any(self) -> None:
        """Raise `ProjectError` when there are any."""
        if self.found:
            lines = (f"{self.path}:{line}: {message}" for line, message in sorted(self.found))
            raise ProjectError("\n".join(lines))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a suggestion for an unknown name: the closest known name, or all names."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"; did you mean `{near[0]}`?"
    return f"; known names: {', '.join(f'`{known_name}`' for known_name in names)}"
