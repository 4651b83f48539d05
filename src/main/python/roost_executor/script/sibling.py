"""A fork that is a child of the forking process's own parent: what os.fork can't do, and clone(2) can."""

import ctypes
import os
import signal
import struct
import sys
import threading
from typing import BinaryIO

# PyDLL keeps Python's lock during a call, as os.fork does.
_library = ctypes.PyDLL(None, use_errno=True)
# Looked up here once: after a fork, that would copy memory in each of them.
_syscall = _library.syscall
_before_fork = ctypes.pythonapi.PyOS_BeforeFork
_after_fork_child = ctypes.pythonapi.PyOS_AfterFork_Child
_after_fork_parent = ctypes.pythonapi.PyOS_AfterFork_Parent

PR_GET_TID_ADDRESS = 40
CLONE_PARENT, CLONE_CHILD_CLEARTID, CLONE_CHILD_SETTID = 0x00008000, 0x00200000, 0x01000000
# Numbers of clone, set_robust_list and get_robust_list, and whether clone takes the address of the thread's local
# storage before that of its id.
CALLS = {"x86_64": (56, 273, 274, False), "aarch64": (220, 99, 100, True)}
# The C library's own files: its loader and what `fork` is in.
C_LIBRARY = ("ld-", "libc.", "libc-", "libpthread.", "libpthread-")
# The end of the names pthread_atfork and __register_atfork; a library that calls one of them has to import it.
REGISTRATION = b"_atfork\0"
# Of elf(5), for 64 bits, little-endian: kinds of segments, and of entries of the dynamic section.
LOAD, DYNAMIC = 1, 2
STRING_TABLE, STRING_BYTES = 5, 10


def may_fork_siblings() -> bool:
    """Whether `fork_sibling` works in this process, and does all that os.fork would do.

    Not if a library is loaded that may have registered handlers for the C library's `fork`, as OpenBLAS does.
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
    _syscall(get_robust_list, 0, ctypes.byref(mutexes), ctypes.byref(size))
    flags = ctypes.c_ulong(CLONE_PARENT | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | signal.SIGCHLD)
    address = ctypes.c_void_p(_id_address())
    last = (None, address) if storage_first else (address, None)
    _before_fork()
    process = int(_syscall(clone, flags, None, None, *last))
    if process == 0:
        _syscall(set_robust_list, mutexes, size)
        _after_fork_child()
        return 0
    error = ctypes.get_errno()
    _after_fork_parent()
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
    """Whether a loaded file other than the C library's imports the function that registers handlers."""
    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        rows = [line.rstrip("\n").split(maxsplit=5) for line in file]
    loaded = {row[5] for row in rows if len(row) == 6 and "x" in row[1] and row[5].startswith("/")}
    return any(_may_register(path) for path in loaded if not os.path.basename(path).startswith(C_LIBRARY))


def _may_register(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return REGISTRATION in _names(file)
    except (OSError, ValueError, LookupError, struct.error):  # such as a file that has been replaced since
        return True


def _names(file: BinaryIO) -> bytes:
    """The names of all symbols that an ELF file imports or exports, each with a zero at its end."""
    header = file.read(64)
    table, size, count = *struct.unpack_from("<Q", header, 32), *struct.unpack_from("<HH", header, 54)
    file.seek(table)
    segments = [struct.unpack_from("<IIQQQQ", file.read(size)) for _ in range(count)]
    ((_, _, offset, _, _, length),) = [segment for segment in segments if segment[0] == DYNAMIC]
    file.seek(offset)
    entries = dict(struct.iter_unpack("<qQ", file.read(length)))
    address = entries[STRING_TABLE]
    (place,) = [
        at + address - base
        for kind, _, at, base, _, length in segments
        if kind == LOAD and base <= address < base + length
    ]
    file.seek(place)
    return file.read(entries[STRING_BYTES])
