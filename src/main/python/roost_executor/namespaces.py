"""Shared memory, semaphores and message queues that are an executor's own, on a machine that it shares with others.

Their names are global to the machine, and every process of the same user can open them. A mount namespace
and one for IPC, which take root or user namespaces, give the runner an empty list.
"""

import ctypes
import os
import sys

_library = ctypes.CDLL(None, use_errno=True)

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER = 0x00020000, 0x08000000, 0x10000000
MS_NOSUID, MS_NODEV, MS_REC, MS_SLAVE = 2, 4, 0x4000, 1 << 19
CAPABILITY_VERSION = 0x20080522
SHARED_MEMORY, QUEUES = "/dev/shm", "/dev/mqueue"


def enter(memory_mib: int) -> "tuple[str, ...]":
    """Takes this process, which has one thread, into namespaces; returns the directories that are now its own.

    `memory_mib`: the size of shared memory. Raises OSError where that isn't possible; the process must not go on then.
    """
    user, group = os.geteuid(), os.getegid()
    try:
        _call("unshare", CLONE_NEWNS | CLONE_NEWIPC)
        with_user = False
    except PermissionError:
        _call("unshare", CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWIPC)
        with_user = True
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
                file.write(text)
    # What is mounted on the machine later is still seen here, and nothing of this is seen there.
    _call("mount", None, b"/", None, MS_REC | MS_SLAVE, None)
    own = [SHARED_MEMORY]
    _call(
        "mount",
        b"tmpfs",
        SHARED_MEMORY.encode(),
        b"tmpfs",
        MS_NOSUID | MS_NODEV,
        f"mode=1777,size={memory_mib}m".encode(),
    )
    if os.path.isdir(QUEUES):
        _call("mount", b"mqueue", QUEUES.encode(), b"mqueue", MS_NOSUID | MS_NODEV, None)
        own.append(QUEUES)
    if with_user:
        # All that it has got for that; it is no more than before.
        _call("capset", _CAPABILITY_HEADER, bytes(24))
    return tuple(own)


_CAPABILITY_HEADER = CAPABILITY_VERSION.to_bytes(4, sys.byteorder) + bytes(4)


def works() -> bool:
    """Whether `enter` works, tried in a process of its own."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            enter(1)
            status = 0
        except OSError:
            pass
        finally:
            os._exit(status)
    return os.waitpid(process, 0)[1] == 0


def _call(name: str, *arguments: object) -> None:
    if getattr(_library, name)(*arguments):
        error = ctypes.get_errno()
        raise OSError(error, f"{name}: {os.strerror(error)}")
