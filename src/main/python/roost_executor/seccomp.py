"""The filter of system calls of a confined process: what no script needs, and, where that is limited, the network.

Imports nothing of this package.
"""

import ctypes
import errno
import functools
import os
import struct
import sys
from typing import Any, Optional

_library = ctypes.CDLL(None, use_errno=True)

PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2
ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
LOAD, AND, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06  # BPF instructions
ARGUMENTS = 16  # in seccomp_data, 8 bytes each, the lower half first
X32_BIT = 0x40000000  # 32-bit calls on x86-64, by numbers of their own
# Name: the number on x86-64, on arm64.
REFUSED_CALLS = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "io_uring_setup": (425, 425),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
}
PRLIMIT = (302, 261)
SOCKET = (41, 198)
LOCAL_FAMILIES = (1, 16)  # AF_UNIX, AF_NETLINK
INTERNET_FAMILIES = (2, 10)  # AF_INET, AF_INET6
SOCK_STREAM, SOCK_TYPE_MASK = 1, 0xF
TCP_PROTOCOLS = (0, 6)  # the default, and by name; MPTCP, for one, has another
# Their flags, by the argument's place: a connection that a message opens is no `connect`.
SENDING = (((44, 206), 3), ((46, 211), 2), ((307, 269), 3))  # sendto, sendmsg, sendmmsg
MSG_FASTOPEN = 0x20000000
ARCHITECTURES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}  # AUDIT_ARCH_…, column above

INSTRUCTION = struct.Struct("=HBBI")
# Instruction, operand, how many of the next ones are skipped if it holds, and if not; or where it goes then.
Program = list[tuple[int, int, Any, Any]]


def filters_calls() -> bool:
    """Whether there is a filter of system calls for this architecture."""
    return sys.maxsize > 1 << 32 and os.uname().machine in ARCHITECTURES


def install(network: bool, tcp_only: bool) -> "Optional[int]":
    """Filters the calls of this thread and of all that it starts; needs `no_new_privs`. Returns an error's number.

    Without `network` there are only sockets of this machine, and with `tcp_only` only those of TCP besides, whose
    connections are opened by `connect` alone.
    """
    instructions = instructions_for(network, tcp_only)
    header = struct.pack("@HP", len(instructions) // INSTRUCTION.size, ctypes.addressof(instructions))
    if _library.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header, 0, 0):
        return ctypes.get_errno()
    return None


@functools.cache
def instructions_for(network: bool, tcp_only: bool) -> Any:
    """The instructions of such a filter, as a buffer. It is kept, so that the forks of a process needn't make it."""
    architecture, column = ARCHITECTURES[os.uname().machine]
    program: Program = [
        (LOAD, 4, 0, 0),  # seccomp_data.arch
        (EQUAL, architecture, 0, "refuse"),
        (LOAD, 0, 0, 0),  # seccomp_data.nr
        (AT_LEAST, X32_BIT, "refuse", 0),
        *((EQUAL, call[column], "refuse", 0) for call in REFUSED_CALLS.values()),
    ]
    # Of this process, not of another one of the same user.
    program += _for_call(PRLIMIT[column], _one_of(0, (0,)))
    if not network:
        program += _for_call(SOCKET[column], _one_of(0, LOCAL_FAMILIES))
    elif tcp_only:
        program += _for_call(SOCKET[column], _tcp_socket())
        for call, place in SENDING:
            program += _for_call(call[column], [_load(place), (ANY_BIT, MSG_FASTOPEN, "refuse", "allow")])
    places = {"allow": len(program), "refuse": len(program) + 1}
    program += [(RETURN, ALLOW, 0, 0), (RETURN, REFUSE, 0, 0)]
    content = b"".join(
        INSTRUCTION.pack(code, *(places[jump] - place - 1 if jump in places else jump for jump in jumps), operand)
        for place, (code, operand, *jumps) in enumerate(program)
    )
    return ctypes.create_string_buffer(content, len(content))


def _for_call(number: int, rest: Program) -> Program:
    """`rest` decides about that call; others continue after it, with the call's number still loaded."""
    return [(EQUAL, number, 0, len(rest)), *rest]


def _load(argument: int) -> "tuple[int, int, Any, Any]":
    return (LOAD, ARGUMENTS + 8 * argument, 0, 0)


def _one_of(argument: int, values: "tuple[int, ...]") -> Program:
    allowed: Program = [(EQUAL, value, "allow", 0) for value in values[:-1]]
    return [_load(argument), *allowed, (EQUAL, values[-1], "allow", "refuse")]


def _tcp_socket() -> Program:
    local: Program = [(EQUAL, family, "allow", 0) for family in LOCAL_FAMILIES]
    first, second = INTERNET_FAMILIES
    return [
        _load(0),
        *local,
        (EQUAL, first, 1, 0),
        (EQUAL, second, 0, "refuse"),
        _load(1),
        (AND, SOCK_TYPE_MASK, 0, 0),
        (EQUAL, SOCK_STREAM, 0, "refuse"),
        *_one_of(2, TCP_PROTOCOLS),
    ]
