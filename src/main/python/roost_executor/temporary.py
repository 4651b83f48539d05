"""`TMPDIR` of executions where the runner shares the machine with others."""

import contextlib
import os

TEMPORARY = "tmp"
LINK_PREFIX = "roost-"


def link_temporary(directory: str) -> None:
    """Names the temporary directory of a runner that shares the machine in `TMPDIR`.

    By a link, since the path of a Unix socket, as `multiprocessing` makes one there, has at most 107 bytes.
    """
    target = os.path.join(directory, TEMPORARY)
    link = os.path.join(os.environ.get("TMPDIR") or "/tmp", LINK_PREFIX + os.urandom(8).hex())
    try:
        os.symlink(target, link)
    except OSError:
        link = target  # nothing can be written there, so a long path it is
    os.environ["TMPDIR"] = link


def unlink_temporary() -> None:
    """Removes the link. Both sidecar and runner do, since either may be killed."""
    link = os.environ.get("TMPDIR", "")
    if os.path.basename(link).startswith(LINK_PREFIX) and os.path.islink(link):
        with contextlib.suppress(OSError):
            os.unlink(link)
