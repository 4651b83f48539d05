"""A process for one execution, seen from the runner: it is forked before there is work, and waits for it."""

import contextlib
import os
import select
import socket
from typing import Any, Callable

from roost_executor import linux, sandbox
from roost_executor.script.child import Child, Settings
from roost_executor.wire.work import LONGEST_MESSAGE, Ends, send_cancel, send_ends, send_shared, send_work

PIPE_BYTES = 1024 * 1024
STREAMS = ("stdout", "stderr", "control")


class ScriptProcess:
    """Its connections, and its id as soon as that is known."""

    def __init__(self, from_template: bool) -> None:
        self.from_template = from_template
        self.process = 0
        self.readers: dict[int, str] = {}
        self._announced = False
        self._work, self._other_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    @classmethod
    def forked(
        cls,
        settings: Settings,
        close_in_child: "Callable[[], None]",
        prepare: bool = True,
        child: "Callable[[Settings, int], Child]" = Child,
    ) -> "ScriptProcess":
        """A fork of this process. Raises OSError.

        `prepare`: whether what confines it is kept for later forks with these settings. `child`: what it runs.
        """
        if prepare:
            prepare_sandbox(settings)
        made = cls(from_template=False)
        ends = made._open()
        parent = os.getpid()
        try:
            made.process = os.fork()
        except BaseException:
            ends.close()
            made.close()
            raise
        if made.process == 0:
            try:
                close_in_child()
                made.close()
                child(settings, parent).run(ends)
            finally:
                os._exit(70)
        ends.close()
        return made

    @classmethod
    def from_template_at(cls, connection: socket.socket) -> "ScriptProcess":
        """A fork of the template at the other end of `connection`. Raises OSError when that has ended."""
        made = cls(from_template=True)
        ends = made._open()
        try:
            send_ends(connection, ends)
        except BaseException:
            made.close()
            raise
        finally:
            ends.close()
        return made

    def _open(self) -> Ends:
        writers = []
        for stream in STREAMS:
            reader, writer = linux.pipe(PIPE_BYTES)
            os.set_blocking(reader, False)
            self.readers[reader] = stream
            writers.append(writer)
        return Ends(self._other_end, (writers[0], writers[1], writers[2]))

    def is_ready(self, seconds: float) -> bool:
        """Whether it waits for work, or does so within `seconds`; its id is known then."""
        if not self._announced:
            message = self._work.recv(LONGEST_MESSAGE) if _readable(self._work, seconds) else b""
            if not message:
                return False
            self.process = int(message)
            self._announced = True
        return not _readable(self._work, 0)  # its end closes the connection

    def begin(self, work: "dict[str, Any]", directory: str) -> None:
        """Sends the work. `directory`: for a file. A process that has ended shows in its status. Raises OSError."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            send_work(self._work, work, directory)

    def begin_shared(self, number: int, work: "dict[str, Any]", directory: str) -> None:
        """The same for one of several executions, which has this number. Raises OSError."""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            send_shared(self._work, number, work, directory)

    def cancel_shared(self, number: int) -> None:
        """Cancels that execution."""
        with contextlib.suppress(OSError):
            send_cancel(self._work, number)

    def close(self) -> None:
        """Closes the connections: a process that waits for work ends."""
        self._work.close()
        for reader in self.readers:
            os.close(reader)
        self.readers.clear()


def prepare_sandbox(settings: Settings) -> bool:
    """See `sandbox.prepare_script`."""
    return sandbox.prepare_script(settings.script.readable, settings.directory, settings.variables)


def _readable(connection: socket.socket, seconds: float) -> bool:
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(int(seconds * 1000)))
