"""Noticing that files have changed, by their times and sizes."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path

__all__ = ["FileWatch"]

_LOOK_SECONDS = 0.1
# An editor may write a file in several steps, or put another one in its place.
_SETTLE_SECONDS = 0.05
_MOST_SETTLE_SECONDS = 2.0


class FileWatch:
    """Remembers how files look; `changed` says which look different by now."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._seen = {path: _look(path) for path in paths}

    def add(self, paths: Iterable[Path]) -> None:
        """Watch these, too."""
        for path in paths:
            self._seen.setdefault(path, _look(path))

    def changed(self) -> list[Path]:
        """Return the files that have changed since the last time that this was asked."""
        found: list[Path] = []
        for path, before in self._seen.items():
            now = _look(path)
            if now != before:
                self._seen[path] = _settled(path)
                found.append(path)
        return found

    def wait(self) -> list[Path]:
        """Wait until files have changed, and return which."""
        while True:
            found = self.changed()
            if found:
                return found
            time.sleep(_LOOK_SECONDS)


def _look(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _settled(path: Path) -> tuple[int, int] | None:
    """Wait until the file is there and stays as it is, for a moment at most."""
    give_up = time.monotonic() + _MOST_SETTLE_SECONDS
    last = _look(path)
    while time.monotonic() < give_up:
        time.sleep(_SETTLE_SECONDS)
        now = _look(path)
        if now is not None and now == last:
            break
        last = now
    return last
