"""One execution, seen from the runner: the fork, its output, its limits, its end."""

import contextlib
import os
import signal
import time
from typing import Any, Callable

from roost_executor import processes
from roost_executor.runner import outcome
from roost_executor.runner.directories import Directories
from roost_executor.runner.frames import LOG_PAUSE_SECONDS, Frames
from roost_executor.runner.script_process import ScriptProcess
from roost_executor.runner.template import Preloading
from roost_executor.script.script import Script
from roost_executor.wire import control

READ_BYTES = 256 * 1024
MEMORY_INTERVAL_SECONDS = 0.1
DISK_INTERVAL_SECONDS = 1.0
RECORD_OVERHEAD_BYTES = control.MOST_CODE_BYTES + 1024 * 1024


class Execution(Frames):
    """Gives the work to the script's process and follows that to its last frame.

    The runner calls `on_readable` when one of `descriptors` has something, `on_child_ended` when
    children may have ended, and `tick` at the latest after the seconds that the last `tick` returned.
    """

    def __init__(
        self,
        work: "dict[str, Any]",
        script: Script,
        directories: Directories,
        process: ScriptProcess,
        preloading: Preloading,
        send: "Callable[[bytes], None]",
        show: "Callable[[bytes], None]",
        may_teach: bool = True,
    ) -> None:
        """`send` takes frames (JSON lines), `show` readable log lines. Raises OSError if it can't start.

        `may_teach`: what the script imports may be preloaded for later executions.
        """
        super().__init__(work, send, show)
        self._script = script
        # Nothing foreign has run in a process that isn't a template's, before it sends the code.
        self._awaits_code = script.code is None and not process.from_template
        self._preloading = preloading
        self._outcome: dict[str, Any] | None = None
        self._record: dict[str, Any] | None = None
        self._kill_at: float | None = None
        self._status: int | None = None
        self._cpu_seconds = 0.0
        self._peak_bytes = 0
        self.ended = False
        self._records = control.Records(6 * self._limits["return_value_bytes"] + RECORD_OVERHEAD_BYTES)
        self._kernel_kills = outcome.kernel_kills()
        self._directories = directories
        self._directory = directories.begin(self.id)
        self.descriptors = process.readers
        work["deadline"] = time.time() + work["timeout_seconds"]
        work["directory"] = self._directory
        self._may_teach = may_teach
        work["reports_imports"] = may_teach and preloading.learns
        self._started = time.monotonic()
        self._deadline = self._started + work["timeout_seconds"]
        self._next_memory = self._started + MEMORY_INTERVAL_SECONDS
        self._next_disk = self._started + DISK_INTERVAL_SECONDS
        self._script_process = process
        self._process = process.process
        process.begin(work, directories.work)

    def on_readable(self, descriptor: int) -> None:
        """Reads what is there, up to 256 KiB."""
        try:
            data = os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            return
        stream = self.descriptors[descriptor]
        if not data:
            del self.descriptors[descriptor]
            os.close(descriptor)
        elif stream == "control":
            for process, record in self._records.feed(data):
                self._on_record(process, record)
        else:
            self._log.feed(stream, data)
        self._send_log_if_large()
        if self._record is not None and not self.ended:
            self._finish()

    def on_child_ended(self) -> None:
        """Collects children that have ended; ends the execution when the script's own is among them."""
        ended: list[tuple[int, int, float, int]] = []
        processes.collect(ended)
        self._count(ended)
        if self._status is not None and not self.ended:
            self._finish()

    def stop(self, why: "dict[str, Any]", longest_grace: float = float("inf")) -> None:
        """SIGTERM now, SIGKILL after the grace period (seconds); the frame holds the first `why`."""
        kill_at = time.monotonic() + min(self._limits["grace_seconds"], longest_grace)
        if self._kill_at is not None:
            self._kill_at = min(self._kill_at, kill_at)
        elif not self.ended:
            self._outcome = why
            self._kill_at = kill_at
            try:
                os.killpg(self._process, signal.SIGTERM)
            except ProcessLookupError:
                # The child may not have come as far as leading a group.
                processes.signal_all([self._process], signal.SIGTERM)

    def kill(self, why: "dict[str, Any]") -> None:
        """Ends everything at once."""
        if not self.ended:
            self._outcome = self._outcome or why
            self._finish()

    def tick(self) -> float:
        """Enforces the limits that are due; returns the seconds until the next one is."""
        now = time.monotonic()
        if self._log_since is not None and now - self._log_since >= LOG_PAUSE_SECONDS:
            self._send_log()
        if now >= self._deadline:
            self.stop(outcome.timed_out(self._work["timeout_seconds"]))
        if self._kill_at is not None and now >= self._kill_at:
            self._finish()
            return 0.0
        if now >= self._next_memory:
            self._check_processes()
            self._next_memory = time.monotonic() + MEMORY_INTERVAL_SECONDS
        if not self.ended and now >= self._next_disk:
            self._check_disk()
        due = [self._next_memory]
        if self._outcome is None:
            due.append(self._deadline)
        if self._kill_at is not None:
            due.append(self._kill_at)
        if self._log_since is not None:
            due.append(self._log_since + LOG_PAUSE_SECONDS)
        return max(0.0, min(due) - time.monotonic())

    def _check_processes(self) -> None:
        limit = self._limits["processes"]
        found = processes.descendants(most=limit, keep=self._preloading.processes)
        if len(found) > limit:
            self.kill(outcome.too_many_processes(len(found), limit))
            return
        used = processes.resident_bytes(found)
        limit_mib = self._work["memory_mib"]
        if used > limit_mib * outcome.MEBIBYTE:
            # Memory that forks share was counted once for each: look closer before killing.
            proportional = processes.proportional_bytes(found)
            used = used if proportional is None else proportional
        self._peak_bytes = max(self._peak_bytes, used)
        self._preloading.make_room(used, limit_mib * outcome.MEBIBYTE)
        if used > limit_mib * outcome.MEBIBYTE:
            self.kill(outcome.out_of_memory(used, limit_mib))

    def _check_disk(self) -> None:
        started = time.monotonic()
        used = self._directories.used_bytes()
        now = time.monotonic()
        # A directory of a million files takes long to add up: spend at most a twentieth of the time on it.
        self._next_disk = now + max(DISK_INTERVAL_SECONDS, 20 * (now - started))
        if used > self._limits["disk_mib"] * outcome.MEBIBYTE:
            self.kill(outcome.out_of_disk(used, self._limits["disk_mib"]))

    def _on_record(self, process: int, record: bytes) -> None:
        kind = record[:1]
        first, self._awaits_code = self._awaits_code, False
        try:
            if kind == control.CODE:
                if first:
                    self._script.take_code(record[1:])
            elif kind in (control.LOG, control.LOG_MORE):
                self._feed_record(process, record)
            elif kind == control.ENTERED and process == self._process:
                self._send_started(record)
            elif kind == control.IMPORTED and process == self._process and self._may_teach:
                self._preloading.learn(control.content_of(record))
            elif kind == control.ENDED and process == self._process and self._record is None:
                self._record = control.content_of(record)
        except (ValueError, TypeError, KeyError, OverflowError, OSError):
            pass  # not written by a Channel: the script has found the pipe

    def _count(self, ended: "list[tuple[int, int, float, int]]") -> None:
        for process, status, cpu_seconds, peak_bytes in ended:
            if self._preloading.ended(process):
                continue
            self._cpu_seconds += cpu_seconds
            if process == self._process:
                self._status = status
                self._peak_bytes = max(self._peak_bytes, peak_bytes)

    def _finish(self) -> None:
        """Ends all that is left, reads what it has written, sends the last frame."""
        self.ended = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process, signal.SIGKILL)
        if self._status is None:
            # It has nothing left to do, or has been killed: this takes no time.
            self._count(processes.reap_one(self._process))
        self._count(processes.reap(keep=self._preloading.processes))
        # What a leftover wrote without end is no more than the pipes hold: all writers are dead.
        for descriptor in list(self.descriptors):
            self._drain(descriptor)
        self._script_process.close()
        self._send_last(self._final(), self._cpu_seconds, self._peak_bytes)
        self._directories.end(self._directory)

    def _drain(self, descriptor: int) -> None:
        while descriptor in self.descriptors:
            before = self._log.pending_bytes
            try:
                data = os.read(descriptor, READ_BYTES)
            except BlockingIOError:
                data = b""
            stream = self.descriptors[descriptor]
            if not data:
                del self.descriptors[descriptor]
                os.close(descriptor)
            elif stream == "control":
                for process, record in self._records.feed(data):
                    self._on_record(process, record)
            else:
                self._log.feed(stream, data)
            if self._log.pending_bytes != before:
                self._send_log_if_large()

    def _final(self) -> "dict[str, Any]":
        memory_mib = self._work["memory_mib"]
        if self._record is not None:
            self._feed_printed(self._record)
        if self._outcome is not None:
            return self._outcome
        record = self._record
        kernel_killed = (record is None or "value" not in record) and outcome.kernel_kills() > self._kernel_kills
        if record is not None:
            return outcome.of_record(record, kernel_killed, memory_mib)
        return outcome.of_status(self._status or 0, kernel_killed, memory_mib)
