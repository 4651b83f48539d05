"""One execution, seen from the sidecar: from its start to the acknowledgement of its last frame."""

import json
import math
import os
import select
import socket
import time
from typing import TYPE_CHECKING, Any, Callable

from roost_executor.sidecar.link import Link, Pause, Response
from roost_executor.sidecar.outages import OutageLog
from roost_executor.sidecar.runner_process import RunnerProcess, end_processes
from roost_executor.sidecar.spool import Spool
from roost_executor.watch import HEARTBEAT, Watch
from roost_executor.wire.clock import time_text

if TYPE_CHECKING:
    from roost_executor.sidecar.heartbeat import Heartbeat

BATCH_SECONDS = 0.02
HEARTBEAT_AFTER_SECONDS = 0.5
RESPONSE_SECONDS = 30.0
# A return value that hasn't arrived by then is printed, in case this process ends before it arrives.
PRINT_SECONDS = 1.0
CHECK_SECONDS = 1.0
LAST = ("returned", "failed", "suspended")
ALIVE = HEARTBEAT.rstrip()


def ready_of(readers: "list[Any]", seconds: float) -> "list[Any]":
    """Those of the sockets that are readable, within that time. Their descriptors may be of any number."""
    poll = select.poll()
    by_descriptor = {reader.fileno(): reader for reader in readers}
    for descriptor in by_descriptor:
        poll.register(descriptor, select.POLLIN)
    return [by_descriptor[descriptor] for descriptor, _ in poll.poll(math.ceil(seconds * 1000))]


