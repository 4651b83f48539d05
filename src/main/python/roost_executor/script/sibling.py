"""A fork that is a child of the forking process's own parent: what os.fork can't do, and clone(2) can."""

import ctypes
import os
import signal
import sys
import threading

# PyDLL keeps Python's lock during a call, as os.fork does.
_library = ctypes.PyDLL(None, use_errno=True)

PR_GET_TID_ADDRESS = 40
CLONE_PARENT, CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID = 0x00008000, 0x00200000, 0x01000000
# Numbers of clone, set_robust_list and get_robust_list, and whether clone takes the address of the thread's local
# storage before that of its id.
CALLS = {"x86_64": (56, 273, 274, False), "aarch64": (220, 99, 100, True)}
# Libraries of the C library and of Python that register nothing with pthread_atfork.
WITHOUT_HANDLERS = (
    *("ld-", "libc.", "libc-", "libdl.", "libdl-", "libm.", "libm-", "libpthread.", "libpthread-", "librt.", "librt-"),
    *("libutil.", "libutil-", "libpython", "libffi.", "libz.", "liblzma.", "libbz2."),
)


def may_fork_siblings() -> bool:
    """Whether `fork_sibling` works in this process, and does all that os.fork would do.

    Not if a library is loaded that may have registered handlers for the C library's `fork`, as OpenSSL and OpenBLAS do.
    """
    return sys.maxsize > 1 << 32 and os.uname().machine in CALLS and _id_address() != 0 and not _may_have_handlers()


def fork_sibling() -> int:
    """Like os.fork, but the new process is a child of this process's parent. Raises OSError.

    For a process with one thread, where `may_fork_siblings` holds. What the C library's `fork` does for its own records
    is done here: clone(2) stores the thread's new id where the C library keeps it, and the list of robust mutexes,
    which the kernel forgets in the new process, is set again.
    """
    clone, set_robust_list, get_robust_list, storage_first = CALLS[os.uname().machine]
    mutexes, size = ctypes.c_void_p(), ctypes.c_size_t()
    _library.syscall(get_robust_list, 0, ctypes.byref(mutexes), ctypes.byref(size))
    flags = ctypes.c_ulong(CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | signal.SIGCHLD)
    address = ctypes.c_void_p(_id_address())
    last = (None, address) if storage_first else (address, None)
    python = ctypes.pythonapi
    python.PyOS_BeforeFork()
    process = int(_library.syscall(clone, flags, None, None, *last))
    if process == 0:
        _library.syscall(set_robust_list, mutexes, size)
        python.PyOS_AfterFork_Child()
        return 0
    error = ctypes.get_errno()
    python.PyOS_AfterFork_Parent()
    if process < 0:
        raise OSError(error, os.strerror(error))
    return process


def _id_address() -> int:
    """Where the C library keeps this thread's id, an address that the kernel has too; 0 if it can't be known."""
    address = ctypes.c_void_p()
    if _library.prctl(PR_GET_TID_ADDRESS, ctypes.byref(address), 0, 0, 0) or not address.value:
        return 0
    # With musl, the address that the kernel has is that of a lock.
    is_id = ctypes.c_int.from_address(address.value).value == threading.get_native_id()
    return address.value if is_id else 0


def _may_have_handlers() -> bool:
    known = os.path.join(os.path.realpath(os.path.dirname(os.__file__)), "lib-dynload", "")
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        rows = [line.rstrip("\n").split(maxsplit=5) for line in file]
    loaded = {row[5] for row in rows if len(row) == 6 and "x" in row[1] and row[5].startswith("/")}
    loaded.discard(os.path.realpath(sys.executable))
    return any(
        not path.startswith(known) and not os.path.basename(path).startswith(WITHOUT_HANDLERS) for path in loaded
    )
