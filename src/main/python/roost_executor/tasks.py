"""Bounds fork bombs where there is no control group for them: by the limit of a user's processes and threads.

That limit counts all that the user runs, so it is set to what runs already and some more. Root has no such limit.
"""

import os
import resource

SPARE = 1024  # what the user starts elsewhere meanwhile, in a browser for example, must not fail a script


def limit_for(more: int) -> int:
    """What lets this process and its children become `more` than the user has now, and some for other programs."""
    return tasks_of(os.getuid()) + more + SPARE


def tasks_of(user: int) -> int:
    """Processes and threads of the user with that id."""
    tasks = 0
    for entry in os.scandir("/proc"):
        if not entry.name.isdecimal():
            continue
        try:
            if entry.stat().st_uid == user:
                with open(f"/proc/{entry.name}/stat", "rb") as file:
                    tasks += int(file.read().rpartition(b")")[2].split()[17])
        except OSError:
            continue  # it has ended meanwhile
    return tasks


def bound(limit: int) -> None:
    """From now on this process and its children start nothing when the user has `limit` tasks."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NPROC)
    for given in (soft, hard):
        if given != resource.RLIM_INFINITY:
            limit = min(limit, given)
    resource.setrlimit(resource.RLIMIT_NPROC, (limit, limit))
