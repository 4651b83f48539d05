"""Preloaded imports, seen from the runner: what a template imports, and whether there is one to fork from."""

import contextlib
import json
import os
import signal
import socket
import sys
import time
from typing import Any, Callable

from roost_executor.linux import anonymous_file
from roost_executor.processes import is_below
from roost_executor.runner.script_process import ScriptProcess, prepare_sandbox
from roost_executor.script.child import Settings
from roost_executor.script.imports import is_name

MESSAGE_BYTES = 64 * 1024
# Less isn't worth a process that stays.
LEAST_SECONDS = 0.005
# For one module with what it imports; and for all of them, if the template itself does not give up before.
MODULE_SECONDS = 30.0
LOADING_SECONDS = 90.0
# For the fork of a template that is there.
FORK_SECONDS = 5.0
MOST_FAILURES = 3
MOST_LEFT_OUT = 1000
# Of a pod's memory beside the script's, what a template may take while an execution has used up its own.
SPARE_BYTES = 32 * 1024 * 1024


class Preloading:
    """The template of this runner's revision, if there is one, and when there is.

    Nothing here fails an execution: without a template, the runner forks from itself.
    """

    def __init__(
        self, report: "Callable[[dict[str, Any]], None]", close_in_child: "Callable[[], None]", in_pod: bool
    ) -> None:
        """`report`: takes what the control plane keeps with the revision. `in_pod`: see `make_room`."""
        self._report = report
        self._in_pod = in_pod
        self._memory_bytes = 0
        self._close_in_child = close_in_child
        self._agent: dict[str, Any] = {}
        self._modules: list[str] | None = None
        self._left_out: list[dict[str, str]] = []
        # Those of them that the next executor shall try again: this machine was slow, or its memory full.
        self._may_pass: set[str] = set()
        self._failures = 0
        self._enabled = False
        self._received = False
        self._ready = False
        self._connection: socket.socket | None = None
        self._process = 0
        self._all: set[int] = set()
        self._trial = 0
        self._module_deadline = 0.0
        self._loading_deadline = 0.0
        self._late: set[int] = set()

    def begin(self, agent: "dict[str, Any]") -> None:
        """Takes the agent's setting, and what earlier executors have learnt."""
        self._agent = agent
        preload = agent.get("preload")
        self._enabled = preload is not None
        if preload is not None and preload.get("modules") is not None:
            self._modules = [name for name in preload["modules"] if is_name(name)]
            self._received = True

    @property
    def learns(self) -> bool:
        """Whether the next execution reports what its script imports."""
        return self._enabled and self._modules is None

    def learn(self, imports: "dict[str, Any]") -> None:
        """Takes such a report. Raises ValueError, TypeError or KeyError if a script has made it up."""
        seconds = float(imports["seconds"])
        modules = [name for name in imports["modules"] if is_name(name)]
        if not self.learns:
            return
        self._modules = modules if seconds >= LEAST_SECONDS else []
        if not self._modules:
            self._send_report(0.0, 0, [])

    @property
    def is_loading(self) -> bool:
        """Whether a template is importing."""
        return self._connection is not None and not self._ready

    @property
    def connection(self) -> "socket.socket | None":
        """What to wait on for messages of the template."""
        return self._connection

    def processes(self) -> "frozenset[int]":
        """The children of the runner that are the template's."""
        self.receive()
        return frozenset(self._all)

    def ended(self, process: int) -> bool:
        """Takes note that a child of the runner has ended; returns whether it was the template's."""
        self.receive()
        if process not in self._all:
            return False
        self._all.discard(process)  # the number may become another process's
        if process == self._process:
            self._process = 0
            self.drop()
        return True

    def fork(self, settings: Settings) -> "ScriptProcess | None":
        """A process forked from the template; None if there is none now."""
        if not self._ready or self._connection is None:
            return None
        if not prepare_sandbox(settings):
            self._end()  # a file that executions may read has been replaced since
            return None
        _signal(self._process, signal.SIGCONT)  # an execution may have stopped it
        try:
            return ScriptProcess.from_template_at(self._connection)
        except OSError:
            self.drop()
            return None

    def make_room(self, used_bytes: int, limit_bytes: int) -> None:
        """Ends the template when what it doesn't share any more could bring an execution to the pod's limit.

        An execution that writes to the pages that it shares with the template gets copies of them, so the memory of the
        pod holds both. Where there is no pod, nothing but the execution's own memory is limited.
        """
        if self._in_pod and self._ready and used_bytes + self._memory_bytes > limit_bytes + SPARE_BYTES:
            self.drop()

    def start(self, settings: Settings, memory_mib: int) -> None:
        """Starts a template unless there is one, or the next execution shows what it imports; now there is none.

        Also without modules to import, a template spares the runner the faults of all the pages that both would write
        to after a fork, and executions most of their own set-up.
        """
        if self.learns or self._connection is not None or self._failures >= MOST_FAILURES:
            return
        prepare_sandbox(settings)
        connection, other_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        parent = os.getpid()
        try:
            process = os.fork()
        except OSError:
            connection.close()
            other_end.close()
            self._failures += 1
            return
        if process == 0:
            try:
                self._close_in_child()
                connection.close()
                self._run(settings, parent, other_end, memory_mib)
            finally:
                os._exit(70)
        other_end.close()
        connection.setblocking(False)
        self._connection = connection
        self._process = process
        self._all = {process}
        self._left_out = []
        self._may_pass.clear()
        self._trial = 0
        self._late.clear()
        self._module_deadline = self._loading_deadline = time.monotonic() + LOADING_SECONDS

    def _run(self, settings: Settings, parent: int, connection: socket.socket, memory_mib: int) -> None:
        from roost_executor.script.template import Template

        files = [anonymous_file(settings.directory) for _ in range(3)]
        Template(settings, parent, connection, (files[0], files[1], files[2]), memory_mib).run(self._modules or [])

    def receive(self) -> None:
        """Takes what the template has said."""
        while self._connection is not None:
            try:
                message = self._connection.recv(MESSAGE_BYTES)
            except BlockingIOError:
                return
            except OSError:
                message = b""
            if not message:
                self.drop()
                return
            try:
                self._take(json.loads(message))
            except (ValueError, KeyError, TypeError):
                self.drop()  # a package has got hold of the connection
                return

    def _take(self, message: "dict[str, Any]") -> None:
        kind = message["type"]
        if kind == "trying":
            self._trial = int(message["process"])
            self._module_deadline = time.monotonic() + MODULE_SECONDS
        elif kind == "process":
            # It may have handed over to the next one since.
            self._process = int(message["process"])
            self._all.add(self._process)
            self._trial = 0
        elif kind == "left_out":
            reason = str(message["reason"])
            if self._trial in self._late:
                reason = f"takes longer than {MODULE_SECONDS:g} s"
            module = str(message["module"])
            if message["may_pass"]:
                self._may_pass.add(module)
            if len(self._left_out) < MOST_LEFT_OUT:
                self._left_out.append({"module": module, "reason": reason})
            self._trial = 0
        elif kind == "failed":
            # In the log of the container, or the local runtime's agent.log.
            print(f"roost runner: the template failed: {message['reason']!r}", file=sys.stderr, flush=True)
        elif kind == "ready":
            self._ready = True
            self._memory_bytes = int(message["memory_bytes"])
            packages = [name for name in message["packages"] if is_name(name)]
            if self._modules:
                self._send_report(float(message["import_seconds"]), self._memory_bytes, packages)

    def tick(self) -> "float | None":
        """Ends an import that takes too long; returns the seconds until the next one does, if there is one."""
        if not self.is_loading:
            return None
        now = time.monotonic()
        if now >= self._loading_deadline:
            self._failures = MOST_FAILURES
            self.drop()
            return None
        if self._trial and now >= self._module_deadline and self._trial not in self._late:
            self._late.add(self._trial)
            _signal(self._trial, signal.SIGKILL)
        due = [self._loading_deadline]
        if self._trial and self._trial not in self._late:
            due.append(self._module_deadline)
        return max(0.0, min(due) - now)

    def drop(self) -> None:
        """Ends the template; a new one is started later, unless that has failed too often."""
        if self._connection is None:
            return
        self._failures += 1
        self._end()

    def _end(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = None
        self._ready = False
        for process in (self._trial, self._process):
            _signal(process, signal.SIGKILL)
        self._trial = 0

    def _send_report(self, import_seconds: float, memory_bytes: int, packages: "list[str]") -> None:
        if self._received and not self._left_out:
            return  # the control plane knows it already
        left_out = {item["module"] for item in self._left_out} - self._may_pass

        def is_left_out(name: str) -> bool:
            parts = name.split(".")
            return any(".".join(parts[:count]) in left_out for count in range(1, len(parts) + 1))

        self._report(
            {
                "revision": self._agent["revision"],
                "import_seconds": import_seconds,
                "modules": [name for name in self._modules or () if not is_left_out(name)],
                "packages": packages,
                "left_out": self._left_out,
                "memory_bytes": memory_bytes,
            }
        )


def _signal(process: int, number: int) -> None:
    """Signals a process of the template, whose number has come from the template."""
    if process and is_below(process, os.getpid()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, number)
