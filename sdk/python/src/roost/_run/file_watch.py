"""Detection of changed files, by modification times and sizes."""

from __future__ import annotations

import time
from collections.abc import Iterable
from pathlib import Path
from typing import Callable

__all__ = ["FileWatch"]

_POLL_SECONDS = 0.1
# An editor may write a file in several steps, or replace it.
_SETTLE_SECONDS = 0.05
_MAX_SETTLE_SECONDS = 2.0


class FileWatch:
    """Remembers the state of files; `changed` returns those that differ."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._seen = {path: _state_of(path) for path in paths}
        self._directories: dict[Path, tuple[int, int] | None] = {}
        self._select: Callable[[], Iterable[Path]] | None = None

    def add(self, paths: Iterable[Path]) -> None:
        """Watch more files."""
        for path in paths:
            self._seen.setdefault(path, _state_of(path))

    def add_project(self, directory: Path, select: Callable[[], Iterable[Path]]) -> None:
        """Watch the files that `select` returns, now and whenever something is added to them."""
        self._select = select
        paths = list(select())
        self.add(paths)
        places = {directory}
        places.update(each for path in paths for each in path.parents if directory in each.parents)
        for place in places:
            self._directories.setdefault(place, _state_of(place))

    def changed(self) -> list[Path]:
        """Return the files that have changed since the last call."""
        found = self._added()
        for path, before in self._seen.items():
            now = _state_of(path)
            if now != before:
                self._seen[path] = _settled(path)
                found.append(path)
        return found

    def _added(self) -> list[Path]:
        """Return the project's files that are new, if entries of a directory have changed."""
        is_same = True
        for path, before in self._directories.items():
            now = _state_of(path)
            is_same = is_same and now == before
            self._directories[path] = now
        if is_same or self._select is None:
            return []
        found = [path for path in self._select() if path not in self._seen]
        self.add(found)
        return found

    def wait(self) -> list[Path]:
        """Wait until files have changed, and return which."""
        while True:
            found = self.changed()
            if found:
                return found
            time.sleep(_POLL_SECONDS)


def _state_of(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _settled(path: Path) -> tuple[int, int] | None:
    """Wait briefly until the file exists and stays unchanged."""
    deadline = time.monotonic() + _MAX_SETTLE_SECONDS
    last = _state_of(path)
    while time.monotonic() < deadline:
        time.sleep(_SETTLE_SECONDS)
        now = _state_of(path)
        if now is not None and now == last:
            break
        last = now
    return last
