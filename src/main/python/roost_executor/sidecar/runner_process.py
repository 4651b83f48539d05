"""The runner as the sidecar sees it: its connection, and its process where the sidecar has started it."""

import _thread  # all that is needed of threading, which takes longer to import
import json
import os
import signal
import socket
import time
from typing import Any, Callable

from roost_executor.watch import LOST_AFTER_SECONDS
from roost_executor.wire.sockets import LineReader

RECEIVE_BYTES = 1 << 20
# How the runner's line about its template begins; all others are about an execution.
PRELOADED = b'{"type": "preloaded"'


class RunnerProcess:
    """Sends commands to the runner and receives its lines."""

    def __init__(self, process_id: "int | None") -> None:
        """`process_id`: None where the runner is in another container of the pod."""
        self.is_child = process_id is not None
        # None also once the process has ended.
        self.process_id = process_id
        # Of a share of it, see `RunnerShare`.
        self.kill_reason: str | None = None
        self.socket: Any = None
        # Takes the report of a line about the template, as JSON.
        self.on_preloaded: Callable[[bytes], None] = lambda report: None
        self._lines = LineReader()
        self._lock = _thread.allocate_lock()

    def attach(self, connection: socket.socket) -> None:
        """Takes the connection that the runner has opened."""
        self.socket = connection
        # The longest time in which a runner may read nothing of a large payload.
        connection.settimeout(LOST_AFTER_SECONDS)

    def send(self, command: bytes) -> None:
        """Sends a command (a line), from any thread. A closed connection shows in `receive`."""
        try:
            with self._lock:
                self.socket.sendall(command)
        except OSError:
            pass

    def receive(self) -> "list[bytes] | None":
        """The lines that have arrived; None when the connection is closed."""
        try:
            data = self.socket.recv(RECEIVE_BYTES)
        except OSError:
            return None
        return self._without_reports(self._lines.feed(data)) if data else None

    def _without_reports(self, lines: "list[bytes]") -> "list[bytes]":
        frames = []
        for line in lines:
            if line.startswith(PRELOADED):
                self.on_preloaded(json.dumps(json.loads(line)["report"]).encode())
            else:
                frames.append(line)
        return frames

    def kill(self) -> None:
        """Kills it and all below it, or closes the connection: a runner in another container exits then."""
        if self.process_id is not None:
            # Not the runner before its children: they would become this process's, and could stop it.
            end_processes()
        self.socket.close()

    def poll_exit(self) -> "str | None":
        """How the process ended, for people; None while it runs, and where it is in another container."""
        if self.process_id is None:
            return None
        ended, status = os.waitpid(self.process_id, os.WNOHANG)
        if not ended:
            return None
        self.process_id = None
        return _exit_text(status)

    def exit_text(self) -> str:
        """How the runner ended, for people; waits up to a second for its exit status."""
        for _ in range(1000):
            if self.process_id is None:
                break
            try:
                text = self.poll_exit()
            except ChildProcessError:
                break
            if text is not None:
                return text
            time.sleep(0.001)
        return "its connection closed"


def end_processes() -> None:
    """Kills the runner, if the sidecar has started it, and all that it has left behind."""
    from roost_executor.processes import reap
    from roost_executor.temporary import unlink_temporary

    reap()
    unlink_temporary()


def _exit_text(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        name = signal.Signals(number).name if number < signal.SIGRTMIN else f"signal {number}"
        hint = " (the kernel does that when memory runs out)" if number == signal.SIGKILL else ""
        return f"it was killed by {name}{hint}"
    return f"it exited with status {os.WEXITSTATUS(status)}"
