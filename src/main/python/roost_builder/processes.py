"""Ending everything that a build has started."""

import contextlib
import os
import signal
import time


def end_session() -> None:
    """Kill all processes of this process's session but itself.

    ``uv`` starts build backends, which start compilers: killing ``uv`` alone would leave those behind. Does
    nothing when this process doesn't lead its session, for then others may be in it.
    """
    if os.getsid(0) != os.getpid():
        return
    while True:
        members = session_members()
        if not members:
            return
        for pid in members:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        reap()
        time.sleep(0.005)


def session_members() -> list[int]:
    """The living processes of this session, without this one."""
    own = os.getpid()
    members = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == own:
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                # The second field is the command in parentheses and may hold anything.
                fields = file.read().rpartition(b")")[2].split()
        except OSError:
            continue  # It has ended meanwhile.
        state, session = fields[0], int(fields[3])
        if session == own and state != b"Z":
            members.append(int(name))
    return members


def reap() -> None:
    """Takes the status of every child that has ended."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass
