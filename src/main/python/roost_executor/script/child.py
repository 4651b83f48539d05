"""The script's process: from the fork to the result."""

import atexit
import contextlib
import datetime  # noqa: F401 - imported once, for the times of every request
import gc
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from roost_executor import sandbox
from roost_executor.linux import await_parent, die_with_parent, flush_c_streams, set_dumpable
from roost_executor.script.calling import arguments_of, exited, returned
from roost_executor.script.failures import ScriptFailure, failure_of
from roost_executor.script.imports import Imports
from roost_executor.script.output import (
    PipeSync,
    flush_streams,
    set_up_logging,
    text_stream,
    watch_for_processes,
)
from roost_executor.script.script import Script, call, code_bytes, compiled, find_main, import_script
from roost_executor.script.step_errors import ReplayDiverged
from roost_executor.script.steps import Steps
from roost_executor.script.stream import Stream, StreamError
from roost_executor.script.type_hints import type_hints
from roost_executor.script.waits import Waits
from roost_executor.wire.control import ENDED, ENTERED, IMPORTED, Channel
from roost_executor.wire.work import Ends, receive_work

if TYPE_CHECKING:
    from roost_executor.script.randomness import Unseeded

MEBIBYTE = 1024 * 1024


class Settings(NamedTuple):
    """What all executions of a runner have in common."""

    script: Script
    variables: "dict[str, str]"
    # What their working directories are in.
    directory: str
    store_socket: str


