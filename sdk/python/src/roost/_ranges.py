"""Ranges of keys read by a transaction, with tags by which the server detects changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._entries import Entry

__all__ = ["Range", "Scan", "name_of"]

Range = Mapping[str, Any]


class Scan:
    """The range read by one iteration, in the form that the server checks."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.through: str | None = None
        self.complete = False
        import hashlib

        self._versions = hashlib.sha256()

    def see(self, entry: Entry) -> None:
        """Add the next entry."""
        self._versions.update(b"%d\n" % entry.version)
        self.through = entry.key

    def range(self) -> Range | None:
        """Return the range with its tag; if the iteration stopped early, up to its last key."""
        tag = self._versions.hexdigest()
        if self.complete:
            return {"prefix": self.prefix, "tag": tag}
        if self.through is None:
            return None
        return {"prefix": self.prefix, "through": self.through, "tag": tag}


def name_of(keys: Range) -> str:
    """Return a description of a range."""
    which = f"the keys that begin with {keys['prefix']!r}" if keys["prefix"] else "all keys"
    if "through" in keys:
        return f"{which} up to {keys['through']!r}"
    return which if "tag" in keys else "the number of entries"
