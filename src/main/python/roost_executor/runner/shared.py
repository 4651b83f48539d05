"""Several executions at a time in one process, seen from the runner (the agent's `requests_per_process`).

An execution that doesn't end when it is cancelled, as in a loop that doesn't await, can only be ended with its process.
Then the others in it are lost, and tried again like those of an executor that is lost.
"""

import contextlib
import os
import signal
import time
from typing import Any, Callable

from roost_executor import processes
from roost_executor.files import read_system_file, remove_tree
from roost_executor.runner import outcome
from roost_executor.runner.directories import Directories
from roost_executor.runner.execution import (
    DISK_INTERVAL_SECONDS,
    MEMORY_INTERVAL_SECONDS,
    READ_BYTES,
    RECORD_OVERHEAD_BYTES,
)
from roost_executor.runner.frames import LOG_PAUSE_SECONDS, Frames
from roost_executor.runner.lines import LineSplitter, text_of
from roost_executor.runner.script_process import ScriptProcess
from roost_executor.script.script import Script
from roost_executor.wire import control
from roost_executor.wire.clock import time_text

STREAMS = {control.STDOUT: "stdout", control.STDERR: "stderr"}
# What a process keeps of suspended executions ends with it: after so many for each place, another one takes over.
SUSPENDED_FOR_EACH_PLACE = 2
# What an execution ends with that was cancelled.
CANCELLED_ERROR = "asyncio.exceptions.CancelledError"
# Only its own output is checked while a process has no execution.
IDLE_SECONDS = 1.0


class SharedExecution(Frames):
    """One execution in a `SharedProcess`."""

    def __init__(
        self,
        work: "dict[str, Any]",
        process: "SharedProcess",
        number: int,
        send: "Callable[[bytes], None]",
        show: "Callable[[bytes], None]",
    ) -> None:
        """`number`: its own in the process."""
        prefix = work["execution_id"].encode() + b" "
        super().__init__(work, lambda frame: send(prefix + frame), show)
        self.process = process
        self.number = number
        self.outcome: dict[str, Any] | None = None
        self.kill_at: float | None = None
        self.peak_bytes = 0
        self._cpu_before = process.cpu_seconds()
        self.deadline = time.monotonic() + work["timeout_seconds"]
        work["deadline"] = time.time() + work["timeout_seconds"]
        work["directory"] = process.directory

    def stop(self, why: "dict[str, Any]", longest_grace: float = float("inf")) -> None:
        """Cancels its task now; its process is killed after the grace period (seconds). The first `why` counts."""
        kill_at = time.monotonic() + min(self._limits["grace_seconds"], longest_grace)
        if self.kill_at is not None:
            self.kill_at = min(self.kill_at, kill_at)
        else:
            self.outcome = self.outcome or why
            self.kill_at = kill_at
            self.process.cancel(self.number)

    def tick(self, now: float) -> float:
        """Sends what is due and enforces its timeout; returns the time of the next call, at the latest."""
        if self._log_since is not None and now - self._log_since >= LOG_PAUSE_SECONDS:
            self._send_log()
        if now >= self.deadline:
            self.stop(outcome.timed_out(self._work["timeout_seconds"]))
        due = [self.deadline if self.kill_at is None else self.kill_at]
        if self._log_since is not None:
            due.append(self._log_since + LOG_PAUSE_SECONDS)
        return min(due)

    def on_record(self, process: int, record: bytes) -> None:
        """Takes a record. Raises ValueError, KeyError or TypeError for bytes that no channel wrote."""
        kind = record[:1]
        if kind in (control.LOG, control.LOG_MORE):
            self._feed_record(process, record)
        elif kind in STREAMS:
            self._log.feed(STREAMS[kind], record[1:], 0 if process == self.process.id else process)
        elif kind == control.ENTERED and process == self.process.id:
            self._send_started(record)
        elif kind == control.ENDED and process == self.process.id:
            self._on_end(control.content_of(record))
            return
        self._send_log_if_large()

    def _on_end(self, record: "dict[str, Any]") -> None:
        fields = self.outcome or outcome.of_record(record, False, self._work["memory_mib"])
        if self.outcome is None or (record.get("error") or {}).get("type") != CANCELLED_ERROR:
            self._feed_printed(record)
        self.finish(fields)

    def finish(self, fields: "dict[str, Any]") -> None:
        """Sends the last frame."""
        self.process.executions.pop(self.number, None)
        if fields["type"] == "suspended":
            self.process.suspended += 1
        self.peak_bytes = max(self.peak_bytes, self.process.used_bytes)
        self._send_last(fields, max(0.0, self.process.cpu_seconds() - self._cpu_before), self.peak_bytes)


