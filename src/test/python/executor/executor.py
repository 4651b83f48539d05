"""A real executor, sidecar and runner, under a fake control plane."""

import copy
import json
import os
import subprocess
import sys
import textwrap
import time
from pathlib import Path
from typing import Any, Callable, Optional

from control_plane import LAST, WAIT_SECONDS, ControlPlane

PYTHON = os.environ.get("ROOST_TEST_PYTHON", sys.executable)
PACKAGE = Path(__file__).parents[4] / "src/main/python/roost_executor"
CONTRACT = Path(__file__).parents[2] / "resources/contract"

WORK: "dict[str, Any]" = {
    "execution_id": "exec_contract",
    "executor_job_id": "xjob_contract",
    "agent_id": "agent_contract",
    "attempt": 1,
    "scheduled_time": None,
    "timeout_seconds": 60.0,
    "memory_mib": 256,
    "payload": None,
    "stores": [{"name": "main", "id": "store_main"}],
    "limits": {
        "return_value_bytes": 16777216,
        "log_line_bytes": 65536,
        "log_bytes": 33554432,
        "log_tail_bytes": 1048576,
        "processes": 256,
        "disk_mib": 1024,
        "grace_seconds": 10.0,
    },
    "agent": {"revision": 1, "script": "", "env_vars": {}},
}


def merged(base: "dict[str, Any]", changes: "dict[str, Any]") -> "dict[str, Any]":
    """`base` with `changes`, objects merged key by key."""
    result = copy.deepcopy(base)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value) if both else value
    return result


class Result:
    """What came of an execution."""

    def __init__(self, frames: "list[dict[str, Any]]") -> None:
        self.frames = frames
        self.last = frames[-1]
        self.types = [frame["type"] for frame in frames]
        self.entries = [entry for frame in frames for entry in frame.get("entries", ())]
        assert [entry["seq"] for entry in self.entries] == list(range(1, len(self.entries) + 1))

    @property
    def value(self) -> Any:
        assert self.last["type"] == "returned", self.last
        return json.loads(self.last["value"])

    @property
    def reason(self) -> str:
        assert self.last["type"] == "failed", self.last
        return str(self.last["reason"])

    @property
    def lines(self) -> "list[str]":
        return [entry["message"] for entry in self.entries]


class Jobs:
    """Submits executions to an executor under `plane`, and waits for their results."""

    plane: ControlPlane

    def __init__(self) -> None:
        self._count = 0

    def submit(self, script: str, **changes: Any) -> str:
        """Submits an execution; returns its id. The runner keeps the script of the first one."""
        self._count += 1
        name = changes.pop("execution_id", f"exec_{self._count}")
        base = merged(WORK, {"execution_id": name, "agent": {"script": textwrap.dedent(script)}})
        with self.plane.changed:
            self.plane.queue.append(merged(base, changes))
            self.plane.changed.notify_all()
        return name

    def finished(self, execution: str, seconds: float = WAIT_SECONDS) -> Result:
        """The frames, as soon as the last one is there."""

        def last() -> bool:
            frames = self.plane.frames.get(execution)
            return bool(frames) and frames[-1]["type"] in LAST

        self.plane.wait_for(last, seconds)
        return Result(self.plane.frames[execution])

    def run(self, script: str, **changes: Any) -> Result:
        """`submit`, then `finished`."""
        return self.finished(self.submit(script, **changes))

    def logged(self, execution: str, text: str, seconds: float = WAIT_SECONDS) -> None:
        """Waits until a log line with `text` has arrived."""
        self.plane.wait_for(
            lambda: any(
                text in entry["message"]
                for frame in self.plane.frames.get(execution, ())
                for entry in frame.get("entries", ())
            ),
            seconds,
        )


class Executor(Jobs):
    """Starts sidecar and runner; `close` ends them and checks that no process is left."""

    def __init__(
        self,
        directory: Path,
        plane: "Optional[ControlPlane]" = None,
        runner: str = PYTHON,
        sandbox: "Optional[dict[str, Any]]" = None,
        bundle: "Optional[Path]" = None,
    ) -> None:
        super().__init__()
        self.directory = directory
        self.plane = plane or ControlPlane()
        token = directory.parent / f"{directory.name}.token"
        token.write_text("secret\n")
        self.token = token
        self.output = directory.parent / f"{directory.name}.out"
        command = [PYTHON, "-I", "-B", str(PACKAGE), "sidecar", "--url", self.plane.url]
        command += ["--executor", "executor_1", "--token-file", str(token)]
        command += ["--directory", str(directory), "--runner", runner]
        if sandbox is not None:
            command += ["--sandbox", json.dumps(sandbox)]
        if bundle is not None:
            command += ["--bundle", str(bundle)]
        environment = {**os.environ, "ROOST_SECRET": "x"}
        with open(self.output, "ab") as output:
            self.process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment)

    @property
    def runner(self) -> int:
        """The runner's process id. Its forks have the same arguments, and lower ids after the kernel's wrap around."""
        return wait_until(lambda: next((p for p in self.processes("runner") if parent_of(p) == self.process.pid), None))

    def processes(self, word: str = "") -> "list[int]":
        """Processes that belong to this executor; with `word`, those that have it among their arguments."""
        return processes_of(self.directory, word)

    def await_idle(self) -> None:
        """Waits until only sidecar, runner, template and the process of the next execution are left."""

        def is_idle() -> bool:
            everything = set(self.processes())
            return len(everything) <= 4 and everything == {*self.processes("sidecar"), *self.processes("runner")}

        wait_until(is_idle)

    def ended(self) -> int:
        """Waits for the sidecar's end; its exit status."""
        return self.process.wait(WAIT_SECONDS)

    def close(self) -> None:
        """Ends the executor; nothing of it may be left."""
        if self.process.poll() is None:
            self.process.terminate()
        self.ended()
        wait_until(lambda: not self.processes())
        self.plane.stop()


def parent_of(process: int) -> "int | None":
    """The id of the process's parent; None when the process has ended."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(errors="replace")
    except OSError:
        return None
    return int(stat.rpartition(")")[2].split()[1])


def processes_of(path: Path, word: str = "") -> "list[int]":
    """Processes with `path` among their arguments, or, without `word`, with a working directory below it."""
    found = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                command = Path(f"/proc/{name}/cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            try:
                directory = os.readlink(f"/proc/{name}/cwd")
            except OSError:  # sidecar and runner show it to root alone
                directory = ""
            arguments = command.split("\0")
            if (str(path) in arguments and word in arguments + [""]) or (not word and directory.startswith(str(path))):
                found.append(int(name))
    return found


def wait_until(condition: "Callable[[], Any]", seconds: float = WAIT_SECONDS) -> Any:
    """Polls until `condition()` is true; fails when it isn't within `seconds`."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)
