"""The files of a project: which of a directory's are sent to a server.

What Git would: with Git, its own answer; without, all files that the `.gitignore` files leave. A
`.roostignore`, in the same syntax, leaves out more of both.
"""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Callable

from ._ignore import IgnoreFile, is_ignored

__all__ = ["MAX_BYTES", "MAX_FILES", "ProjectFile", "ProjectFilesError", "digest_of", "select"]

MAX_FILES = 20_000
MAX_BYTES = 100 * 1024 * 1024
_MAX_PATH_BYTES = 1024
_MAX_NAME_BYTES = 255
_MAX_DEPTH = 32
_SHOWN_DIRECTORIES = 5
_GIT_SECONDS = 60.0
_LEFT_OUT = frozenset(
    (
        *(b".git", b".hg", b".svn", b".roost", b"__pycache__", b"node_modules"),
        *(b".mypy_cache", b".pytest_cache", b".ruff_cache", b".tox", b".nox"),
    )
)
_LEFT_OUT_SUFFIXES = (b".pyc", b".pyo")
_GIT_VARIABLES = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")


class ProjectFilesError(ValueError):
    """The files of a directory can't be sent as they are."""


@dataclass(frozen=True)
class ProjectFile:
    """A file to send. `path` is relative, with slashes; `source` is where its bytes are."""

    path: str
    source: Path
    size_bytes: int
    executable: bool


def select(directory: str | os.PathLike[str]) -> list[ProjectFile]:
    """Return the files of a project's directory, by path; reads none of them.

    Raises `ProjectFilesError` for files that can't be sent, and when there are too many or too
    large ones.
    """
    root = os.fsencode(Path(directory).resolve())
    if not os.path.isdir(root):
        raise ProjectFilesError(f"{os.fsdecode(root)} is not a directory")
    rules = _Rules(root)
    listed = _listed_by_git(root)
    paths = _walked(root, rules) if listed is None else rules.without_left_out(listed)
    files = [file for path in paths for file in _file(root, path)]
    files.sort(key=lambda file: file.path.encode())
    _check_limits(files)
    return files


def digest_of(files: Iterable[tuple[str, str, bool]]) -> str:
    """Return the digest of a bundle with these files: path, digest and whether it is executable."""
    digest = hashlib.sha256()
    for path, sha256, executable in sorted(files, key=lambda file: file[0].encode()):
        digest.update(f"{sha256} {'x' if executable else '-'} {path}\n".encode())
    return digest.hexdigest()


class _Rules:
    """What is left out besides what Git ignores, and `.gitignore` files for `_walked`."""

    def __init__(self, root: bytes) -> None:
        self._root = root
        self._files: dict[tuple[bytes, bytes], IgnoreFile | None] = {}
        self._directories: dict[bytes, bool] = {b"": False}

    def without_left_out(self, paths: Iterable[bytes]) -> Iterator[bytes]:
        for path in paths:
            name = path.rstrip(b"/")
            full = os.path.join(self._root, name)
            # A repository of its own, or a submodule.
            is_directory = os.path.isdir(full) and not os.path.islink(full)
            if self._leaves_out_directory(name.rpartition(b"/")[0]):
                continue
            if not self.leaves_out(name, is_directory):
                yield path

    def leaves_out(self, path: bytes, is_directory: bool) -> bool:
        """Return whether a path is left out whose directories aren't."""
        name = path.rpartition(b"/")[2]
        if name in _LEFT_OUT or (name.endswith(_LEFT_OUT_SUFFIXES) and not is_directory):
            return True
        if is_directory and os.path.isfile(os.path.join(self._root, path, b"pyvenv.cfg")):
            return True
        return self.ignores(b".roostignore", path, is_directory)

    def ignores(self, name: bytes, path: bytes, is_directory: bool) -> bool:
        """Return whether files of that name in the directories above ignore the path."""
        files: list[tuple[bytes, IgnoreFile]] = []
        base = b""
        for part in path.split(b"/"):
            file = self._ignore_file(base, name)
            if file is not None:
                files.append((base, file))
            base += part + b"/"
        return is_ignored(files, path, is_directory)

    def _leaves_out_directory(self, path: bytes) -> bool:
        known = self._directories.get(path)
        if known is None:
            parent = path.rpartition(b"/")[0]
            known = self._leaves_out_directory(parent) or self.leaves_out(path, True)
            self._directories[path] = known
        return known

    def _ignore_file(self, base: bytes, name: bytes) -> IgnoreFile | None:
        key = (base, name)
        if key not in self._files:
            path = os.path.join(self._root, base + name)
            self._files[key] = None
            # Git doesn't follow a link here, either.
            if os.path.isfile(path) and not os.path.islink(path):
                self._files[key] = IgnoreFile(Path(os.fsdecode(path)).read_bytes())
        return self._files[key]


