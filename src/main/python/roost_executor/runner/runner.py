"""The runner: takes work from the sidecar, forks for each execution, never runs user code itself."""

import contextlib
import json
import os
import select
import signal
import socket
import sys
import time
from typing import Any

from roost_executor.files import truncate_when_large
from roost_executor.runner.sink import Sink
from roost_executor.watch import HEARTBEAT, HEARTBEAT_SECONDS, continue_process, is_stopped
from roost_executor.wire.sockets import LineReader, connect

# Above this much unsent output the script's pipes aren't read: the script waits, the limits don't.
CONGESTION_BYTES = 4 * 1024 * 1024
RECEIVE_BYTES = 1024 * 1024
CONNECT_SECONDS = 120.0
CONNECT_PAUSE_SECONDS = 0.002
LONGEST_CONNECT_PAUSE_SECONDS = 0.1
# A pod is killed 30 s after its SIGTERM: the rest of that time is for the delivery of the frames.
LONGEST_GRACE_SECONDS = 20.0
FLUSH_SECONDS = 5.0
# Of the sidecar: a script may have stopped it just before its end.
CHECKS_AFTER_EXECUTION = 3


class Runner:
    """One runner, for one agent revision. Single-threaded, so that a fork copies nothing half-done."""

    def __init__(
        self,
        directory: str,
        sockets: str,
        parent: "int | None" = None,
        clean: "tuple[str, ...]" = (),
        own: "tuple[str, ...]" = (),
    ) -> None:
        """`directory`: this runner's own; `sockets`: where the sidecar listens; `clean`, `own`: see `Directories`.

        `parent`: the sidecar's process id when it has started this runner, which then doesn't wait
        for one that has ended before it listened. Without it this is a pod's container.
        """
        self._directory = directory
        self._sockets = sockets
        self._parent = parent
        self._clean = clean
        self._own = own
        self._agent: dict[str, Any] | None = None
        self._script: Any = None
        self._settings: Any = None
        # The script of the execution that runs, if that isn't the agent's.
        self._draft: Any = None
        # Waits for the work of the next execution.
        self._spare: Any = None
        self._execution: Any = None
        # Takes the place of an execution if the agent has several in one process.
        self._shared: Any = None
        self._drafts = 0
        self._memory_mib = 0
        self._lines = LineReader()
        self._stopped = False
        self._terminated = False
        self._flush_by: float | None = None
        self._heartbeat_at = 0.0
        self._checks_left = 0

    def run(self) -> int:
        """Serves the sidecar until it exits; returns the exit status."""
        connection = self._connect()
        if connection is None:
            return 1
        self._connection = connection
        self._sidecar = Sink(connection.fileno())
        self._output = Sink(1)
        self._sidecar.write(
            json.dumps({"type": "hello", "python": sys.version.split()[0].rstrip("+")}).encode() + b"\n"
        )
        self._warm_up()
        try:
            self._serve()
        finally:
            from roost_executor.processes import reap
            from roost_executor.temporary import unlink_temporary

            reap()
            unlink_temporary()
        return 128 + signal.SIGTERM if self._terminated else 0

    def _connect(self) -> "socket.socket | None":
        path = os.path.join(self._sockets, "runner.sock")
        pause = CONNECT_PAUSE_SECONDS
        deadline = time.monotonic() + CONNECT_SECONDS
        while self._parent in (None, os.getppid()) and os.path.isdir(self._directory):
            try:
                return connect(path)
            except OSError as error:
                if self._parent is None and time.monotonic() > deadline:
                    # In a pod nothing else shows that the sidecar's container has ended.
                    print(f"roost runner: no sidecar for {CONNECT_SECONDS:g} s: {error}", file=sys.stderr, flush=True)
                    return None
                time.sleep(pause)
                pause = min(pause * 1.2, LONGEST_CONNECT_PAUSE_SECONDS)
        return None

    def _warm_up(self) -> None:
        """Imports once what every execution needs, after the first line, while the sidecar polls for work."""
        import gc

        from roost_executor import linux
        from roost_executor.runner import execution, script_process, template
        from roost_executor.runner.directories import Directories

        self._execution_class = execution.Execution
        self._script_process_class = script_process.ScriptProcess
        self._preloading = template.Preloading(self._send_preloaded, self._close_in_child, in_pod=self._parent is None)
        linux.set_dumpable(False)
        linux.become_subreaper()
        # Kubernetes passes the address of its API server to each pod; libraries then assume that they may use it.
        private = ("ROOST_",) if self._parent is not None else ("ROOST_", "KUBERNETES_")
        linux.remove_variables(private)
        self._directories = Directories(self._directory, self._clean, self._own)
        self._put_interpreter_on_path()
        # Python processes that the script starts would keep their output until they end.
        os.environ.setdefault("PYTHONUNBUFFERED", "1")
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        if null:
            os.close(null)
        self._wake_reader, self._wake_writer = os.pipe()
        os.set_blocking(self._wake_reader, False)
        os.set_blocking(self._wake_writer, False)
        signal.set_wakeup_fd(self._wake_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.signal(signal.SIGTERM, self._on_terminate)
        gc.collect()
        # A collection in a child would otherwise touch, and so copy, every page it shares.
        gc.freeze()

    @staticmethod
    def _put_interpreter_on_path() -> None:
        """The commands that the requirements install are beside the interpreter."""
        commands = os.path.dirname(sys.executable)
        path = os.environ.get("PATH", os.defpath)
        if commands not in path.split(os.pathsep):
            os.environ["PATH"] = commands + os.pathsep + path

    def _on_terminate(self, *_: object) -> None:
        self._terminated = True

    def _serve(self) -> None:
        while not self._sidecar.broken:
            if self._terminated:
                self._shut_down()
            if self._stopped:
                break
            execution = self._execution
            timeout = None if execution is None else execution.tick()
            if execution is not None and execution.ended:
                self._execution_ended()
                continue
            is_busy = self._is_busy()
            if not is_busy and self._checks_left:
                timeout = HEARTBEAT_SECONDS
            if (is_busy or self._checks_left) and time.monotonic() >= self._heartbeat_at:
                self._check_sidecar()
            if self._flush_by is not None:
                timeout = max(0.0, self._flush_by - time.monotonic())
            loading = self._preloading.tick()
            if loading is not None:
                timeout = loading if timeout is None else min(timeout, loading)
            for descriptor, _ in self._wait(timeout):
                self._handle(descriptor)

    def _is_busy(self) -> bool:
        """Whether an execution runs."""
        return self._execution is not None and (self._shared is None or self._shared.is_busy)

    def _check_sidecar(self) -> None:
        self._heartbeat_at = time.monotonic() + HEARTBEAT_SECONDS
        if not self._is_busy():
            self._checks_left -= 1
        else:
            self._checks_left = CHECKS_AFTER_EXECUTION
            if not self._sidecar.waiting_bytes:
                self._sidecar.write(HEARTBEAT)
        if self._parent is not None and is_stopped(self._parent):
            continue_process(self._parent)

    def _shut_down(self) -> None:
        """On SIGTERM: in a pod the script gets its grace period, and its output is passed on first."""
        if self._parent is not None:
            self._stopped = True
        elif self._is_busy():
            from roost_executor.runner import outcome

            stop = self._execution.stop if self._shared is None else self._shared.stop_all
            stop(outcome.pod_ended(), LONGEST_GRACE_SECONDS)
        elif not (self._sidecar.waiting_bytes or self._output.waiting_bytes):
            self._stopped = True
        elif self._flush_by is None:
            self._flush_by = time.monotonic() + FLUSH_SECONDS
        elif time.monotonic() >= self._flush_by:
            self._stopped = True

    def _wait(self, seconds: "float | None") -> "list[tuple[int, int]]":
        # A poll object needs no descriptor of its own that a child would have to close.
        poll = select.poll()
        waiting = self._sidecar.waiting_bytes
        poll.register(self._connection, select.POLLIN | (select.POLLOUT if waiting else 0))
        poll.register(self._wake_reader, select.POLLIN)
        if self._output.waiting_bytes:
            poll.register(1, select.POLLOUT)
        if self._preloading.connection is not None:
            poll.register(self._preloading.connection, select.POLLIN)
        execution = self._execution
        if execution is not None and waiting + self._output.waiting_bytes < CONGESTION_BYTES:
            for descriptor in execution.descriptors:
                poll.register(descriptor, select.POLLIN)
        return poll.poll(None if seconds is None else int(seconds * 1000) + 1)

    def _handle(self, descriptor: int) -> None:
        execution = self._execution
        if descriptor == self._connection.fileno():
            self._sidecar.flush()
            self._receive()
        elif descriptor == 1:
            self._output.flush()
        elif descriptor == self._wake_reader:
            os.read(descriptor, 4096)
            if execution is not None:
                execution.on_child_ended()
            else:
                from roost_executor import processes

                ended: list[tuple[int, int, float, int]] = []
                processes.collect(ended)  # the first process of a container inherits every orphan
                for process, *_ in ended:
                    self._preloading.ended(process)
                if self._settings is not None and not self._terminated:
                    self._make_spare()  # a template that has ended while it was loading makes none
        elif execution is not None and descriptor in execution.descriptors:
            execution.on_readable(descriptor)
        elif self._preloading.connection is not None and descriptor == self._preloading.connection.fileno():
            self._preloading.receive()
            self._make_spare()
        if execution is not None and execution.ended:
            self._execution_ended()

    def _receive(self) -> None:
        try:
            data = self._connection.recv(RECEIVE_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._stopped = True  # the sidecar has exited: no result could be delivered
            return
        for line in self._lines.feed(data):
            self._handle_command(json.loads(line))

    def _handle_command(self, command: "dict[str, Any]") -> None:
        from roost_executor.runner import outcome

        execution = self._execution
        if command["type"] == "execute" and command["work"].get("agent") is not None and self._shared is None:
            self._take_agent(command["work"]["agent"], command.get("bundle"))
        if command["type"] == "execute":
            self._ask_for_schemas(command["work"])
        if self._shared is not None:
            self._handle_shared(command)
        elif command["type"] == "execute":
            self._execute(command["work"])
        elif execution is not None and command["execution_id"] == execution.id:
            if command["type"] == "cancel":
                execution.stop(outcome.cancelled())
            else:
                execution.kill(outcome.cancelled())

    def _ask_for_schemas(self, work: "dict[str, Any]") -> None:
        """Lets the first execution that isn't a draft's report what the type hints of main say."""
        wanted = work.get("draft") is None and self._agent is not None and self._agent.get("reports_schemas", False)
        work["reports_schemas"] = wanted
        if wanted:
            self._agent = {**(self._agent or {}), "reports_schemas": False}

    def _handle_shared(self, command: "dict[str, Any]") -> None:
        from roost_executor.runner import outcome

        if command["type"] == "execute":
            self._execute_shared(command["work"], command["socket"])
            return
        execution = self._shared.find(command["execution_id"])
        if execution is not None:
            # Killing it at once would end the others in its process.
            execution.stop(outcome.cancelled())

    def _execute_shared(self, work: "dict[str, Any]", store_socket: str) -> None:
        from roost_executor.files import BUSY_OUTPUT_FILE_LIMIT, OUTPUT_FILE_LIMIT
        from roost_executor.runner import outcome

        truncate_when_large(1, BUSY_OUTPUT_FILE_LIMIT if self._shared.is_busy else OUTPUT_FILE_LIMIT)
        prefix = work["execution_id"].encode() + b" "
        if self._terminated:
            self._send_unstarted(outcome.pod_ended(), prefix)
            return
        try:
            work["store_socket"] = os.path.join(self._sockets, store_socket)
            self._heartbeat_at = time.monotonic() + HEARTBEAT_SECONDS
            self._checks_left = CHECKS_AFTER_EXECUTION
            self._shared.begin(work, self._shared_draft(work.get("draft")))
        except OSError as error:
            self._send_unstarted(outcome.not_started(error), prefix)

    def _shared_draft(self, text: "str | None") -> Any:
        """A draft of which others may run beside it."""
        from roost_executor.runner import directories
        from roost_executor.script.script import Script

        if text is None:
            return None
        self._drafts += 1
        directory = os.path.join(self._directory, f"{directories.DRAFT}-{self._drafts}")
        return Script(directory, text, self._script.bundle, is_draft=True)

    def _fork_shared(self, script: Any) -> Any:
        """A process for several executions. Raises OSError."""
        from roost_executor.script.shared_child import SharedChild

        self._directories.prepare()
        settings = self._settings._replace(script=script)
        is_own = script is self._script
        return self._script_process_class.forked(settings, self._close_in_child, prepare=is_own, child=SharedChild)

    def _execute(self, work: "dict[str, Any]") -> None:
        from roost_executor.runner import outcome

        truncate_when_large(1)
        if self._terminated:
            self._send_unstarted(outcome.pod_ended())
            return
        process = None
        try:
            self._prepare(work)
            process = self._script_process() if self._draft is None else self._draft_process()
            self._heartbeat_at = time.monotonic() + HEARTBEAT_SECONDS
            self._checks_left = CHECKS_AFTER_EXECUTION
            self._execution = self._execution_class(
                work,
                self._draft or self._script,
                self._directories,
                process,
                self._preloading,
                self._sidecar.write,
                self._output.write,
                may_teach=self._draft is None,
            )
        except OSError as error:
            if process is not None:
                process.close()
            self._drop_draft()
            self._send_unstarted(outcome.not_started(error))

    def _prepare(self, work: "dict[str, Any]") -> None:
        if self._agent is None:
            raise OSError("the script has not arrived")
        self._memory_mib = work["memory_mib"]
        if work.get("draft") is not None:
            self._take_draft(work["draft"])
        elif self._spare is None:  # otherwise that was done before it was forked, and nothing has run since
            self._script.restore()
            self._directories.prepare()

    def _take_agent(self, agent: "dict[str, Any]", bundle: "dict[str, Any] | None") -> None:
        """`bundle`: where the files of the agent's project are, if it has any."""
        from roost_executor.runner import directories
        from roost_executor.script.child import Settings
        from roost_executor.script.script import Bundle, Script

        self._agent = agent
        files = None if bundle is None else Bundle(os.path.realpath(bundle["directory"]), bundle["script"])
        self._script = Script(os.path.join(self._directory, directories.SCRIPT), agent["script"], files)
        self._directories.link_entries_of(None if files is None else files.directory)
        store_socket = os.path.join(self._sockets, "store.sock")
        self._settings = Settings(self._script, agent["env_vars"], self._directories.work, store_socket)
        self._preloading.begin(agent)
        if agent.get("requests_per_process", 1) > 1:
            from roost_executor.runner.shared import SharedProcesses

            self._execution = self._shared = SharedProcesses(
                agent["requests_per_process"],
                self._fork_shared,
                self._script,
                self._directories,
                self._sidecar.write,
                self._output.write,
            )
        if "asyncio" in agent["script"] or "async def main" in agent["script"]:
            import asyncio  # noqa: F401 - 40 ms once instead of in each execution
            import gc

            gc.freeze()

    def _take_draft(self, text: str) -> None:
        """Makes this script that of the next execution alone. Raises OSError."""
        from roost_executor.runner import directories
        from roost_executor.script.script import Script

        directory = os.path.join(self._directory, directories.DRAFT)
        self._draft = Script(directory, text, self._script.bundle, is_draft=True)
        self._draft.restore()
        self._directories.prepare()

    def _draft_process(self) -> Any:
        """A fork of the runner: the waiting process and the template are the agent's script's. Raises OSError."""
        if self._spare is not None:
            self._spare.close()
            self._spare = None
        settings = self._settings._replace(script=self._draft)
        return self._script_process_class.forked(settings, self._close_in_child, prepare=False)

    def _drop_draft(self) -> None:
        if self._draft is not None:
            self._draft.remove_copy()
            self._draft = None

    def _script_process(self) -> Any:
        """A process for the next execution. Raises OSError."""
        from roost_executor.runner.template import FORK_SECONDS

        spare, self._spare = self._spare or self._preloading.fork(self._settings), None
        if spare is not None:
            if spare.is_ready(FORK_SECONDS):
                return spare
            spare.close()
            if spare.from_template:
                self._preloading.drop()
        return self._script_process_class.forked(self._settings, self._close_in_child)

    def _execution_ended(self) -> None:
        self._execution = None
        self._drop_draft()
        if not (self._terminated or self._stopped):
            self._preloading.start(self._settings, self._memory_mib)
            self._make_spare()

    def _make_spare(self) -> None:
        """Has a process ready for the next execution, so that it needn't be forked and set up then."""
        if self._execution is not None or self._spare is not None or self._preloading.is_loading:
            return
        with contextlib.suppress(OSError):
            self._script.restore()
            self._directories.prepare()
            self._spare = self._preloading.fork(self._settings) or self._script_process_class.forked(
                self._settings, self._close_in_child
            )

    def _close_in_child(self) -> None:
        self._connection.close()
        os.close(self._wake_reader)
        os.close(self._wake_writer)
        if self._preloading.connection is not None:
            self._preloading.connection.close()

    def _send_preloaded(self, report: "dict[str, Any]") -> None:
        self._sidecar.write(json.dumps({"type": "preloaded", "report": report}).encode() + b"\n")

    def _send_unstarted(self, fields: "dict[str, Any]", prefix: bytes = b"") -> None:
        """The only frame of an execution that wasn't forked. `prefix`: of its line."""
        from roost_executor.wire.clock import time_text

        frame = {
            "seq": 1,
            **fields,
            "time": time_text(),
            "logs_truncated": False,
            "usage": {"cpu_seconds": 0.0, "max_memory_bytes": 0},
        }
        self._sidecar.write(prefix + json.dumps(frame).encode() + b"\n")
