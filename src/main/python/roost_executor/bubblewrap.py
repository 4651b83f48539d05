"""The runner in bubblewrap: processes, `/tmp`, shared memory and queues of its own, and no view of Roost's files.

Landlock and the filter of system calls confine each execution inside of it, as without.
"""

import os
from collections.abc import Sequence

OWN = ("/dev/shm", "/dev/mqueue", "/tmp")
JOIN = 'echo 0 > "$0" && exec "$@"'


def command(
    program: str,
    private: "Sequence[str]" = (),
    writable: "Sequence[str]" = (),
    readable: "Sequence[str]" = (),
    links: "Sequence[tuple[str, str]]" = (),
    group: "str | None" = None,
) -> "list[str]":
    """What comes before the runner's command.

    `private`: paths that it doesn't see, but for those in `writable` and `readable`. `links`: (target, path) of
    symbolic links in `/tmp`. `group`: see `--group`; joined outside, since inside only `writable` can be written.
    """
    line = ["/bin/sh", "-c", JOIN, group] if group else []
    line += [program, "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--ro-bind", "/", "/"]
    line += ["--dev", "/dev", "--mqueue", "/dev/mqueue", "--proc", "/proc", "--tmpfs", "/tmp"]
    for path in private:
        if os.path.isdir(path):
            line += ["--tmpfs", path]
        elif os.path.exists(path):
            line += ["--ro-bind", "/dev/null", path]
    hidden = ("/tmp", *private)
    for option, paths in (("--ro-bind-try", readable), ("--bind-try", writable)):
        for path in paths:
            if option == "--bind-try" or any(path.startswith(f"{top}/") for top in hidden):
                line += [option, path, path]
    for target, path in links:
        if path.startswith("/tmp/"):
            line += ["--symlink", target, path]
    return [*line, "--"]
