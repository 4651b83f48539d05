"""Differences between two versions of an agent."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import roost

    from .._bundles import Difference

__all__ = [
    "Change",
    "FilesChange",
    "requirement_lines",
    "revision_changes",
    "text_change",
    "variable_changes",
]

_SHOWN_FILES = 20


@dataclass(frozen=True)
class Change:
    """One difference.

    `before` and `after` are None for absent values. Values are never shown with `secret`; with
    `text`, they have several lines.
    """

    what: str
    before: Any
    after: Any
    secret: bool = False
    text: bool = False

    def lines(self, before: str, after: str) -> Iterator[str]:
        """Yield the lines of a diff: removed lines begin with -, added ones with +.

        `before` and `after` are the labels of the two versions.
        """
        if self.text and self.before is None:
            yield f"+ {self.what}: {len(self.after.splitlines())} lines"
        elif self.text:
            lines = difflib.unified_diff(
                self.before.splitlines(),
                self.after.splitlines(),
                f"{self.what} ({before})",
                f"{self.what} ({after})",
                lineterm="",
            )
            yield from lines
        elif self.secret and self.before is not None and self.after is not None:
            yield f"~ {self.what}"
        else:
            if self.before is not None:
                yield f"- {self.what}" + ("" if self.secret else f" = {_shown(self.before)}")
            if self.after is not None:
                yield f"+ {self.what}" + ("" if self.secret else f" = {_shown(self.after)}")

    def as_data(self) -> dict[str, Any]:
        """Return the change for JSON, without secret values."""
        if self.secret:
            return {"what": self.what, "before": None, "after": None, "secret": True}
        return {"what": self.what, "before": self.before, "after": self.after, "secret": False}


@dataclass(frozen=True)
class FilesChange(Change):
    """How the files of a project differ."""

    difference: Difference | None = field(default=None, repr=False)

    def lines(self, before: str, after: str) -> Iterator[str]:
        """Yield a line for each of the first files, and how many there are more."""
        lines = self._lines()
        yield from lines[:_SHOWN_FILES]
        if len(lines) > _SHOWN_FILES:
            yield f"  … {len(lines) - _SHOWN_FILES:,} more files"

    def as_data(self) -> dict[str, Any]:
        """Return the paths for JSON."""
        found = self.difference
        return {
            **super().as_data(),
            "added": [file.path for file in found.added] if found else [],
            "changed": [file.path for file in found.changed] if found else [],
            "removed": list(found.removed) if found else [],
        }

    def _lines(self) -> list[str]:
        found = self.difference
        if found is None:
            return []
        return [
            *(f"~ {file.path}" for file in found.changed),
            *(f"+ {file.path}" for file in found.added),
            *(f"- {path}" for path in found.removed),
        ]


def text_change(what: str, before: str, after: str) -> list[Change]:
    """Return the change of a text of several lines, if there is one."""
    return [] if before == after else [Change(what, before, after, text=True)]


def variable_changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[Change]:
    """Return the added, removed and changed variables."""
    return [
        Change(f"env_vars.{name}", before.get(name), after.get(name), secret=True)
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    ]


def requirement_lines(text: str) -> Sequence[str]:
    """Return a text's requirements, without blank lines and comments."""
    lines = (line.strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def revision_changes(before: roost.AgentRevision, after: roost.Agent) -> list[Change]:
    """Return how an agent differs from one of its revisions."""
    changes = text_change("script", before.script, after.script)
    for key in ("bundle_id", "script_path"):
        if getattr(before, key) != getattr(after, key):
            changes.append(Change(key, getattr(before, key), getattr(after, key)))
    changes += text_change("requirements", before.requirements, after.requirements)
    if before.python_version != after.python_version:
        changes.append(Change("python_version", before.python_version, after.python_version))
    if before.profile != after.profile:
        changes.append(Change("profile", before.profile, after.profile))
    if before.egress != (after.egress or "all"):
        changes.append(Change("egress", before.egress, after.egress))
    if before.preload != (after.preload or "auto"):
        changes.append(Change("preload", before.preload, after.preload))
    for key in ("input_schema", "output_schema"):
        if getattr(before, key) != getattr(after, key):
            changes.append(Change(key, getattr(before, key), getattr(after, key)))
    return changes + variable_changes(before.env_vars or {}, after.env_vars or {})


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