@contextlib.contextmanager
def _ending() -> "Iterator[None]":
    """Ends this process at the end of the block."""
    try:
        yield
    except BaseException as error:
        try:
            os.write(2, f"roost: {type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(70)
    finally:
        os._exit(0)


class Child:
    """The process of one execution, which waits for its work with all set up that needn't wait."""

    def __init__(self, settings: Settings, parent: int) -> None:
        """`parent`: the runner's process id."""
        self._settings = settings
        self._parent = parent
        self._script = settings.script
        self._work: dict[str, Any] = {}

    def run(self, ends: Ends) -> None:
        """In a fork of the runner: sets itself up, runs the script, ends this process."""
        with _ending():
            os.setsid()
            die_with_parent(self._parent)
            set_dumpable(True)  # or its own /proc would belong to root
            self.set_up(ends.outputs)
            self._serve(ends)

    def run_in_fork(self, ends: Ends, placeholders: "tuple[int, int, int]", unseeded: "Unseeded") -> None:
        """In a fork of a template, where `set_up` has been called with `placeholders`: runs the script, as `run`."""
        with _ending():
            os.setsid()
            await_parent(self._parent)
            set_dumpable(True)
            gc.enable()
            for end, placeholder in zip(ends.outputs, placeholders):
                os.dup2(end, placeholder, inheritable=False)
                os.close(end)
            os.dup2(placeholders[0], 1)
            os.dup2(placeholders[1], 2)
            unseeded.seed()
            self._serve(ends)

    def set_up(self, outputs: "tuple[int, int, int]") -> None:
        """Makes this process the script's as far as that doesn't depend on the work. `outputs`: as in `Ends`."""
        self._reset_signals()
        output, errors, control = outputs
        os.dup2(output, 1)
        os.dup2(errors, 2)
        # `random` seeds itself anew after a fork; standard input is /dev/null since the runner's start.
        self._expect_kill()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for name, value in self._settings.variables.items():
            os.environ[name] = value
        time.tzset()
        os.chdir(self._settings.directory)
        sys.path[:0] = self._script.import_paths
        sys.dont_write_bytecode = True
        sys.argv = [self._script.file.path]
        sandbox.confine_script(self._script.readable, self._settings.directory)
        # A new module, or `multiprocessing` with spawn would run the executor's in each child.
        sys.modules["__main__"] = ModuleType("__main__")
        self._channel = self._redirect(output, errors, control)

    @staticmethod
    def _reset_signals() -> None:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())

    @staticmethod
    def _expect_kill() -> None:
        # When memory runs out, the kernel kills the script and not the runner, which reports it.
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "wb", buffering=0) as file:
            file.write(b"1000")

    def limit_memory(self, memory_mib: int) -> None:
        """Bounds the data of this process, far above what the runner allows all of them together."""
        limit_bytes = (2 * memory_mib + 512) * MEBIBYTE
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if hard == resource.RLIM_INFINITY or limit_bytes < hard:
            resource.setrlimit(resource.RLIMIT_DATA, (limit_bytes, hard))

    def _serve(self, ends: Ends) -> None:
        ends.work.send(b"%d" % os.getpid())
        work = receive_work(ends.work)
        if work is None:
            os._exit(0)  # the runner has taken another process
        ends.work.close()
        self._work = work
        directory = work["directory"]
        self.limit_memory(work["memory_mib"])
        for name, value in work.get("environment", {}).items():
            if name not in self._settings.variables:
                os.environ[name] = value
        os.chdir(directory)
        sandbox.use_directory(directory)
        self._channel.send(ENDED, self._outcome(self._channel))

    @staticmethod
    def _redirect(out: int, err: int, control: int) -> Channel:
        sync = PipeSync()
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout = sys.__stdout__ = text_stream(1, sync.barrier(err, control))
        sys.stderr = sys.__stderr__ = text_stream(2, sync.barrier(out, control))
        channel = Channel(control, sync.barrier(out, err))
        set_up_logging(channel)
        watch_for_processes(sync.barrier(out, err, control))
        return channel

    def _outcome(self, channel: Channel) -> "dict[str, Any]":
        try:
            outcome = self._call(channel)
        except ScriptFailure as failure:
            outcome = failure.record
        self._run_exit_handlers()
        flush_streams()
        flush_c_streams()
        return outcome

    def _call(self, channel: Channel) -> "dict[str, Any]":
        importing = True
        steps: Steps | None = None
        self._stream = Stream(self._settings.store_socket, self._work["limits"].get("stream_value_bytes"))
        try:
            code = compiled(self._script)
            if self._script.code is None:
                channel.send_code(code_bytes(code))
            imports = Imports() if self._work["reports_imports"] else None
            module = import_script(self._script, code)
            main, count = find_main(module, self._script.source)
            hints = type_hints(main, module)
            importing = False
            if imports is not None:
                channel.send(IMPORTED, imports.found())
            steps = self._steps()
            arguments = arguments_of(self._work, self._settings.store_socket, steps)[:count]
            channel.send(ENTERED, hints.schemas() if self._work.get("reports_schemas") else None)
            for request in arguments[:1]:
                hints.take(request)
            value = hints.give(call(main, arguments, steps.enter_task, self._stream))
            record = returned(value, self._work["limits"]["return_value_bytes"])
            self._stream.close()
            steps.returned()
            return record
        except ScriptFailure:
            raise
        except SystemExit as error:
            self._end_stream()
            if steps:
                steps.failed(error)
            return exited(error)
        except BaseException as error:
            self._end_stream()
            cause = steps.failed(error) if steps else error
            failure = failure_of(cause, self._script.file, importing)
            if isinstance(cause, ReplayDiverged):
                failure["reason"] = "replay_diverged"
            return failure

    def _end_stream(self) -> None:
        """When the script has failed: what it has emitted before is stored if that is possible."""
        with contextlib.suppress(StreamError):
            self._stream.close()

    def _steps(self) -> Steps:
        work = self._work
        has_stored = work.get("has_steps", False)
        waits = Waits(self._suspend, work["limits"].get("suspend_after_seconds"))
        socket_path, script = self._settings.store_socket, self._script.file
        return Steps(socket_path, script, work["execution_id"], has_stored, waits, self._stream)

    def _suspend(self, waits: "Sequence[int]", are_all: bool) -> NoReturn:
        """Ends this process, which is to be replaced by another one when one, or all, of these waits are over."""
        self._stream.flush()
        flush_streams()
        flush_c_streams()
        self._channel.send(ENDED, {"waits": waits, "all": are_all})
        os._exit(0)

    def _run_exit_handlers(self) -> None:
        """Runs the script's exit handlers, but not those that wait for processes that it left running."""
        processes = sys.modules.get("multiprocessing.process")
        try:
            for process in processes.active_children() if processes else ():
                process.kill()  # multiprocessing's own handler would wait for them
            atexit._run_exitfuncs()
        except BaseException as error:
            print(f"roost: an exit handler failed: {type(error).__name__}: {error}", file=sys.stderr)
