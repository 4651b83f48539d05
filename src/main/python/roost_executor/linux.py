"""The few Linux calls that the standard library lacks."""

import contextlib
import ctypes
import fcntl
import itertools
import os
import signal
import termios
import time

from roost_executor.files import read_system_file

_library = ctypes.CDLL(None, use_errno=True)

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_CHILD_SUBREAPER = 36
IPC_RMID = 0
F_SETPIPE_SZ = 1031  # fcntl.F_SETPIPE_SZ is there from Python 3.10 on
NOTHING = b"\0\0\0\0"


def become_subreaper() -> None:
    """Orphans below this process become its children, so that none of them escapes."""
    _library.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def set_dumpable(dumpable: bool) -> None:
    """Whether other processes of this user may trace this one, read its memory and open its descriptors.

    Without, only a process with CAP_SYS_PTRACE may. A fork inherits it, a new program begins with True.
    """
    _library.prctl(PR_SET_DUMPABLE, int(dumpable), 0, 0, 0)


def remove_variables(prefixes: "tuple[str, ...]") -> None:
    """Removes variables, also from what this process was started with: its forks show that as /proc/self/environ."""
    encoded = tuple(prefix.encode() for prefix in prefixes)
    environment = ctypes.POINTER(ctypes.c_void_p).in_dll(_library, "environ")
    texts = []
    for number in itertools.count():
        address = environment[number]
        if not address:
            break
        text = ctypes.string_at(address)
        if text.startswith(encoded):
            texts.append((address, len(text)))
    for name in [name for name in os.environ if name.startswith(prefixes)]:
        del os.environ[name]
    for address, length in texts:
        ctypes.memset(address, 0, length)


def die_with_parent(parent: int) -> None:
    """This process is killed when `parent` ends; at once if that isn't its parent, or no more."""
    _library.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def outlive_parent() -> None:
    """Undoes `die_with_parent`."""
    _library.prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0)


def await_parent(parent: int, seconds: float = 5.0) -> None:
    """Waits until `parent`, a subreaper, has inherited this process from one that is ending; then as above."""
    end = time.monotonic() + seconds
    while os.getppid() != parent and time.monotonic() < end:
        time.sleep(0.0001)
    die_with_parent(parent)


def ipc_objects() -> "list[tuple[str, int]]":
    """This user's System V shared memory, semaphores and message queues: (shm, sem or msg; id)."""
    found = []
    own = b"%d" % os.geteuid()
    for kind in ("shm", "sem", "msg"):
        try:
            header, *lines = read_system_file(f"/proc/sysvipc/{kind}").splitlines()
            if not lines:
                continue
            user = header.split().index(b"cuid")
            rows = [line.split() for line in lines]
        except (OSError, ValueError):
            continue  # a kernel without them
        found += [(kind, int(row[1])) for row in rows if row[user] == own]
    return found


def remove_ipc(kind: str, number: int) -> None:
    """Removes one of those."""
    if kind == "sem":
        _library.semctl(number, 0, IPC_RMID)
    else:
        getattr(_library, f"{kind}ctl")(number, IPC_RMID, None)


def flush_c_streams() -> None:
    """Writes out what C code has left in its stdio buffers (printf in an extension module)."""
    _library.fflush(None)


def anonymous_file(directory: str) -> int:
    """A file without a name, in memory where that is possible, else in `directory`; its descriptor."""
    if hasattr(os, "memfd_create"):  # not where Python was compiled for an old C library
        with contextlib.suppress(OSError):
            return os.memfd_create("roost")
    path = os.path.join(directory, f"unnamed-{os.urandom(8).hex()}")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    os.unlink(path)
    return descriptor


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
