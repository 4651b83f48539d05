"""The sidecar: polls for work, hands it to the runner, brings the frames home."""

import _thread  # all that is needed of threading, which takes longer to import
import json
import os
import select
import signal
import socket
import stat
import sys
import time
from typing import Any

from roost_executor import PROTOCOL, sockets
from roost_executor.delivery import Delivery
from roost_executor.files import truncate_when_large
from roost_executor.link import Address, Answer, Link, Pause
from roost_executor.trouble import Trouble, detail_of, of_answer
from roost_executor.watch import LOST_AFTER_SECONDS

POLL_WAIT_SECONDS = 30
ANSWER_SECONDS = 15
LOOK_SECONDS = 1.0
# A pod is killed 30 s after it was told to end. What isn't delivered by then is in the containers' logs.
DELIVERY_AFTER_SIGTERM_SECONDS = 27.0
# 422: the control plane speaks another version of the protocol.
REFUSED = (401, 403, 422)
TERMINATED = 128 + signal.SIGTERM


class Leave(Exception):  # noqa: N818
    """The sidecar ends, with this exit status."""

    def __init__(self, status: int, message: str = "") -> None:
        super().__init__(message)
        self.status = status


class RunnerConnection:
    """The runner, as the sidecar sees it: orders go in, lines come out."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        # So long may a runner take nothing of a large payload.
        connection.settimeout(LOST_AFTER_SECONDS)
        self._lines = sockets.LineReader()
        self._lock = _thread.allocate_lock()

    def send(self, order: bytes) -> None:
        """Sends an order (a line). A runner that has gone is noticed by `receive`."""
        try:
            with self._lock:
                self.socket.sendall(order)
        except OSError:
            pass

    def receive(self) -> "list[bytes] | None":
        """The lines that have arrived; None when the runner has gone."""
        try:
            data = self.socket.recv(1 << 20)
        except OSError:
            return None
        return self._lines.feed(data) if data else None


class Sidecar:
    """One sidecar, for one executor."""

    def __init__(
        self,
        url: str,
        executor_id: str,
        token_file: str,
        directory: str,
        sockets: str,
        runner_id: "int | None",
        confined: bool = False,
        ca_file: "str | None" = None,
    ) -> None:
        """`directory`: the sidecar's own; `sockets`: where it listens, maybe a directory that the runner only reads.

        `runner_id`: the runner's process id when the sidecar has started it; else this is a pod's container.
        `confined`: scripts are, so those of other executors have no other way here than the socket for stores.
        """
        self._url = url
        self._ca_file = ca_file
        self._executor_id = executor_id
        self._token_file = token_file
        self.directory = directory
        self._sockets = sockets
        self.runner_is_ours = runner_id is not None
        self._runner_id = runner_id
        self.confined = confined
        self._delivery: Delivery | None = None
        self._terminated = False
        self._polls = 0
        self._prepared = False
        self._python = ""

    def run(self) -> int:
        """Works until it is told to stop; returns the exit status."""
        signal.signal(signal.SIGTERM, self._terminate)
        status = 1
        try:
            from roost_executor import linux

            linux.set_dumpable(False)
            if self._runner_id is not None:
                linux.become_subreaper()  # what a killed runner leaves behind comes to us
            self._start()
            while True:
                self._take_work()
        except Leave as leave:
            status = leave.status
            if str(leave):
                print(f"roost sidecar: {leave}", file=sys.stderr, flush=True)
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            self.end_processes()
        return status

    def _start(self) -> None:
        shared = self._sockets != self.directory
        listener = sockets.listen(os.path.join(self._sockets, "runner.sock"), 1, shared)
        self.store_listener = sockets.listen(os.path.join(self._sockets, "store.sock"), 64, shared)
        with open(self._token_file, encoding="ascii") as file:
            token = file.read().strip()
            # Whatever else it may be (a device, a pipe) isn't ours to remove.
            removable = stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        try:
            if removable:
                os.unlink(self._token_file)
        except OSError:
            pass  # a read-only mount
        self.address = Address(self._url, token, self._ca_file)
        self.link = Link(self.address)
        self._pause = Pause()
        self.trouble = Trouble(self.address.place)
        self.link.prepare()
        self.runner = self._await_runner(listener)
        listener.close()

    def _await_runner(self, listener: socket.socket) -> RunnerConnection:
        while not select.select([listener], [], [], 0.1)[0]:
            self.look_around()
        connection, _ = listener.accept()
        runner = RunnerConnection(connection)
        while not self._python:
            lines = runner.receive()
            if lines is None:
                raise Leave(1, f"the runner has gone: {self.runner_fate()}")
            for line in lines:
                self._python = json.loads(line)["python"]
        return runner

    def _take_work(self) -> None:
        """One poll, and what comes of it."""
        self._polls += 1
        question = {
            "protocol": PROTOCOL,
            "polls": self._polls,
            "python": self._python,
            "prepared": self._prepared,
        }
        path = f"/internal/v1/executors/{self._executor_id}/poll?wait={POLL_WAIT_SECONDS}"
        try:
            body = json.dumps(question).encode()
            self.link.send(path, body, "application/json", POLL_WAIT_SECONDS + ANSWER_SECONDS)
            self._wait(POLL_WAIT_SECONDS + ANSWER_SECONDS, True)
            answer = self.link.receive()
        except self.address.errors as error:
            self.link.close()
            self.trouble.failed(error)
            self._wait(self._pause.next())
            return
        token = answer.headers.get("roost-token")
        if token:
            self.address.token = token
        if answer.status in (200, 204):
            self._pause.reset()
            self.trouble.well()
        if answer.status == 200:
            self._execute(answer)
        elif answer.status == 204:
            return
        elif answer.status == 410:
            raise Leave(0)
        elif answer.status in REFUSED:
            raise Leave(1, f"the control plane refused this executor ({of_answer(answer)}){detail_of(answer)}")
        else:
            self.trouble.failed(answer)
            self._wait(self._pause.next())

    def _execute(self, answer: Answer) -> None:
        truncate_when_large(1)
        try:
            work = json.loads(answer.body)
        except ValueError:
            self.trouble.failed("work that isn't JSON")
            self._wait(self._pause.next())
            return
        # The answer goes on as it came, so that a payload of some MiB isn't written anew.
        text = answer.body.replace(b"\n", b" ").replace(b"\r", b" ")
        delivery = self._delivery = Delivery(self, work)
        self.runner.send(b'{"type": "execute", "work": ' + text + b"}\n")
        delivery.run()
        self._delivery = None
        if self._terminated:
            raise Leave(TERMINATED, "the pod was told to end")
        self._prepared = True
        if delivery.runner_lost:
            raise Leave(1, "the runner has gone")
        if delivery.refused:
            raise Leave(1, "the control plane refused this executor")

    def _wait(self, seconds: float, for_answer: bool = False) -> None:
        """Waits for an answer or for time to pass, and leaves when the runner or the directory has gone."""
        end = time.monotonic() + seconds
        readers: list[Any] = [self.runner.socket]
        if for_answer:
            readers.append(self.link.socket)
        while True:
            remaining = end - time.monotonic()
            if remaining <= 0:
                return
            ready = select.select(readers, [], [], min(remaining, LOOK_SECONDS))[0]
            if self.runner.socket in ready and self.runner.receive() is None:
                raise Leave(1, f"the runner has gone: {self.runner_fate()}")
            if for_answer and self.link.socket in ready:
                return
            if not ready:
                self.look_around()

    def look_around(self) -> None:
        """Leaves when the directory has gone, or a runner that hasn't connected yet."""
        if not os.path.isdir(self.directory):
            raise Leave(1, "the executor's directory has gone")
        if self._runner_id is not None and not self._python:
            ended, status = os.waitpid(self._runner_id, os.WNOHANG)
            if ended:
                self._runner_id = None
                raise Leave(1, f"the runner didn't start: {_fate(status)}")

    @property
    def runner_process(self) -> "int | None":
        """The runner's process id; None when it has ended, or is in another container."""
        return self._runner_id

    def kill_runner(self) -> None:
        """Ends the runner, or the connection to it: one that comes back later ends then."""
        if self._runner_id is not None:
            os.kill(self._runner_id, signal.SIGKILL)  # it isn't reaped yet, so the number is still its own
        self.runner.socket.close()

    def runner_fate(self) -> str:
        """How the runner ended, for people."""
        if self._runner_id is None:
            return "its connection closed"
        for _ in range(1000):
            try:
                ended, status = os.waitpid(self._runner_id, os.WNOHANG)
            except ChildProcessError:
                break
            if ended:
                self._runner_id = None
                return _fate(status)
            time.sleep(0.001)
        return "its connection closed"

    def _terminate(self, *_: object) -> None:
        """Ends at once. Not by an exception: one that hits a destructor is swallowed by Python.

        In a pod the runner has got the signal too, and what it still has to say is waited for.
        """
        if self._delivery is not None and not self.runner_is_ours:
            if not self._terminated:
                self._delivery.give_up_at = time.monotonic() + DELIVERY_AFTER_SIGTERM_SECONDS
            self._terminated = True
            return
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        self.end_processes()
        os._exit(TERMINATED)

    def end_processes(self) -> None:
        """Kills the runner, if it is ours, and all that it has left behind."""
        from roost_executor.processes import reap
        from roost_executor.temporary import unlink_temporary

        reap()
        unlink_temporary()


def _fate(status: int) -> str:
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        name = signal.Signals(number).name if number < signal.SIGRTMIN else f"signal {number}"
        hint = " (the kernel does that when memory runs out)" if number == signal.SIGKILL else ""
        return f"it was killed by {name}{hint}"
    return f"it ended with status {os.WEXITSTATUS(status)}"
