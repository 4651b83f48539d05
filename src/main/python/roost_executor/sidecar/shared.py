"""Several executions at a time, seen from the sidecar (the agent's `requests_per_process`).

Each has a delivery in a thread of its own, with a connection and a socket for stores of its own. The main thread polls
as long as there is a place, and reads what the runner sends.
"""

import contextlib
import json
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections import deque
from typing import Any, Protocol

from roost_executor.files import BUSY_OUTPUT_FILE_LIMIT, OUTPUT_FILE_LIMIT, truncate_when_large
from roost_executor.sidecar.delivery import Delivery, ready_of
from roost_executor.sidecar.link import Link, Response
from roost_executor.sidecar.outages import OutageLog
from roost_executor.sidecar.runner_process import RunnerProcess, end_processes
from roost_executor.watch import HEARTBEAT, Watch
from roost_executor.wire import sockets

CHECK_SECONDS = 1.0
# Of lines that a delivery doesn't take, since the disk is full and the control plane away: the runner waits then.
MOST_WAITING_BYTES = 64 * 1024 * 1024
MOST_FILES = 65_536
ALIVE = HEARTBEAT.rstrip()


class Polls(Protocol):
    """The sidecar, as far as its executions need it."""

    runner: RunnerProcess
    link: Link
    outages: OutageLog
    directory: str
    sockets: str
    is_shared: bool
    is_confined: bool

    def send_poll(self, fields: "dict[str, Any]") -> float:
        """Sends a poll with these fields; returns for how many seconds to wait for the response."""

    def poll_failed(self, cause: object) -> float:
        """Logs the cause; returns the seconds until the next poll."""

    def take_response(self, response: Response) -> "float | None":
        """Takes the response to a poll, but not its work; returns a pause before the next one, in seconds."""

    def check(self) -> None:
        """Exits if there is nothing more to do here."""


class RunnerShare:
    """The runner as the delivery of one execution sees it: `RunnerProcess`, with the lines of that execution alone."""

    def __init__(self, runner: RunnerProcess) -> None:
        self._runner = runner
        self.is_child = runner.is_child
        self.process_id = runner.process_id
        self.socket, self._wake = socket.socketpair()
        self.waiting_bytes = 0
        # Why the runner was killed; None if it has ended by itself.
        self.kill_reason: str | None = None
        self._cause = ""
        self._lines: deque[bytes] = deque()
        self._is_closed = False
        self._lock = threading.Lock()

    def send(self, command: bytes) -> None:
        """Sends a command (a line)."""
        self._runner.send(command)

    def receive(self) -> "list[bytes] | None":
        """The lines that have arrived; None when there will be no more."""
        self.socket.recv(4096)
        with self._lock:
            lines = list(self._lines)
            self._lines.clear()
            self.waiting_bytes = 0
            is_closed = self._is_closed
        if is_closed and not lines:
            return None
        if is_closed:
            self._notify()  # the end is reported with the next call
        return lines

    def exit_text(self) -> str:
        """How the runner ended, for people."""
        return self._cause

    def put(self, line: bytes) -> None:
        """In the main thread: adds a line."""
        with self._lock:
            self._lines.append(line)
            self.waiting_bytes += len(line)
        self._notify()

    def end(self, cause: str, kill_reason: "str | None") -> None:
        """In the main thread: there will be no more lines."""
        with self._lock:
            self._is_closed = True
            self._cause = cause
            self.kill_reason = kill_reason
        self._notify()

    def close(self) -> None:
        """Closes its own connection."""
        self.socket.close()
        self._wake.close()

    def _notify(self) -> None:
        with contextlib.suppress(OSError):
            self._wake.send(b".", socket.MSG_DONTWAIT)


class SharedDelivery(Delivery):
    """The delivery of one of several executions."""

    runner: RunnerShare  # type: ignore[assignment]
    disconnects = True
    print_lock = threading.Lock()

    def _watch_runner(self) -> None:
        """The main thread does that."""

    def _end_processes(self) -> None:
        """The main thread has done that."""

    def _print(self, line: bytes) -> None:
        with self.print_lock:
            super()._print(line)


