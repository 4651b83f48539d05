"""Ranges of keys that a transaction has read, and how the server recognises that they changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ._entries import Entry

__all__ = ["Range", "Scan", "name_of"]

Range = Mapping[str, Any]


class Scan:
    """What one iteration has seen of the store, in the form in which the server checks it."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.through: str | None = None
        self.complete = False
        import hashlib

        self._versions = hashlib.sha256()

    def see(self, entry: Entry) -> None:
        """Take note of the next entry."""
        self._versions.update(b"%d\n" % entry.version)
        self.through = entry.key

    def range(self) -> Range | None:
        """Return the range with its tag: up to where it came, if it was broken off."""
        tag = self._versions.hexdigest()
        if self.complete:
            return {"prefix": self.prefix, "tag": tag}
        if self.through is None:
            return None
        return {"prefix": self.prefix, "through": self.through, "tag": tag}


def name_of(keys: Range) -> str:
    """Return what a person calls a range."""
    which = f"the keys that begin with {keys['prefix']!r}" if keys["prefix"] else "all keys"
    if "through" in keys:
        return f"{which} up to {keys['through']!r}"
    return which if "tag" in keys else "the number of entries"
