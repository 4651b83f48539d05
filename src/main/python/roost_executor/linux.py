"""The few Linux calls that the standard library lacks."""

import contextlib
import ctypes
import fcntl
import os
import signal
import termios

_library = ctypes.CDLL(None, use_errno=True)

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
F_SETPIPE_SZ = 1031  # fcntl.F_SETPIPE_SZ is there from Python 3.10 on
NOTHING = b"\0\0\0\0"


def become_subreaper() -> None:
    """Orphans below this process become its children, so that none of them can get away."""
    _library.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def die_with(parent: int) -> None:
    """This process is killed when `parent`, which forked it, ends; at once if it has ended already."""
    _library.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def flush_c_streams() -> None:
    """Writes out what C code has left in its stdio buffers (printf in an extension module)."""
    _library.fflush(None)


def pipe(size: int) -> "tuple[int, int]":
    """A pipe of `size` bytes where the system allows that; (read end, write end)."""
    reader, writer = os.pipe()
    # Where the user's share of pipe memory is used up, the usual 64 KiB will do.
    with contextlib.suppress(OSError):
        fcntl.fcntl(writer, F_SETPIPE_SZ, size)
    return reader, writer


def pipe_is_empty(descriptor: int) -> bool:
    """Whether everything written to a pipe has been read (asked at either end)."""
    try:
        return fcntl.ioctl(descriptor, termios.FIONREAD, NOTHING) == NOTHING
    except OSError:
        return True  # closed by the script: nothing to wait for
