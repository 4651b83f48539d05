"""The template: a process that is set up for executions and has imported a revision's modules; they are its forks.

It runs the code of packages, as far as importing them does, never the script's. Each module that others haven't brought
is imported in a fork of the process that has imported those before it. If the fork is then as safe to fork as it was,
it takes over as the template, and the process before it ends; if not, the fork ends, and the module is left out.
"""

import gc
import importlib
import json
import os
import signal
import socket
import sys
import time
from typing import Any

from roost_executor.linux import await_parent, die_with_parent, outlive_parent
from roost_executor.processes import resident_bytes
from roost_executor.script.child import Child, Settings
from roost_executor.script.fork_safety import process_state, why_unsafe
from roost_executor.script.immortal import make_definitions_immortal
from roost_executor.script.imports import installed_packages
from roost_executor.script.randomness import Unseeded
from roost_executor.script.sibling import fork_sibling, may_fork_siblings
from roost_executor.wire.work import Ends, receive_ends

LONGEST_REASON = 300
# After that, no further module is tried.
LOADING_SECONDS = 30.0
# The exit status of a process that has said why its module is left out.
LEFT_OUT = 3


class Template:
    """The process's own view; `run` never returns."""

    def __init__(
        self,
        settings: Settings,
        parent: int,
        connection: socket.socket,
        placeholders: "tuple[int, int, int]",
        memory_mib: int,
    ) -> None:
        """`parent`: the runner's process id. `connection`: to the runner, message by message.

        `placeholders`: files that take what imports print, in place of the pipes of an execution.
        """
        self._parent = parent
        self._connection = connection
        self._placeholders = placeholders
        self._memory_mib = memory_mib
        self._script = settings.script
        self._child = Child(settings, parent)
        self._unseeded = Unseeded()
        self._seconds = 0.0
        self._left_out: set[str] = set()
        self._until = 0.0

    def run(self, modules: "list[str]") -> None:
        """Imports the modules, then forks a process for each of the runner's requests."""
        try:
            os.setsid()
            die_with_parent(self._parent)
            self._child.set_up(self._placeholders)
            self._child.limit_memory(self._memory_mib)
            before = resident_bytes([os.getpid()])
            # A collection in a fork would touch, and so copy, every page that it shares.
            gc.disable()
            self._until = time.monotonic() + LOADING_SECONDS
            with self._unseeded:
                for module in modules:
                    self._load(module)
            if self._script.bundle is not None:
                from roost_executor.script.precompiled import precompile

                precompile(self._script.bundle.directory)
            make_definitions_immortal()
            gc.collect()
            gc.freeze()
            grown = max(0, resident_bytes([os.getpid()]) - before)
            self._say(
                "ready", import_seconds=round(self._seconds, 6), memory_bytes=grown, packages=installed_packages()
            )
            siblings = may_fork_siblings()
            while True:
                self._fork_one(siblings)
        except BaseException as error:
            self._say("failed", reason=f"{type(error).__name__}: {error}"[:LONGEST_REASON])
        finally:
            os._exit(70)

    def _load(self, module: str) -> None:
        """Imports a module after each of its packages, unless one of these is left out."""
        parts = module.split(".")
        for count in range(1, len(parts) + 1):
            name = ".".join(parts[:count])
            if name not in sys.modules and name not in self._left_out:
                if time.monotonic() > self._until:
                    self._leave_out(name, f"was not tried: loading had taken {LOADING_SECONDS:g} s", may_pass=True)
                else:
                    self._try(name)
            if name in self._left_out:
                return

    def _leave_out(self, module: str, reason: str, may_pass: bool = False) -> None:
        self._say("left_out", module=module, reason=reason[:LONGEST_REASON], may_pass=may_pass)
        self._left_out.add(module)

    def _try(self, module: str) -> None:
        """Returns in the process that goes on, with the module or without; others end."""
        reader, writer = os.pipe()
        here = os.getpid()
        trial = os.fork()
        if trial == 0:
            os.close(reader)
            die_with_parent(here)
            self._say("trying", module=module, process=os.getpid())
            reason = self._import(module)
            if reason is not None:
                self._leave_out(module, reason)
                os._exit(LEFT_OUT)
            self._say("process", process=os.getpid())  # before it becomes the runner's child
            outlive_parent()
            os.write(writer, b"1")
            os.close(writer)
            await_parent(self._parent)
            return
        os.close(writer)
        if os.read(reader, 1):
            os._exit(0)
        os.close(reader)
        _, status = os.waitpid(trial, 0)
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == LEFT_OUT:
            self._left_out.add(module)
        else:
            cause = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {os.WEXITSTATUS(status)}"
            killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
            self._leave_out(module, f"ends the process that imports it ({cause})", may_pass=killed)

    def _import(self, module: str) -> "str | None":
        """Why the module must be left out; None if it need not."""
        before = process_state(self._placeholders)
        started = time.monotonic()
        try:
            importlib.import_module(module)
        except BaseException as error:
            return f"can't be imported on its own: {type(error).__name__}: {error}"
        self._seconds += time.monotonic() - started
        if self._has_own_modules():
            return "imports modules of the agent's project"
        return why_unsafe(before, process_state(self._placeholders), self._memory_mib)

    def _has_own_modules(self) -> bool:
        """Whether a package has found a module of the bundle under the name of another one that it looked for."""
        if self._script.bundle is None:
            return False
        own = self._script.bundle.directory + os.sep
        return any(str(getattr(module, "__file__", None)).startswith(own) for module in list(sys.modules.values()))

    def _fork_one(self, sibling: bool) -> None:
        """Forks the process of an execution. It is the runner's child, so an execution outlives its template."""
        ends = receive_ends(self._connection)
        if ends is None:
            os._exit(0)
        if sibling:
            if fork_sibling() == 0:
                self._run_fork(ends)
            ends.close()
            return
        # A fork of a fork, whose parent ends, so that the runner inherits it.
        between = os.fork()
        if between == 0:
            if os.fork() == 0:
                self._run_fork(ends)
            os._exit(0)
        ends.close()
        os.waitpid(between, 0)

    def _run_fork(self, ends: Ends) -> None:
        self._connection.close()
        self._child.run_in_fork(ends, self._placeholders, self._unseeded)

    def _say(self, kind: str, **fields: Any) -> None:
        self._connection.send(json.dumps({"type": kind, **fields}).encode())
