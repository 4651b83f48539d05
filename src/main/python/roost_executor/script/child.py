"""The script's process: from the fork to the result."""

import atexit
import contextlib
import datetime  # noqa: F401 - imported once, for the times of every request
import os
import resource
import signal
import sys
import time
from types import MappingProxyType, ModuleType
from typing import Any

from roost_executor import sandbox
from roost_executor.linux import die_with_parent, flush_c_streams, set_dumpable
from roost_executor.script.failures import ScriptFailure, bounded, failure_of
from roost_executor.script.jsonvalue import NotJson, decode, encode
from roost_executor.script.output import (
    PipeSync,
    flush_streams,
    set_up_logging,
    text_stream,
    watch_for_processes,
)
from roost_executor.script.request import Request
from roost_executor.script.script import Script, call, code_bytes, compiled, find_main, import_script
from roost_executor.script.store import Store
from roost_executor.script.store_values import KEY_BYTES
from roost_executor.wire.clock import moment
from roost_executor.wire.control import ENDED, ENTERED, Channel

MEBIBYTE = 1024 * 1024


class Child:
    """One execution, in the process forked for it. `run` never returns."""

    def __init__(
        self,
        work: "dict[str, Any]",
        script: Script,
        work_directory: str,
        store_socket: str,
        output: int,
        errors: int,
        control: int,
    ) -> None:
        """`output`, `errors`, `control`: the write ends of the three pipes."""
        self._work = work
        self._script = script
        self._script_path = script.path
        self._work_directory = work_directory
        self._store_socket = store_socket
        self._output = output
        self._errors = errors
        self._control = control

    def run(self, parent: int) -> None:
        """Runs the script and ends this process."""
        try:
            os.setsid()
            die_with_parent(parent)
            set_dumpable(True)  # or its own /proc would belong to root
            channel = self._become_the_script()
            channel.send(ENDED, self._outcome(channel))
        except BaseException as error:
            try:
                os.write(self._errors, f"roost: {type(error).__name__}: {error}\n".encode())
            finally:
                os._exit(70)
        finally:
            os._exit(0)

    def _become_the_script(self) -> Channel:
        signal.set_wakeup_fd(-1)
        for number in (signal.SIGTERM, signal.SIGCHLD, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        os.dup2(self._output, 1)
        os.dup2(self._errors, 2)
        # When memory runs out, the kernel kills the script and not the runner, which reports it.
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "wb", buffering=0) as file:
            file.write(b"1000")
        # `random` seeds itself anew after a fork; standard input is /dev/null since the runner's start.
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        limit_bytes = (2 * self._work["memory_mib"] + 512) * MEBIBYTE
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if hard == resource.RLIM_INFINITY or limit_bytes < hard:
            resource.setrlimit(resource.RLIMIT_DATA, (limit_bytes, hard))
        for name, value in {**self._work.get("environment", {}), **self._work["agent"]["env_vars"]}.items():
            os.environ[name] = value
        time.tzset()
        os.chdir(self._work_directory)
        sys.path.insert(0, os.path.dirname(self._script_path))
        sys.dont_write_bytecode = True
        sys.argv = [self._script_path]
        sandbox.confine_script(self._script_path, self._work_directory)
        # A new module, or `multiprocessing` with spawn would run the executor's in each child.
        sys.modules["__main__"] = ModuleType("__main__")
        return self._redirect()

    def _redirect(self) -> Channel:
        sync = PipeSync()
        out, err, control = self._output, self._errors, self._control
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stdout = sys.__stdout__ = text_stream(1, sync.waiter(err, control))
        sys.stderr = sys.__stderr__ = text_stream(2, sync.waiter(out, control))
        channel = Channel(control, sync.waiter(out, err))
        set_up_logging(channel)
        watch_for_processes(sync.waiter(out, err, control))
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
        try:
            code = compiled(self._script)
            if self._script.code is None:
                channel.send_code(code_bytes(code))
            module = import_script(self._script_path, code)
            main, count = find_main(module, self._script.source)
            importing = False
            arguments = self._arguments()[:count]
            channel.send(ENTERED, None)
            return self._returned(call(main, arguments))
        except ScriptFailure:
            raise
        except SystemExit as error:
            if error.code is None or (error.code == 0 and isinstance(error.code, int)):
                return {"value": "null"}
            shown = error.code if isinstance(error.code, (int, str)) else str(error.code)
            raise ScriptFailure(
                "exited",
                f"the script called sys.exit({bounded(repr(shown), 1000)})",
                print_text=None if isinstance(shown, int) else bounded(shown),
            ) from None
        except BaseException as error:
            return failure_of(error, self._script_path, importing)

    def _returned(self, value: object) -> "dict[str, Any]":
        try:
            text = encode(value)
        except NotJson as error:
            raise ScriptFailure("not_json", f"return value: {error}") from None
        limit = self._work["limits"]["return_value_bytes"]
        if len(text) > limit:
            raise ScriptFailure(
                "return_value_too_large",
                f"the return value is {len(text):,} bytes of JSON; the limit is {limit:,}. "
                "Store large results elsewhere and return a reference",
            )
        return {"value": text}

    def _arguments(self) -> "tuple[Any, Any]":
        work = self._work
        key_bytes = work["limits"].get("store_key_bytes", KEY_BYTES)
        stores = {
            item["name"]: Store(self._store_socket, item["id"], item["name"], key_bytes) for item in work["stores"]
        }
        try:
            payload = None if work["payload"] is None else decode(work["payload"])
        except (ValueError, RecursionError) as error:
            raise ScriptFailure(
                "exception", f"Python can't read the payload: {error}", error_type="ValueError"
            ) from None
        request = Request(
            payload=payload,
            agent_id=work["agent_id"],
            execution_id=work["execution_id"],
            executor_job_id=work["executor_job_id"],
            scheduled=work["scheduled_time"] is not None,
            attempt=work["attempt"],
            deadline=moment(work["deadline"]),
            scheduled_time=moment(work["scheduled_time"]),
            stores=MappingProxyType(stores),
        )
        return request, next(iter(stores.values()), None)

    def _run_exit_handlers(self) -> None:
        """Runs the script's exit handlers, but not those that wait for processes that it left running."""
        processes = sys.modules.get("multiprocessing.process")
        try:
            for process in processes.active_children() if processes else ():
                process.kill()  # multiprocessing's own handler would wait for them
            atexit._run_exitfuncs()
        except BaseException as error:
            print(f"roost: an exit handler failed: {type(error).__name__}: {error}", file=sys.stderr)