class Delivery:
    """Takes the runner's frames and sends them until the last one is acknowledged.

    One thread waits for the runner, for responses and for stores at once, so frames are taken also while the
    control plane is away, and no data passes between threads.
    """

    # Whether the script's process goes on when the execution has ended.
    disconnects = False

    def __init__(
        self,
        work: "dict[str, Any]",
        directory: str,
        runner: RunnerProcess,
        link: Link,
        outages: OutageLog,
        store_listener: socket.socket,
        confined: bool,
        check: "Callable[[], None]",
    ) -> None:
        """`check`: called about once a second. The others: see `Sidecar`."""
        from roost_executor.sidecar.store_server import StoreServer

        self.runner = self._runner = runner
        self.link = self._link = link
        self._outages = outages
        self._store_listener = store_listener
        self._check = check
        self._id: str = work["execution_id"]
        self._path = f"/internal/v1/executions/{self._id}/frames"
        self._spool = Spool(directory, self._id)
        self._stores = StoreServer(link.address, runner.process_id if confined else None)
        self._stores.begin(work)
        self._pause = Pause()
        self._watch = Watch(runner.process_id)
        self._heartbeat: Heartbeat | None = None
        self._heartbeat_at = time.monotonic() + HEARTBEAT_AFTER_SECONDS
        self._send_at: float | None = None
        self._in_flight = False
        self._response_by = 0.0
        self._sequence = 0
        # The frame that holds the return value, until it is acknowledged or printed.
        self._value: bytes | None = None
        self._print_at = 0.0
        self._complete = False
        self._dropped = False
        self._cancelled = False
        self.deadline = float("inf")
        self.runner_lost = False
        self.refused = False

    def run(self) -> None:
        """Returns when the control plane has acknowledged the last frame, or has refused the execution's frames."""
        try:
            while time.monotonic() < self.deadline and not (self._complete and (self._dropped or not self._spool)):
                self._step()
        finally:
            self._stores.end(self.disconnects)
            if not self._dropped:
                self._print_value()
            if self._heartbeat is not None:
                self._heartbeat.stop()
            self._spool.close()
            if self._in_flight:
                self._link.close()

    def fail(self, fields: "dict[str, Any]") -> None:
        """Ends the execution, which the runner doesn't get, or doesn't run any more, with a last frame."""
        frame = {
            "seq": self._sequence + 1,
            "time": time_text(),
            **fields,
            "logs_truncated": False,
            "usage": {"cpu_seconds": 0.0, "max_memory_bytes": 0},
        }
        self._add(frame, json.dumps(frame).encode() + b"\n")

    def terminate(self, deadline: float) -> None:
        """Gives up then (monotonic time)."""
        self.deadline = deadline

    def cancel(self) -> None:
        """Stops the script. Any thread may call it."""
        if not self._cancelled:
            self._cancelled = True
            self._command("cancel")

    def kill(self) -> None:
        """Ends the script at once and forgets its frames. Any thread may call it."""
        if not self._dropped:
            self._dropped = True
            self._command("kill")

    def _command(self, kind: str) -> None:
        command = json.dumps({"type": kind, "execution_id": self._id})
        self._runner.send(command.encode() + b"\n")

    def _step(self) -> None:
        now = time.monotonic()
        if self._value is not None and now >= self._print_at:
            self._print_value()
        if self._send_at is not None and now >= self._send_at and not self._in_flight:
            self._send()
        readers: list[Any] = [self._store_listener]
        if not (self.runner_lost or self._spool.full):
            readers.append(self._runner.socket)
        response = self._link.socket if self._in_flight else None
        if response is not None:
            readers.append(response)
        ready = ready_of(readers, self._timeout())
        if self._runner.socket in ready:
            self._watch.reset()
            self._take_frames()
        self._watch_runner()
        if response is not None and response in ready:
            self._take_response()
        elif self._in_flight and time.monotonic() > self._response_by:
            self._link.close()
            self._send_later("frames were not acknowledged in time")
        if self._store_listener in ready:
            self._stores.accept(self._store_listener)
        if not ready:
            self._check()
        if self._heartbeat is None and not self._complete and time.monotonic() >= self._heartbeat_at:
            from roost_executor.sidecar.heartbeat import Heartbeat

            self._heartbeat = Heartbeat(self._link.address, self._id, self.cancel, self.kill)

    def _timeout(self) -> float:
        now = time.monotonic()
        due = [now + CHECK_SECONDS]
        if self._send_at is not None and not self._in_flight:
            due.append(self._send_at)
        if self._heartbeat is None and not self._complete:
            due.append(self._heartbeat_at)
        if self._value is not None:
            due.append(self._print_at)
        return max(0.0, min(due) - now)

    def _watch_runner(self) -> None:
        if self.runner_lost or self._complete:
            return
        if self._spool.full:
            self._watch.reset()  # its frames aren't read
            return
        reason = self._watch.check()
        if reason is not None:
            self._runner.kill()
            self._runner_exited(reason)

    def _take_frames(self) -> None:
        lines = self._runner.receive()
        if lines is None:
            self._runner_exited(self._runner.kill_reason)
            return
        for line in lines:
            if line == ALIVE:
                continue
            self._add(json.loads(line), line + b"\n")

    def _add(self, frame: "dict[str, Any]", line: bytes) -> None:
        self._sequence = frame["seq"]
        last = frame["type"] in LAST
        if frame["type"] == "returned":
            self._value = line
            self._print_at = time.monotonic() + (0 if self.deadline < float("inf") else PRINT_SECONDS)
        elif frame["type"] != "log":
            self._print(line)
        self._complete = self._complete or last
        if self._dropped:
            return
        self._spool.append(frame["seq"], line)
        if last:
            self._send_at = time.monotonic()  # with all frames that wait
        elif self._send_at is None:
            self._send_at = time.monotonic() + BATCH_SECONDS

    def _runner_exited(self, kill_reason: "str | None" = None) -> None:
        """`kill_reason`: why the sidecar killed it, or closed the connection to one in another container."""
        self.runner_lost = True
        if self._complete:
            return
        if kill_reason is None and not self._runner.is_child:
            # The control plane knows from Kubernetes how the runner's container ended, and why.
            self._complete = True
            return
        cause = self._runner.exit_text() if kill_reason is None else kill_reason
        self._end_processes()
        end = "exited" if kill_reason is None else "was killed"
        self.fail(
            {
                "type": "failed",
                "state": "lost",
                "reason": "executor_lost",
                "message": f"the executor's runner {end}: {cause}",
                "error": None,
            }
        )

    def _end_processes(self) -> None:
        end_processes()

    def _send(self) -> None:
        self._send_at = None
        if self._dropped or not self._spool:
            return
        _, lines = self._spool.batch()
        try:
            self._link.send(self._path, lines, "application/x-ndjson", RESPONSE_SECONDS)
            self._in_flight = True
            self._response_by = time.monotonic() + RESPONSE_SECONDS
        except self._link.address.errors as error:
            self._send_later(error)

    def _send_later(self, cause: object) -> None:
        self._outages.failed(cause)
        self._print_value()
        self._in_flight = False
        self._send_at = time.monotonic() + self._pause.next()

    def _take_response(self) -> None:
        try:
            response = self._link.receive()
        except self._link.address.errors as error:
            self._send_later(error)
            return
        self._in_flight = False
        if response.status == 200:
            self._acknowledged(response)
        elif response.status in (404, 409):
            self.kill()
        elif response.status in (400, 401, 403, 413):
            # A frame that is refused once is refused always: sending it again would never end.
            self._outages.failed(response)
            self._print_value()
            self.refused = True
            self.kill()
        else:
            self._send_later(response)

    def _acknowledged(self, response: Response) -> None:
        try:
            content = json.loads(response.body)
            progress = self._spool.acknowledge(int(content["acknowledged"]))
        except (ValueError, KeyError, TypeError):
            self._send_later("an acknowledgement that can't be read")
            return
        if content.get("cancel"):
            self.cancel()
        if not progress:
            self._send_later("frames were not acknowledged")
            return
        self._pause.reset()
        self._outages.succeeded()
        if not self._spool:
            self._value = None
        if self._spool and (self._complete or self._spool.over_a_batch):
            self._send_at = time.monotonic()
        elif self._spool and self._send_at is None:
            self._send_at = time.monotonic() + BATCH_SECONDS

    def _print_value(self) -> None:
        """Prints the frame with the return value, once: the control plane reads the log as a fallback."""
        line, self._value = self._value, None
        if line is not None:
            self._print(line)

    def _print(self, line: bytes) -> None:
        data = memoryview(b'{"execution_id": "%s", "frame": %s}\n' % (self._id.encode(), line.rstrip()))
        try:
            while data:
                data = data[os.write(1, data) :]
        except OSError:
            pass  # standard output is closed: the frame is still sent
