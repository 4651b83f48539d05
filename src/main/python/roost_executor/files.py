"""Files and directories: sizes, removal, output files that would grow without bound."""

import os
import stat
from typing import Callable

OUTPUT_FILE_LIMIT = 8 * 1024 * 1024
# While executions run whose output is in the file.
BUSY_OUTPUT_FILE_LIMIT = 64 * 1024 * 1024
SYSTEM_FILE_BYTES = 16 * 1024


def truncate_when_large(descriptor: int, limit: int = OUTPUT_FILE_LIMIT) -> None:
    """Empties an output file of over `limit` bytes; leaves pipes and terminals alone."""
    try:
        status = os.fstat(descriptor)
        if stat.S_ISREG(status.st_mode) and status.st_size > limit:
            os.ftruncate(descriptor, 0)
            os.lseek(descriptor, 0, os.SEEK_SET)
    except OSError:
        pass  # the output files are a fallback, never a reason to fail


def read_system_file(path: str) -> bytes:
    """What a file of /proc or /sys holds. Raises OSError.

    Without Python's file objects, which cost several times what the kernel's part does.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = []
        while part := os.read(descriptor, SYSTEM_FILE_BYTES):
            parts.append(part)
        return b"".join(parts)
    finally:
        os.close(descriptor)


def directory_bytes(path: str) -> int:
    """Bytes on disk of everything below `path`. Files that are removed meanwhile don't count."""
    total = 0
    pending = [path]
    while pending:
        try:
            with os.scandir(pending.pop()) as entries:
                for entry in entries:
                    try:
                        total += entry.stat(follow_symlinks=False).st_blocks * 512
                        if entry.is_dir(follow_symlinks=False):
                            pending.append(entry.path)
                    except OSError:
                        continue
        except OSError:
            continue
    return total


def remove(path: str) -> None:
    """Removes whatever is at `path`, if anything. Never raises."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass
    except OSError:
        remove_tree(path)


def remove_tree(path: str) -> None:
    """Removes a directory and all below it, whatever modes the script left on it. Never raises."""
    try:
        os.rmdir(path)  # the usual case: the script left nothing
        return
    except OSError:
        pass
    try:
        _remove_below(path)
        os.rmdir(path)
    except (OSError, RecursionError):
        # Paths too long or nested too deeply for the calls above; rm copes with both.
        _remove_with_rm(path)


def _remove_below(path: str) -> None:
    try:
        with os.scandir(path) as entries:
            children = list(entries)
    except PermissionError:
        os.chmod(path, 0o700)
        with os.scandir(path) as entries:
            children = list(entries)
    for entry in children:
        if entry.is_dir(follow_symlinks=False):
            _remove_below(entry.path)
            remove_entry: Callable[[str], None] = os.rmdir
        else:
            remove_entry = os.unlink
        try:
            remove_entry(entry.path)
        except PermissionError:
            os.chmod(path, 0o700)
            remove_entry(entry.path)


def _remove_with_rm(path: str) -> None:
    try:
        process = os.posix_spawnp("rm", ["rm", "-rf", "--", path], dict(os.environ))
        os.waitpid(process, 0)
    except OSError:
        pass
