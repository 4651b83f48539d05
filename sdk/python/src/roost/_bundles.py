"""The files of a project as a server keeps them, and how they differ from a directory's."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Callable

from ._project_files import ProjectFile, ProjectFilesError, digest_of, select

__all__ = ["BundleFile", "Difference", "Pack", "Progress", "Scan", "read", "scan"]

_READ_BYTES = 1024 * 1024

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class BundleFile:
    """A file of a bundle. `sha256` is its digest, hexadecimal."""

    path: str
    size_bytes: int
    sha256: str
    executable: bool = False

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> BundleFile:
        """Return the file that is `data` in the API."""
        executable = bool(data.get("executable"))
        return cls(data["path"], data["size_bytes"], data["sha256"], executable)

    @property
    def content(self) -> tuple[str, int]:
        """What identifies its bytes."""
        return self.sha256, self.size_bytes

    def as_data(self) -> dict[str, Any]:
        """Return the file for the API."""
        return {
            "path": self.path,
            "size_bytes": self.size_bytes,
            "sha256": self.sha256,
            "executable": self.executable,
        }


@dataclass(frozen=True)
class Scan:
    """The files of a directory, with their digests, and where their bytes are."""

    files: Sequence[BundleFile]
    sources: Mapping[str, Path] = field(repr=False)

    @property
    def sha256(self) -> str:
        """The digest of a bundle with these files."""
        return digest_of((file.path, file.sha256, file.executable) for file in self.files)

    @property
    def size_bytes(self) -> int:
        """The size of all of them."""
        return sum(file.size_bytes for file in self.files)


@dataclass(frozen=True)
class Difference:
    """What a bundle of `scan` has that one with the files `base` hasn't, and the other way round.

    `packed` are the files whose bytes the base doesn't have, each content once.
    """

    added: Sequence[BundleFile]
    changed: Sequence[BundleFile]
    removed: Sequence[str]
    packed: Sequence[BundleFile]

    @classmethod
    def between(cls, base: Iterable[BundleFile], files: Iterable[BundleFile]) -> Difference:
        """Compare two bundles."""
        before = {file.path: file for file in base}
        after = {file.path: file for file in files}
        known = {file.content for file in before.values()}
        added: list[BundleFile] = []
        changed: list[BundleFile] = []
        packed: list[BundleFile] = []
        for path, file in after.items():
            if before.get(path) == file:
                continue
            (changed if path in before else added).append(file)
            if file.size_bytes and file.content not in known:
                known.add(file.content)
                packed.append(file)
        removed = [path for path in before if path not in after]
        # In the order in which they are sent, that of `files`.
        return cls(added, changed, removed, packed)

    @property
    def packed_bytes(self) -> int:
        """How many bytes are sent."""
        return sum(file.size_bytes for file in self.packed)

    def entries(self, files: Iterable[BundleFile]) -> list[BundleFile]:
        """Return what differs, in the order of `files`."""
        paths = {file.path for file in (*self.added, *self.changed)}
        return [file for file in files if file.path in paths]


class Pack:
    """The bytes of files, one after another, read as they are needed."""

    def __init__(
        self, files: Sequence[BundleFile], sources: Mapping[str, Path], on_progress: Progress | None
    ) -> None:
        self._files = iter(files)
        self._sources = sources
        self._on_progress = on_progress
        self._total = sum(file.size_bytes for file in files)
        self._read = 0
        self._file: BundleFile | None = None
        self._source: BinaryIO | None = None
        self._digest = hashlib.sha256()
        self._left = 0

    def read(self, size: int) -> bytes:
        """Return the next `size` bytes, fewer only at the end.

        Raises `ProjectFilesError` if a file has changed since its digest was computed.
        """
        if self._on_progress is not None:
            self._on_progress(self._read, self._total)
        parts: list[bytes] = []
        missing = size
        while missing and self._next():
            assert self._source is not None
            assert self._file is not None
            piece = self._source.read(min(missing, self._left))
            if not piece:
                raise _changed(self._file.path)
            self._digest.update(piece)
            self._left -= len(piece)
            missing -= len(piece)
            parts.append(piece)
        self._read += size - missing
        return b"".join(parts)

    def close(self) -> None:
        """Close the file that is being read."""
        if self._source is not None:
            self._source.close()
            self._source = None

    def _next(self) -> bool:
        """Make the next byte's file the current one; return False at the end."""
        while not self._left:
            if self._file is not None and self._digest.hexdigest() != self._file.sha256:
                raise _changed(self._file.path)
            self.close()
            self._file = next(self._files, None)
            if self._file is None:
                return False
            self._source = self._sources[self._file.path].open("rb")
            self._digest = hashlib.sha256()
            self._left = self._file.size_bytes
        return True


def scan(directory: str | os.PathLike[str], paths: Iterable[str] | None = None) -> Scan:
    """Read a directory's files; those of `select`, or only these paths of them.

    Raises `ProjectFilesError` as `select` does.
    """
    selected = select(directory)
    return read(selected if paths is None else _only(selected, paths))


def read(selected: Sequence[ProjectFile]) -> Scan:
    """Read files that `select` has returned."""
    files: list[BundleFile] = []
    for file in selected:
        digest = hashlib.sha256()
        size = 0
        with file.source.open("rb") as source:
            while piece := source.read(_READ_BYTES):
                digest.update(piece)
                size += len(piece)
        files.append(BundleFile(file.path, size, digest.hexdigest(), file.executable))
    return Scan(files, {file.path: file.source for file in selected})


def _only(files: Sequence[ProjectFile], paths: Iterable[str]) -> list[ProjectFile]:
    wanted = set(paths)
    missing = sorted(wanted - {file.path for file in files})
    if missing:
        raise ProjectFilesError(f"the project has no file {missing[0]}")
    return [file for file in files if file.path in wanted]


def _changed(path: str) -> ProjectFilesError:
    return ProjectFilesError(f"{path} was changed while it was sent; try again")
