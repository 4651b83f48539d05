"""Starts Chromium so that it doesn't notice when the machine's network interfaces change.

    python steady_browser.py CHROMIUM ARGUMENT...

Each pod that starts or ends beside the tests adds or removes an interface, whereupon Chromium breaks off all requests
with net::ERR_NETWORK_CHANGED. It hears of interfaces by netlink sockets and does without them where the system has
none, so a seccomp filter (Linux, x86-64 and arm64) says that there are none.
"""

import ctypes
import os
import platform
import struct
import sys

SOCKET = {"x86_64": 41, "aarch64": 198}  # the number of the system call, by machine
PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2
AF_NETLINK = 16
EAFNOSUPPORT = 97
ALLOW = 0x7FFF0000
REFUSE = 0x00050000 | EAFNOSUPPORT
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06  # BPF_LD|BPF_W|BPF_ABS, BPF_JMP|BPF_JEQ|BPF_K, BPF_RET|BPF_K
NUMBER, FIRST_ARGUMENT = 0, 16  # offsets in struct seccomp_data, little-endian


class Program(ctypes.Structure):
    """struct sock_fprog"""

    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def refuse_netlink(socket_number: int) -> None:
    """For this process and all that it starts."""
    instructions = [
        (LOAD, 0, 0, NUMBER),
        (EQUAL, 0, 3, socket_number),
        (LOAD, 0, 0, FIRST_ARGUMENT),
        (EQUAL, 0, 1, AF_NETLINK),
        (RETURN, 0, 0, REFUSE),
        (RETURN, 0, 0, ALLOW),
    ]
    program = b"".join(struct.pack("<HBBI", *instruction) for instruction in instructions)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
        PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(Program(len(instructions), program))
    ):
        print("Chromium will notice changes of the network: no seccomp filter", file=sys.stderr)


if __name__ == "__main__":
    if platform.machine() in SOCKET:
        refuse_netlink(SOCKET[platform.machine()])
    os.execv(sys.argv[1], sys.argv[1:])
