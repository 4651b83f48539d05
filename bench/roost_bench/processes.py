"""Processes of this machine, as /proc shows them."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


class Seen(NamedTuple):
    """A process, with its command line."""

    pid: int
    parent: int
    command: str


def everything() -> "dict[int, Seen]":
    """All processes, by number."""
    found = {}
    for directory in Path("/proc").iterdir():
        if directory.name.isdigit():
            with contextlib.suppress(OSError):
                command = (directory / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
                parent = int(stat(int(directory.name))[1])
                found[int(directory.name)] = Seen(int(directory.name), parent, command)
    return found


def stat(pid: int) -> "list[str]":
    """The fields of its stat file from the state on: the name before it may hold anything."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()


def with_descendants(pid: int) -> "Iterator[int]":
    """Its number and those of its children, their children and so on."""
    processes = everything()
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += [seen.pid for seen in processes.values() if seen.parent == one]


def using(directory: Path) -> "list[Seen]":
    """Those that name the directory in their command line or work in it: what a server there has started."""
    found = []
    for seen in everything().values():
        with contextlib.suppress(OSError):
            place = os.readlink(f"/proc/{seen.pid}/cwd")
            if seen.pid != os.getpid() and (str(directory) in seen.command or place.startswith(str(directory))):
                found.append(seen)
    return found


def memory_bytes(pid: int) -> "tuple[int, str]":
    """Its share of the memory (PSS: what several use counts by parts) or, when that is hidden, all of it (RSS).

    Nothing when it has ended: PostgreSQL's come and go.
    """
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024, "PSS"
    with contextlib.suppress(OSError):
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE"), "RSS"
    return 0, ""


def cpu_seconds(pid: int) -> float:
    """The processor time that it and its children that have ended have used; nothing when it has ended itself."""
    with contextlib.suppress(OSError):
        return sum(int(field) for field in stat(pid)[11:15]) / TICKS_A_SECOND
    return 0.0
