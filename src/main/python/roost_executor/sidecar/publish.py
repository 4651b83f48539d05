"""Copies the executor's code for the runner's container, whose image contains nothing of Roost."""

import os

from roost_executor import PACKAGE_DIRECTORY


def publish(directory: str) -> None:
    """Copies this package, compiled files included, into `directory`, atomically.

    Every user may read the copy, whatever the umask. An existing copy stays: it came from the same image.
    """
    target = os.path.join(directory, os.path.basename(PACKAGE_DIRECTORY))
    if os.path.isdir(target):
        return
    previous = os.umask(0o022)
    try:
        os.makedirs(directory, exist_ok=True)
        temporary = f"{target}.{os.getpid()}"
        _copy(PACKAGE_DIRECTORY, temporary)
        os.rename(temporary, target)
    finally:
        os.umask(previous)


def _copy(source: str, target: str) -> None:
    # shutil takes longer to import than all this takes.
    os.makedirs(target, exist_ok=True)
    with os.scandir(source) as entries:
        for entry in entries:
            copy = os.path.join(target, entry.name)
            if entry.is_dir():
                _copy(entry.path, copy)
                continue
            with open(entry.path, "rb", buffering=0) as original, open(copy, "wb", buffering=0) as file:
                file.write(original.readall())
            status = entry.stat()
            # A compiled file names the time of its source: with another one it would be compiled anew.
            os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
