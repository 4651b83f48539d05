"""One execution, seen from the sidecar: from the order to the acknowledgement of its last frame."""

import json
import os
import select
import time
from typing import TYPE_CHECKING, Any

from roost_executor.clock import time_text
from roost_executor.link import Answer, Pause
from roost_executor.spool import Spool
from roost_executor.watch import HEARTBEAT, Watch

if TYPE_CHECKING:
    from roost_executor.heartbeat import Heartbeat
    from roost_executor.sidecar import Sidecar

BATCH_SECONDS = 0.02
HEARTBEAT_AFTER_SECONDS = 0.5
ANSWER_SECONDS = 30.0
# A return value that hasn't arrived by then is printed, in case this process ends before it arrives.
PRINT_SECONDS = 1.0
LOOK_SECONDS = 1.0
LAST = ("returned", "failed")
ALIVE = HEARTBEAT.rstrip()


class Delivery:
    """Takes the runner's frames and sends them until the last one is acknowledged.

    One thread waits for the runner, for answers and for stores at once; so the frames of a script
    that goes on while the control plane is away are taken, and nothing has to be handed over.
    """

    def __init__(self, sidecar: "Sidecar", work: "dict[str, Any]") -> None:
        from roost_executor.store_server import StoreServer

        self._sidecar = sidecar
        self._id: str = work["execution_id"]
        self._path = f"/internal/v1/executions/{self._id}/frames"
        self._spool = Spool(sidecar.directory, self._id)
        self._stores = StoreServer(sidecar.address, sidecar.runner_process if sidecar.confined else None)
        self._stores.begin(work)
        self._pause = Pause()
        self._watch = Watch(sidecar.runner_process)
        self._heartbeat: Heartbeat | None = None
        self._heartbeat_at = time.monotonic() + HEARTBEAT_AFTER_SECONDS
        self._send_at: float | None = None
        self._in_flight = False
        self._answer_by = 0.0
        self._sequence = 0
        # The frame that holds the return value, until it is acknowledged or printed.
        self._value: bytes | None = None
        self._print_at = 0.0
        self._complete = False
        self._dropped = False
        self._cancelled = False
        self.give_up_at = float("inf")
        self.runner_lost = False
        self.refused = False

    def run(self) -> None:
        """Returns when the control plane has everything, or wants nothing of it any more."""
        try:
            while time.monotonic() < self.give_up_at and not (self._complete and (self._dropped or not self._spool)):
                self._step()
        finally:
            self._stores.end()
            if not self._dropped:
                self._print_value()
            if self._heartbeat is not None:
                self._heartbeat.stop()
            self._spool.close()
            if self._in_flight:
                self._sidecar.link.close()

    def cancel(self) -> None:
        """Stops the script. Any thread may call it."""
        if not self._cancelled:
            self._cancelled = True
            self._order("cancel")

    def kill(self) -> None:
        """Ends the script at once and forgets its frames. Any thread may call it."""
        if not self._dropped:
            self._dropped = True
            self._order("kill")

    def _order(self, kind: str) -> None:
        order = json.dumps({"type": kind, "execution_id": self._id})
        self._sidecar.runner.send(order.encode() + b"\n")

    def _step(self) -> None:
        now = time.monotonic()
        if self._value is not None and now >= self._print_at:
            self._print_value()
        if self._send_at is not None and now >= self._send_at and not self._in_flight:
            self._send()
        readers: list[Any] = [self._sidecar.store_listener]
        if not (self.runner_lost or self._spool.full):
            readers.append(self._sidecar.runner.socket)
        answer = self._sidecar.link.socket if self._in_flight else None
        if answer is not None:
            readers.append(answer)
        ready = select.select(readers, [], [], self._timeout())[0]
        if self._sidecar.runner.socket in ready:
            self._watch.heard()
            self._take_frames()
        self._watch_runner()
        if answer is not None and answer in ready:
            self._take_answer()
        elif self._in_flight and time.monotonic() > self._answer_by:
            self._sidecar.link.close()
            self._send_later("frames were not acknowledged in time")
        if self._sidecar.store_listener in ready:
            self._stores.accept(self._sidecar.store_listener)
        if not ready:
            self._sidecar.look_around()
        if self._heartbeat is None and not self._complete and time.monotonic() >= self._heartbeat_at:
            from roost_executor.heartbeat import Heartbeat

            self._heartbeat = Heartbeat(self._sidecar.address, self._id, self.cancel, self.kill)

    def _timeout(self) -> float:
        now = time.monotonic()
        due = [now + LOOK_SECONDS]
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
            self._watch.heard()  # nobody listens
            return
        reason = self._watch.look()
        if reason is not None:
            self._sidecar.kill_runner()
            self._runner_has_gone(reason)

    def _take_frames(self) -> None:
        lines = self._sidecar.runner.receive()
        if lines is None:
            self._runner_has_gone()
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
            self._print_at = time.monotonic() + (0 if self.give_up_at < float("inf") else PRINT_SECONDS)
        elif frame["type"] != "log":
            self._print(line)
        self._complete = self._complete or last
        if self._dropped:
            return
        self._spool.append(frame["seq"], line)
        if last:
            self._send_at = time.monotonic()  # and whatever waits goes with it
        elif self._send_at is None:
            self._send_at = time.monotonic() + BATCH_SECONDS

    def _runner_has_gone(self, given_up: "str | None" = None) -> None:
        """`given_up`: why the sidecar has ended it, or the connection to one in another container."""
        self.runner_lost = True
        if self._complete:
            return
        if given_up is None and not self._sidecar.runner_is_ours:
            # The control plane sees how the runner's container has ended, and why, better than we do.
            self._complete = True
            return
        fate = self._sidecar.runner_fate() if given_up is None else given_up
        self._sidecar.end_processes()
        frame = {
            "seq": self._sequence + 1,
            "type": "failed",
            "time": time_text(),
            "state": "lost",
            "reason": "executor_lost",
            "message": f"the executor's runner {'has gone' if given_up is None else 'was given up'}: {fate}",
            "error": None,
            "logs_truncated": False,
            "usage": {"cpu_seconds": 0.0, "max_memory_bytes": 0},
        }
        self._add(frame, json.dumps(frame).encode() + b"\n")

    def _send(self) -> None:
        self._send_at = None
        if self._dropped or not self._spool:
            return
        _, lines = self._spool.batch()
        try:
            self._sidecar.link.send(self._path, lines, "application/x-ndjson", ANSWER_SECONDS)
            self._in_flight = True
            self._answer_by = time.monotonic() + ANSWER_SECONDS
        except self._sidecar.address.errors as error:
            self._send_later(error)

    def _send_later(self, cause: object) -> None:
        self._sidecar.trouble.failed(cause)
        self._print_value()
        self._in_flight = False
        self._send_at = time.monotonic() + self._pause.next()

    def _take_answer(self) -> None:
        try:
            answer = self._sidecar.link.receive()
        except self._sidecar.address.errors as error:
            self._send_later(error)
            return
        self._in_flight = False
        if answer.status == 200:
            self._acknowledged(answer)
        elif answer.status in (404, 409):
            self.kill()
        elif answer.status in (400, 401, 403, 413):
            # A frame that is refused today is refused tomorrow: better to end than to send it for ever.
            self._sidecar.trouble.failed(answer)
            self._print_value()
            self.refused = True
            self.kill()
        else:
            self._send_later(answer)

    def _acknowledged(self, answer: Answer) -> None:
        try:
            content = json.loads(answer.body)
            progress = self._spool.acknowledge(int(content["acknowledged"]))
        except (ValueError, KeyError, TypeError):
            self._send_later("an acknowledgement that can't be read")
            return
        if content.get("cancel"):
            self.cancel()
        if not progress:
            self._send_later("frames were not acknowledged")  # no reason to hurry
            return
        self._pause.reset()
        self._sidecar.trouble.well()
        if not self._spool:
            self._value = None
        if self._spool and (self._complete or self._spool.over_a_batch):
            self._send_at = time.monotonic()
        elif self._spool and self._send_at is None:
            self._send_at = time.monotonic() + BATCH_SECONDS

    def _print_value(self) -> None:
        """Prints the frame with the return value, if it is still there: if all else fails it is found in the log."""
        line, self._value = self._value, None
        if line is not None:
            self._print(line)

    def _print(self, line: bytes) -> None:
        data = memoryview(b'{"execution_id": "%s", "frame": %s}\n' % (self._id.encode(), line.rstrip()))
        try:
            while data:
                data = data[os.write(1, data) :]
        except OSError:
            pass  # standard output is closed: the first way home is still there
