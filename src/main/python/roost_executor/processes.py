"""Looking at, and ending, all processes below this one."""

import os
import select
import signal
import time
from typing import Callable

PAGE = os.sysconf("SC_PAGE_SIZE")
REAP_LIMIT_SECONDS = 5.0
ASCENTS = 3

# Ids of children.
Keep = Callable[[], "frozenset[int]"]


def _none() -> "frozenset[int]":
    return frozenset()


def descendants(root: "int | None" = None, most: "int | None" = None, keep: Keep = _none) -> "list[int]":
    """Ids of all processes below `root` (default: this one), zombies included, parents first.

    With `most`, the walk ends as soon as there are more: that of a fork bomb would have no end. Left out are those
    children that `keep` returns, with all that is below them.
    """
    found = _children_but(keep, os.getpid() if root is None else root)
    for process in found:  # the list grows while it is walked
        if most is not None and len(found) > most:
            break
        found.extend(children(process))
    return found


def is_below(process: int, ancestor: int) -> bool:
    """Whether `process` is among the descendants of `ancestor`."""
    for _ in range(ASCENTS):
        current = process
        while current > 0:  # 1 may be the ancestor: a pod's runner
            if current == ancestor:
                return True
            try:
                with open(f"/proc/{current}/stat", "rb") as file:
                    current = int(file.read().rpartition(b")")[2].split()[1])
            except OSError:
                break  # a parent has ended meanwhile, and its children have got another one
        else:
            return False
    return False


def _children_but(keep: Keep, process: int) -> "list[int]":
    listed = children(process)
    kept = keep()  # asked after they were listed: one that was announced before it became a child is known then
    return [child for child in listed if child not in kept]


def children(process: int) -> "list[int]":
    """Ids of the children of a process, zombies included."""
    directory = f"/proc/{process}/task"
    found: list[int] = []
    try:
        threads = os.listdir(directory)
    except OSError:
        return found
    for thread in threads:
        try:
            with open(f"{directory}/{thread}/children", "rb", buffering=0) as file:
                found.extend(int(child) for child in (file.readall() or b"").split())
        except FileNotFoundError:
            if thread == str(process) and os.path.exists(directory):
                return _children_by_scan(process)  # a kernel without CONFIG_PROC_CHILDREN
        except OSError:
            continue
    return found


def _children_by_scan(parent: int) -> "list[int]":
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == parent:
                found.append(int(name))
    return found


def resident_bytes(processes: "list[int]") -> int:
    """Resident memory of `processes`; memory that they share counts once for each of them."""
    pages = 0
    for process in processes:
        try:
            with open(f"/proc/{process}/statm", "rb", buffering=0) as file:
                pages += int((file.read(128) or b"0 0").split()[1])
        except (OSError, IndexError):
            continue
    return pages * PAGE


def proportional_bytes(processes: "list[int]") -> "int | None":
    """Memory of `processes`, what they share counted once; None where the system doesn't tell."""
    total = 0
    for process in processes:
        try:
            with open(f"/proc/{process}/smaps_rollup", "rb") as file:
                for line in file:
                    if line.startswith(b"Pss:"):
                        total += int(line.split()[1]) * 1024
        except (ProcessLookupError, FileNotFoundError):
            if os.path.exists(f"/proc/{process}/statm"):
                return None
        except OSError:
            return None
    return total


def signal_all(processes: "list[int]", number: int) -> None:
    """Sends a signal to each; those that have ended meanwhile are passed over."""
    for process in processes:
        try:
            os.kill(process, number)
        except (ProcessLookupError, PermissionError):
            continue


def reap(seconds: float = REAP_LIMIT_SECONDS, keep: "Keep | None" = None) -> "list[tuple[int, int, float, int]]":
    """Kills all descendants and waits for them: (id, wait status, CPU seconds, peak bytes) of each.

    Left alone are those children that `keep` returns, with all that is below them.

    They are stopped before they are killed, so that a fork bomb can't outrun the sweep; what is
    forked meanwhile is found by the next sweep. Ends when nothing is left, or after `seconds`
    (a process in an uninterruptible wait ends when the kernel lets it).
    """
    ended: list[tuple[int, int, float, int]] = []
    give_up = time.monotonic() + seconds

    def none_left() -> bool:
        return collect(ended) or (keep is not None and not _children_but(keep, os.getpid()))

    while True:
        if none_left():
            return ended
        stopped: set[int] = set()
        while _stop_below(stopped, keep or _none):
            pass
        signal_all(list(stopped), signal.SIGKILL)
        for _ in range(100):
            if none_left():
                return ended
            if time.monotonic() > give_up:
                return ended
            time.sleep(0.0002)


def _stop_below(stopped: "set[int]", keep: Keep) -> bool:
    """Stops each descendant before its children are listed, so that it gets no more; False when all were stopped."""
    fresh = False
    found = _children_but(keep, os.getpid())
    for process in found:  # the list grows while it is walked
        if process not in stopped:
            signal_all([process], signal.SIGSTOP)
            stopped.add(process)
            fresh = True
        found.extend(children(process))
    return fresh


def collect(ended: "list[tuple[int, int, float, int]]") -> bool:
    """Appends every child that has ended, without waiting; True when this process has no child left."""
    while True:
        try:
            process, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return True
        if process == 0:
            return False
        ended.append((process, status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024))


def reap_one(process: int) -> "list[tuple[int, int, float, int]]":
    """Waits for one child that has been killed or is ending; as `reap`."""
    give_up = time.monotonic() + REAP_LIMIT_SECONDS
    waited = False
    while time.monotonic() < give_up:
        try:
            ended, status, usage = os.wait4(process, os.WNOHANG)
        except ChildProcessError:
            return []
        if ended:
            return [(ended, status, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)]
        if not waited:
            _await_end(process, REAP_LIMIT_SECONDS)
            waited = True
        else:
            time.sleep(0.0001)
    return []


def _await_end(process: int, seconds: float) -> None:
    """Returns when the child has ended, at the latest after `seconds`; at once where only looking again can tell."""
    try:
        descriptor = os.pidfd_open(process)
    except (AttributeError, OSError):  # an old kernel, or a Python compiled for one
        return
    try:
        select.select([descriptor], [], [], seconds)
    finally:
        os.close(descriptor)
