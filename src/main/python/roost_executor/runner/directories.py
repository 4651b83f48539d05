"""The directories that an execution may write to, created before it and emptied after it."""

import contextlib
import os
import stat

from roost_executor import linux
from roost_executor.files import directory_bytes, remove, remove_tree
from roost_executor.temporary import TEMPORARY

WORK = "work"
SCRIPT = "script"
# Of a draft, removed after its execution.
DRAFT = "draft"
OWN = frozenset((SCRIPT, WORK, TEMPORARY))


class Directories:
    """The directories of a runner's executions, one execution at a time."""

    def __init__(self, directory: str, clean: "tuple[str, ...]", own: "tuple[str, ...]" = ()) -> None:
        """`directory`: the runner's own. `clean`: directories of its container, which no other process uses.

        With `clean`, what is there now stays, and all else is removed after each execution: from those directories,
        from the runner's own, and System V's shared memory, semaphores and queues. Without, the runner shares the
        machine: an execution then gets a temporary directory beside its working directory. `own`: directories that
        nevertheless belong to the runner, like System V's objects then, and are emptied in the same way.
        """
        self._work = os.path.join(directory, WORK)
        self._temporary = "" if clean else os.path.join(directory, TEMPORARY)
        self._linked: list[str] = []
        self._known: dict[str, tuple[int, frozenset[str]]] = {}
        self._ipc = frozenset(linux.ipc_objects()) if clean or own else None
        for path in (directory, *clean) if clean else own:
            with contextlib.suppress(OSError):
                names = frozenset(os.listdir(path)) | (OWN if path == directory else frozenset())
                self._known[path] = (stat.S_IMODE(os.stat(path).st_mode), names)
        # What is in a container's /dev takes memory, and is counted there.
        on_disk = [path for path in self._known if not path.startswith("/dev/")]
        self._counted = on_disk if clean else [self._work, self._temporary, *self._known]

    @property
    def work(self) -> str:
        """What the working directories of all executions are in."""
        return self._work

    def prepare(self) -> None:
        """Makes the directories that stay from one execution to the next. Raises OSError."""
        _make_real(self._work)
        if self._temporary:
            _make_real(self._temporary)

    def link_entries_of(self, directory: "str | None") -> None:
        """From now on, working directories begin with a symbolic link to each entry of this one."""
        with contextlib.suppress(OSError):  # nothing of it can be imported either, which the execution says
            self._linked = (
                [] if directory is None else [os.path.join(directory, name) for name in os.listdir(directory)]
            )

    def begin(self, execution_id: str) -> str:
        """Makes the directories of an execution; returns its working directory. Raises OSError."""
        self.prepare()
        directory = os.path.join(self._work, execution_id)
        _make_empty(directory)
        for path in self._linked:
            os.symlink(path, os.path.join(directory, os.path.basename(path)))
        return directory

    def used_bytes(self) -> int:
        """What the execution's files take on disk."""
        return sum(map(directory_bytes, self._counted))

    def end(self, directory: str) -> None:
        """Removes what the execution has left; its processes have ended. Never raises."""
        remove_tree(directory)
        # These two stay: a template is confined to them before there is an execution.
        _sweep(self._work, 0o700, frozenset())
        if self._temporary:
            _sweep(self._temporary, 0o700, frozenset())
        for path, (mode, names) in self._known.items():
            _sweep(path, mode, names)
        if self._ipc is not None:
            for item in linux.ipc_objects():
                if item not in self._ipc:
                    linux.remove_ipc(*item)


def _make_real(directory: str) -> None:
    try:
        mode = os.lstat(directory).st_mode
        if stat.S_ISDIR(mode):
            if stat.S_IMODE(mode) != 0o700:
                os.chmod(directory, 0o700)
            return
    except FileNotFoundError:
        pass
    _make_empty(directory)


def _make_empty(directory: str) -> None:
    try:
        os.mkdir(directory, 0o700)
    except FileExistsError:
        remove(directory)
        os.mkdir(directory, 0o700)


def _sweep(directory: str, mode: int, known: "frozenset[str]") -> None:
    """Removes what isn't `known`. `mode`: the directory's own, which an execution may have changed."""
    with contextlib.suppress(OSError):
        try:
            names = os.listdir(directory)
        except PermissionError:
            os.chmod(directory, mode)
            names = os.listdir(directory)
        for name in names:
            if name not in known:
                remove(os.path.join(directory, name))
