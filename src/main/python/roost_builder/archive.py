"""Packs a directory into a reproducible tar file: without times, owners and anything else of this machine."""

import os
import stat
import tarfile
from collections.abc import Iterator
from pathlib import Path

# The earliest time that a ZIP archive can hold, so that wheels can be built from these files; see
# https://reproducible-builds.org/docs/timestamps/
TIME = 315_532_800


def write(directory: Path, output: Path) -> None:
    """Write everything below the directory with its absolute path, and its parent directories but the first.

    That one (``/opt``) is the base image's. Files belong to root, since nothing in it is ever written to.
    """
    unfinished = output.with_name(output.name + ".unfinished")
    with tarfile.open(unfinished, "w", format=tarfile.PAX_FORMAT) as tar:
        for path in [*reversed(list(directory.parents)[:-2]), directory, *below(directory)]:
            entry = entry_of(path)
            if entry.isreg():
                with path.open("rb") as file:
                    tar.addfile(entry, file)
            else:
                tar.addfile(entry)
    os.rename(unfinished, output)


def below(directory: Path) -> Iterator[Path]:
    """All files, links and directories below a directory, sorted; links are not followed."""
    for entry in sorted(os.scandir(directory), key=lambda entry: os.fsencode(entry.name)):
        path = directory / entry.name
        if entry.is_symlink() or entry.is_file():
            yield path
        elif entry.is_dir():
            yield path
            yield from below(path)


def entry_of(path: Path) -> tarfile.TarInfo:
    """The entry of a file, a link or a directory, with nothing that depends on this machine."""
    status = path.lstat()
    entry = tarfile.TarInfo(str(path).lstrip("/"))
    entry.mtime = TIME
    if stat.S_ISLNK(status.st_mode):
        entry.type = tarfile.SYMTYPE
        entry.linkname = os.readlink(path)
        entry.mode = 0o777
    elif stat.S_ISDIR(status.st_mode):
        entry.type = tarfile.DIRTYPE
        entry.mode = 0o755
    else:
        entry.size = status.st_size
        entry.mode = 0o755 if status.st_mode & stat.S_IXUSR else 0o644
    return entry