class SharedExecutions:
    """All executions of an executor, and its polls between them."""

    def __init__(self, sidecar: Polls, places: int) -> None:
        """`places`: how many executions run at the same time."""
        self._sidecar = sidecar
        self._runner = sidecar.runner
        self._places = places
        self._running: dict[str, SharedDelivery] = {}
        self._lock = threading.Lock()
        self._wake_reader, self._wake_writer = socket.socketpair()
        self._links: list[Link] = []
        self._executions = 0
        self._watch = Watch(self._runner.process_id)
        self._is_polling = False
        self._response_by = 0.0
        self._poll_at = 0.0
        # Why the sidecar ends when the last execution has ended.
        self._end: tuple[int, str] | None = None
        self._is_runner_lost = False
        self._failure: BaseException | None = None
        _allow_many_files()

    @property
    def is_busy(self) -> bool:
        """Whether an execution runs."""
        return bool(self._running)

    def terminate(self, deadline: float) -> None:
        """In a signal handler: SIGTERM has reached the pod; deliveries end by then (monotonic time)."""
        self._end = (128 + signal.SIGTERM, "the pod received SIGTERM")
        for delivery in list(self._running.values()):
            delivery.deadline = deadline

    def run(self, first: Response, head: bytes) -> "tuple[int, str]":
        """Works until the sidecar is to end; returns its exit status and why.

        `first`: has the first work; `head`: how the command with that begins.
        """
        self._begin(first, head)
        while self._end is None or self._running:
            self._step()
            if self._failure is not None:
                raise self._failure
        return self._end

    def _step(self) -> None:
        now = time.monotonic()
        if self._may_poll() and now >= self._poll_at:
            self._send_poll()
        readers: list[Any] = [self._wake_reader]
        if not self._is_runner_lost and self._waiting_bytes() < MOST_WAITING_BYTES:
            readers.append(self._runner.socket)
        link = self._sidecar.link
        polled = link.socket if self._is_polling else None
        if polled is not None:
            readers.append(polled)
        ready = ready_of(readers, self._timeout())
        if self._wake_reader in ready:
            self._wake_reader.recv(4096)
        if self._runner.socket in ready:
            self._watch.reset()
            self._take_lines()
        self._watch_runner()
        if polled is not None and polled in ready:
            self._take_response()
        elif self._is_polling and time.monotonic() > self._response_by:
            self._poll_failed("a poll was not answered in time")
        if not ready:
            self._sidecar.check()

    def _timeout(self) -> float:
        if self._may_poll():
            return max(0.0, min(CHECK_SECONDS, self._poll_at - time.monotonic()))
        return CHECK_SECONDS

    def _waiting_bytes(self) -> int:
        with self._lock:
            return max((delivery.runner.waiting_bytes for delivery in self._running.values()), default=0)

    def _may_poll(self) -> bool:
        return not self._is_polling and self._end is None and len(self._running) < self._places

    def _send_poll(self) -> None:
        with self._lock:
            running = list(self._running)
        try:
            self._response_by = time.monotonic() + self._sidecar.send_poll({"running": running})
            self._is_polling = True
        except self._sidecar.link.address.errors as error:
            self._poll_failed(error)

    def _poll_failed(self, cause: object) -> None:
        self._is_polling = False
        self._sidecar.link.close()
        self._poll_at = time.monotonic() + self._sidecar.poll_failed(cause)

    def _take_response(self) -> None:
        try:
            response = self._sidecar.link.receive()
        except self._sidecar.link.address.errors as error:
            self._poll_failed(error)
            return
        self._is_polling = False
        pause = self._sidecar.take_response(response)
        if pause is not None:
            self._poll_at = time.monotonic() + pause
        elif response.status == 200:
            self._begin(response)

    def _begin(self, response: Response, head: bytes = b'{"type": "execute", ') -> None:
        truncate_when_large(1, BUSY_OUTPUT_FILE_LIMIT if self._running else OUTPUT_FILE_LIMIT)
        try:
            work = json.loads(response.body)
        except ValueError:
            self._poll_at = time.monotonic() + self._sidecar.poll_failed("work that isn't JSON")
            return
        if work["execution_id"] in self._running:
            return  # given again, although it has arrived
        self._executions += 1
        name = f"store-{self._executions}.sock"
        path = os.path.join(self._sidecar.sockets, name)
        listener = sockets.listen(path, 64, self._sidecar.is_shared)
        delivery = SharedDelivery(
            work,
            self._sidecar.directory,
            RunnerShare(self._runner),  # type: ignore[arg-type]
            self._links.pop() if self._links else Link(self._sidecar.link.address),
            self._sidecar.outages,
            listener,
            self._sidecar.is_confined,
            lambda: None,
        )
        with self._lock:
            self._running[work["execution_id"]] = delivery
        if not self._is_runner_lost:
            text = response.body.replace(b"\n", b" ").replace(b"\r", b" ")
            self._runner.send(head + b'"socket": "%s", "work": ' % name.encode() + text + b"}\n")
        threading.Thread(
            target=self._deliver, args=(work["execution_id"], delivery, listener, path), name="delivery", daemon=True
        ).start()

    def _deliver(self, execution_id: str, delivery: SharedDelivery, listener: socket.socket, path: str) -> None:
        try:
            delivery.run()
        except BaseException as error:
            self._failure = error
        finally:
            listener.close()
            with contextlib.suppress(OSError):
                os.unlink(path)
            if delivery.refused and self._end is None:
                # Its other executions may still be delivered.
                self._end = (1, "the control plane refused this executor")
            with self._lock:
                del self._running[execution_id]
                self._links.append(delivery.link)
            delivery.runner.close()
            with contextlib.suppress(OSError):
                self._wake_writer.send(b".")

    def _take_lines(self) -> None:
        lines = self._runner.receive()
        if lines is None:
            self._runner_exited(None)
            return
        for line in lines:
            if line == ALIVE:
                continue
            execution_id, _, frame = line.partition(b" ")
            with self._lock:
                delivery = self._running.get(execution_id.decode("ascii", "replace"))
                if delivery is not None:
                    delivery.runner.put(frame)

    def _watch_runner(self) -> None:
        if self._is_runner_lost:
            return
        if not self._running or self._waiting_bytes() >= MOST_WAITING_BYTES:
            self._watch.reset()  # it sends nothing, or its frames aren't read
            return
        reason = self._watch.check()
        if reason is not None:
            self._runner.kill()
            self._runner_exited(reason)

    def _runner_exited(self, kill_reason: "str | None") -> None:
        self._is_runner_lost = True
        cause = self._runner.exit_text() if kill_reason is None else kill_reason
        end_processes()
        if self._end is None:
            self._end = (1, f"the runner exited: {cause}")
        with self._lock:
            for delivery in self._running.values():
                delivery.runner.end(cause, kill_reason)


def _allow_many_files() -> None:
    """Each execution takes a few descriptors, and each of its connections to stores two."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        except (OSError, ValueError) as error:
            print(f"roost sidecar: it may open {soft} files only: {error}", file=sys.stderr, flush=True)