def _listed_by_git(root: bytes) -> list[bytes] | None:
    """Return what Git tracks, or would; None without Git or a repository, or if it is ignored."""
    environment = {name: text for name, text in os.environ.items() if name not in _GIT_VARIABLES}
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(
            command,
            cwd=os.fsdecode(root),
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode or not done.stdout:
        return None
    # A file with a conflict is listed for each of its versions.
    return list(dict.fromkeys(done.stdout.rstrip(b"\0").split(b"\0")))


def _walked(root: bytes, rules: _Rules) -> Iterator[bytes]:
    pending = [b""]
    while pending:
        base = pending.pop()
        with os.scandir(os.path.join(root, base) if base else root) as entries:
            for entry in entries:
                path = base + entry.name
                is_directory = entry.is_dir(follow_symlinks=False)
                if rules.leaves_out(path, is_directory):
                    continue
                if rules.ignores(b".gitignore", path, is_directory):
                    continue
                if not is_directory:
                    yield path
                elif os.path.exists(os.path.join(root, path, b".git")):
                    yield path + b"/"
                else:
                    pending.append(path + b"/")


def _file(root: bytes, path: bytes) -> Iterator[ProjectFile]:
    """Yield the file at the path, if there is one. Raises `ProjectFilesError`."""
    full = os.path.join(root, path.rstrip(b"/"))
    try:
        mode = os.lstat(full).st_mode
    except FileNotFoundError:
        return  # tracked by Git, and removed
    shown = _checked(path.rstrip(b"/"))
    if stat.S_ISDIR(mode):
        raise ProjectFilesError(
            f"{shown} is a Git repository of its own, or a submodule, whose files are not sent. "
            "Copy what is needed, or leave it out with a line in .roostignore"
        )
    if stat.S_ISLNK(mode):
        full = _target_of(root, full, shown)
    elif not stat.S_ISREG(mode):
        return
    status = os.stat(full)
    executable = bool(status.st_mode & 0o111)
    yield ProjectFile(shown, Path(os.fsdecode(full)), status.st_size, executable)


def _target_of(root: bytes, link: bytes, shown: str) -> bytes:
    target = os.path.realpath(link)
    if not target.startswith(root.rstrip(b"/") + b"/"):
        problem = "leads out of the directory"
    elif os.path.isdir(target):
        problem = "leads to a directory"
    elif not os.path.isfile(target):
        problem = "leads to no file"
    else:
        return target
    raise ProjectFilesError(
        f"{shown} is a symbolic link that {problem}: {os.fsdecode(os.readlink(link))}. Links are "
        "sent as the files that they lead to, within the directory. Replace it with a copy, or "
        "leave it out with a line in .roostignore"
    )


def _checked(path: bytes) -> str:
    segments = path.split(b"/")
    shown = path.decode("utf-8", "backslashreplace")
    problem = ""
    try:
        path.decode()
    except UnicodeDecodeError:
        problem = "a name that is not UTF-8"
    if b"\\" in path:
        problem = "a backslash in its name"
    elif any(byte < 32 or byte == 127 for byte in path):
        problem = "a control character in its name"
    elif len(path) > _MAX_PATH_BYTES or any(len(part) > _MAX_NAME_BYTES for part in segments):
        problem = f"a path of more than {_MAX_PATH_BYTES:,} bytes, or a name of {_MAX_NAME_BYTES}"
    elif len(segments) > _MAX_DEPTH:
        problem = f"more than {_MAX_DEPTH} directories above it"
    if problem:
        raise ProjectFilesError(
            f"{shown!r} has {problem}. Rename it, or leave it out with a line in .roostignore"
        )
    return shown


def _check_limits(files: Sequence[ProjectFile]) -> None:
    total = sum(file.size_bytes for file in files)
    if len(files) > MAX_FILES:
        problem = f"{len(files):,} files; {MAX_FILES:,} is the limit"
        largest = _directories(files, lambda file: 1, lambda count: f"{count:,} files")
    elif total > MAX_BYTES:
        problem = f"{megabytes(total)}; {megabytes(MAX_BYTES)} is the limit"
        largest = _directories(files, lambda file: file.size_bytes, megabytes)
    else:
        return
    raise ProjectFilesError(
        f"the project has {problem}. The largest directories: {largest}. "
        "Leave out what the script does not read with lines in .roostignore"
    )


def megabytes(count: int) -> str:
    """Return a number of bytes for people."""
    return f"{count / (1024 * 1024):,.1f} MiB"


def _directories(
    files: Sequence[ProjectFile],
    weight: Callable[[ProjectFile], int],
    shown: Callable[[int], str],
) -> str:
    """Return the directories with most of the files, as text; a file at the top is its own."""
    sums: dict[str, int] = {}
    for file in files:
        parts = file.path.split("/")
        name = parts[0] if len(parts) == 1 else "/".join(parts[: min(2, len(parts) - 1)]) + "/"
        sums[name] = sums.get(name, 0) + weight(file)
    largest = sorted(sums.items(), key=lambda item: (-item[1], item[0]))[:_SHOWN_DIRECTORIES]
    return ", ".join(f"{name} ({shown(count)})" for name, count in largest)