class SharedProcess:
    """A process and the executions in it."""

    def __init__(
        self,
        process: ScriptProcess,
        script: Script,
        directory: str,
        limits: "dict[str, Any]",
        show: "Callable[[bytes], None]",
    ) -> None:
        """`directory`: its working directory. `show` takes lines of its output that no execution has written."""
        self.id = process.process
        self.directory = directory
        self.descriptors = process.readers
        self.executions: dict[int, SharedExecution] = {}
        self.suspended = 0
        # Whether it gets no more executions.
        self.is_retired = False
        self.status: int | None = None
        self.used_bytes = 0
        self.kernel_kills = outcome.kernel_kills()
        self.script = script
        self._process = process
        self._awaits_code = script.code is None
        self._show = show
        self._last_number = 0
        self._cpu_seconds = 0.0
        self._records = control.Records(6 * limits["return_value_bytes"] + RECORD_OVERHEAD_BYTES)
        self._lines = {stream: LineSplitter(limits["log_line_bytes"]) for stream in ("stdout", "stderr")}

    def begin(
        self,
        work: "dict[str, Any]",
        send: "Callable[[bytes], None]",
        show: "Callable[[bytes], None]",
        directory: str,
    ) -> None:
        """Gives it the work of another execution. `directory`: for a file. Raises OSError."""
        self._last_number += 1
        execution = SharedExecution(work, self, self._last_number, send, show)
        self._process.begin_shared(execution.number, work, directory)
        self.executions[execution.number] = execution

    def cancel(self, number: int) -> None:
        """Cancels one of its executions."""
        self._process.cancel_shared(number)

    def cpu_seconds(self) -> float:
        """What it has used so far, of all executions together."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = read_system_file(f"/proc/{self.id}/stat").rpartition(b")")[2].split()
            self._cpu_seconds = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        return self._cpu_seconds

    def on_readable(self, descriptor: int) -> None:
        """Reads what is there, up to 256 KiB."""
        try:
            data = os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            return
        self._take(descriptor, data)

    def drain(self) -> None:
        """Reads what is left, when its processes have ended."""
        for descriptor in list(self.descriptors):
            while descriptor in self.descriptors:
                try:
                    data = os.read(descriptor, READ_BYTES)
                except BlockingIOError:
                    data = b""
                self._take(descriptor, data)
        for stream, splitter in self._lines.items():
            self._show_lines(stream, splitter.end())

    def close(self) -> None:
        """Closes the connections."""
        self._process.close()

    def _take(self, descriptor: int, data: bytes) -> None:
        stream = self.descriptors[descriptor]
        if not data:
            del self.descriptors[descriptor]
            os.close(descriptor)
        elif stream == "control":
            for process, record in self._records.feed(data):
                self._on_record(process, record)
        else:
            self._show_lines(stream, self._lines[stream].feed(data))

    def _show_lines(self, stream: str, lines: Any) -> None:
        text = "".join(
            f"[{time_text()} process {self.id} {stream}{'+' if continued else ''}] {text_of(line)}\n"
            for line, continued in lines
        )
        if text:
            self._show(text.encode())

    def _on_record(self, process: int, record: bytes) -> None:
        kind = record[:1]
        first, self._awaits_code = self._awaits_code, False
        try:
            if kind == control.CODE:
                if first:
                    self.script.take_code(record[1:])
            elif kind == control.TAGGED:
                number, inner = control.tagged_of(record)
                execution = self.executions.get(number)
                if inner[:1] == control.RETIRED:
                    self.is_retired = True
                elif execution is not None:
                    execution.on_record(process, inner)
        except (ValueError, TypeError, KeyError, OverflowError, OSError):
            pass  # not written by a Channel: the script has found the pipe


class SharedProcesses:
    """The processes of a runner whose agent has several executions in each.

    There is one that takes executions, and maybe others whose last ones are running.
    """

    def __init__(
        self,
        places: int,
        fork: "Callable[[Script], ScriptProcess]",
        script: Script,
        directories: Directories,
        send: "Callable[[bytes], None]",
        show: "Callable[[bytes], None]",
    ) -> None:
        """`places`: how many executions a process takes. `fork` raises OSError."""
        self._places = places
        self._fork = fork
        self._script = script
        self._directories = directories
        self._send = send
        self._show = show
        self._processes: list[SharedProcess] = []
        self._started = 0
        self._memory_mib = 0
        self._limits: dict[str, Any] = {}
        self._next_memory = 0.0
        self._next_disk = 0.0
        # Of a runner's single execution: this goes on.
        self.ended = False

    @property
    def is_busy(self) -> bool:
        """Whether an execution runs."""
        return any(process.executions for process in self._processes)

    @property
    def descriptors(self) -> "dict[int, str]":
        """To wait for."""
        return {fd: stream for process in self._processes for fd, stream in process.descriptors.items()}

    def begin(self, work: "dict[str, Any]", draft: "Script | None" = None) -> None:
        """Runs another execution. Raises OSError. `draft`: runs in a process of its own."""
        self._memory_mib = work["memory_mib"]
        self._limits = work["limits"]
        work["places"] = self._places
        process = None if draft is not None else self._open_process()
        if process is None:
            process = self._start(draft or self._script)
            process.is_retired = draft is not None
        process.begin(work, self._send, self._show, self._directories.work)

    def _open_process(self) -> "SharedProcess | None":
        for process in self._processes:
            if not process.is_retired and process.status is None:
                return process
        return None

    def _start(self, script: Script) -> SharedProcess:
        self._started += 1
        script.restore()
        directory = self._directories.begin(f"process-{self._started}")
        process = SharedProcess(self._fork(script), script, directory, self._limits, self._show)
        if not self._processes:
            self._next_memory = self._next_disk = time.monotonic()
        self._processes.append(process)
        return process

    def find(self, execution_id: str) -> "SharedExecution | None":
        """A running execution."""
        for process in self._processes:
            for execution in process.executions.values():
                if execution.id == execution_id:
                    return execution
        return None

    def stop_all(self, why: "dict[str, Any]", longest_grace: float) -> None:
        """See `SharedExecution.stop`."""
        for process in self._processes:
            for execution in list(process.executions.values()):
                execution.stop(why, longest_grace)

    def on_readable(self, descriptor: int) -> None:
        """Reads from that one of `descriptors`."""
        for process in self._processes:
            if descriptor in process.descriptors:
                process.on_readable(descriptor)
                break
        self._end_idle()

    def on_child_ended(self) -> None:
        """Collects children that have ended; with a process, all of its executions have."""
        ended: list[tuple[int, int, float, int]] = []
        processes.collect(ended)
        for process_id, status, _, peak_bytes in ended:
            for process in self._processes:
                if process.id == process_id:
                    process.status = status
                    process.used_bytes = max(process.used_bytes, peak_bytes)
        for process in [each for each in self._processes if each.status is not None]:
            self._end(process, None)

    def tick(self) -> "float | None":
        """Enforces the limits that are due; returns the seconds until the next one is; None if none is."""
        now = time.monotonic()
        due = []
        for process in list(self._processes):
            for execution in list(process.executions.values()):
                due.append(execution.tick(now))
                if execution.kill_at is not None and now >= execution.kill_at:
                    self._end(process, execution)
                    break
        if self._processes and now >= self._next_memory:
            self._check_memory()
            self._next_memory = time.monotonic() + (MEMORY_INTERVAL_SECONDS if self.is_busy else IDLE_SECONDS)
        if self._processes and now >= self._next_disk:
            self._check_disk()
        if self._processes:
            due.append(self._next_memory)
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _end_idle(self) -> None:
        """Ends processes that take no more executions, or keep what suspended ones have left."""
        for process in list(self._processes):
            if process.suspended >= SUSPENDED_FOR_EACH_PLACE * self._places:
                process.is_retired = True
            if not process.executions and (process.is_retired or process.suspended):
                self._end(process, None)

    def _check_memory(self) -> None:
        limit = self._limits["processes"]
        found = processes.descendants(most=limit)
        if len(found) > limit:
            self._end_all(outcome.too_many_processes(len(found), limit))
            return
        used = processes.resident_bytes(found)
        limit_bytes = self._memory_mib * outcome.MEBIBYTE
        if used > limit_bytes:
            # Memory that forks share was counted once for each: look closer before killing.
            proportional = processes.proportional_bytes(found)
            used = used if proportional is None else proportional
        for process in self._processes:
            process.used_bytes = used
            for execution in process.executions.values():
                execution.peak_bytes = max(execution.peak_bytes, used)
        if used > limit_bytes:
            self._end_all(outcome.out_of_memory(used, self._memory_mib))

    def _check_disk(self) -> None:
        started = time.monotonic()
        used = self._directories.used_bytes()
        now = time.monotonic()
        self._next_disk = now + max(DISK_INTERVAL_SECONDS, 20 * (now - started))
        if used > self._limits["disk_mib"] * outcome.MEBIBYTE:
            self._end_all(outcome.out_of_disk(used, self._limits["disk_mib"]))

    def _end_all(self, why: "dict[str, Any]") -> None:
        for process in list(self._processes):
            for execution in process.executions.values():
                execution.outcome = execution.outcome or why
            self._end(process, None)

    def _end(self, process: SharedProcess, culprit: "SharedExecution | None") -> None:
        """Ends a process, and all executions in it. `culprit`: the one for which it must be killed, if that is why."""
        self._processes.remove(process)
        process.cpu_seconds()
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.id, signal.SIGKILL)
        if process.status is None:
            for process_id, status, _, peak_bytes in processes.reap_one(process.id):
                if process_id == process.id:
                    process.status = status
                    process.used_bytes = max(process.used_bytes, peak_bytes)
        if not self._processes:
            processes.reap()
        process.drain()
        process.close()
        killed = outcome.kernel_kills() > process.kernel_kills
        for execution in list(process.executions.values()):
            if execution.outcome is not None:
                execution.finish(execution.outcome)
            elif culprit is not None:
                execution.finish(outcome.lost_with(culprit.id))
            else:
                execution.finish(outcome.of_status(process.status or 0, killed, self._memory_mib))
        if process.script is not self._script:
            process.script.remove_copy()
        if self._processes:
            remove_tree(process.directory)
        else:
            self._directories.end(process.directory)
