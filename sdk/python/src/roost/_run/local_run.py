"""One execution of an agent on this machine."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Callable

from .._project_files import ProjectFile
from .defaults import MEMORY_MIB, TIMEOUT_SECONDS
from .failures import CannotRun
from .files import Files
from .frames import Entry, Outcome
from .plane import ControlPlane
from .process_env import for_executor
from .sources import program
from .stores import Stores

__all__ = ["Execution", "Job", "LocalRun"]

_POLL_SECONDS = 0.2
_END_SECONDS = 5.0
# A server's defaults (docs/settings.md, roost.limits).
_LIMITS = {
    "return_value_bytes": 16 * 1024 * 1024,
    "log_line_bytes": 64 * 1024,
    "log_bytes": 32 * 1024 * 1024,
    "log_tail_bytes": 1024 * 1024,
    "processes": 256,
    "disk_mib": 1024,
    "store_key_bytes": 512,
    "store_value_bytes": 1024 * 1024,
    "grace_seconds": 10.0,
    "stream_value_bytes": 1024 * 1024,
}


@dataclass(frozen=True)
class Job:
    """A job to run. `payload` is JSON text or None; `changes` replace parts of the work.

    `project` are the files that go with the script, which is `script_path` among them.
    """

    script: str = field(repr=False)
    payload: str | None = None
    env_vars: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    stores: Sequence[str] = ()
    files: Mapping[str, Path] = field(default_factory=dict[str, Path])
    timeout: float = TIMEOUT_SECONDS
    memory: int = MEMORY_MIB
    changes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    project: Sequence[ProjectFile] = field(default=(), repr=False)
    script_path: str | None = None

    def work(
        self, execution_id: str, stores: list[dict[str, str]], directory: Path | None = None
    ) -> dict[str, Any]:
        """Return the job as the executor receives it. `directory` has the project's files."""
        agent: dict[str, Any] = {
            "revision": 1,
            "script": self.script,
            "env_vars": dict(self.env_vars),
        }
        if directory is not None:
            agent["bundle"] = {"directory": str(directory), "script": self.script_path}
        work = {
            "execution_id": execution_id,
            "executor_job_id": "xjob_local",
            "agent_id": "agent_local",
            "attempt": 1,
            "scheduled_time": None,
            "timeout_seconds": float(self.timeout),
            "memory_mib": self.memory,
            "payload": self.payload,
            "stores": stores,
            "limits": _LIMITS,
            "agent": agent,
        }
        limits = {**_LIMITS, **self.changes.get("limits", {})}
        return {**work, **self.changes, "limits": limits}


@dataclass(frozen=True)
class Execution:
    """A finished execution; `document` is the API's Execution as JSON text."""

    id: str
    outcome: Outcome
    started_at: str
    entered_at: str | None
    log: Sequence[Entry] = field(repr=False)

    @classmethod
    def not_built(cls, message: str) -> Execution:
        """Return a server's Execution of a job whose agent could not be built."""
        now = _now()
        outcome = Outcome("failed", "build_failed", f"The build failed: {message}", time=now)
        return cls(_new_id(), outcome, now, None, ())

    @property
    def seconds(self) -> float:
        """The duration."""
        return _seconds(self.started_at, self.outcome.time) or 0.0

    def document(self, with_logs: bool = False) -> str:
        """Return the Execution as JSON text, with the return value's exact text."""
        outcome = self.outcome
        values: dict[str, Any] = {
            "id": self.id,
            "executor_job_id": None,
            "agent_id": None,
            "agent_revision": None,
            "draft": False,
            "build_id": None,
            "attempt": 1,
            "state": outcome.state,
            "reason": outcome.reason,
            "message": outcome.message,
            "error": outcome.error,
            "return_value": None,
            "started_at": self.started_at,
            "finished_at": outcome.time,
            "cold_start": True,
            "timings": {
                "queued": 0.0,
                "starting": _seconds(self.started_at, self.entered_at),
                "running": _seconds(self.entered_at, outcome.time),
            },
            "usage": outcome.usage or {"cpu_seconds": None, "max_memory_bytes": None},
            "log_entries": len(self.log),
            "logs_truncated": outcome.logs_truncated,
            "progress": None,
        }
        if with_logs:
            values["logs"] = list(self.log)
        parts: list[str] = []
        for name, value in values.items():
            text = json.dumps(value)
            if name == "return_value" and outcome.return_value is not None:
                text = outcome.return_value
            parts.append(f'"{name}": {text}')
        return "{" + ", ".join(parts) + "}"


class LocalRun:
    """A running execution. Use it as a context manager, which ends all of its processes.

    Start it on a thread that outlives it: the executor ends with its parent thread. Artifacts are
    written to the directory `artifacts`; without one, they go with the run.
    """

    def __init__(
        self,
        job: Job,
        environment: Path,
        stores: Stores,
        on_entries: Callable[[list[Entry]], None] = lambda entries: None,
        on_values: Callable[[list[str]], None] = lambda values: None,
        artifacts: Path | None = None,
        on_artifact: Callable[[Path], None] = lambda path: None,
    ) -> None:
        if sys.platform != "linux":
            raise CannotRun("roost run requires Linux; use a container, or WSL on Windows")
        self._id = _new_id()
        self._log: list[Entry] = []
        self._on_entries = on_entries
        self._started_at = _now()
        self._stores = stores
        self._directory = Path(tempfile.mkdtemp(prefix="roost-run-"))
        files = Files(job.files, artifacts or self._directory / "artifacts", on_artifact)
        try:
            project = self._copied(job.project) if job.script_path is not None else None
        except BaseException:
            self._remove()
            raise
        work = job.work(self._id, stores.begin(self._id, job.stores), project)
        if job.files:
            work["files"] = files.work()
        self._plane = ControlPlane(work, stores, files, self._take_entries, on_values)
        try:
            self._process = self._start(environment)
        except BaseException:
            self._plane.close()
            self._remove()
            raise

    def __enter__(self) -> LocalRun:
        return self

    def __exit__(self, *_: object) -> None:
        if self._plane.outcome is None:
            self._process.terminate()  # and its child processes
        try:
            self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()  # the runner then ends its child processes
            self._process.wait()
        self._stores.end(self._id)
        self._plane.close()
        self._remove()

    def wait(self, seconds: float = _POLL_SECONDS) -> Execution | None:
        """Wait up to `seconds` for the end; return the Execution once it has ended."""
        outcome = self._plane.wait(seconds)
        if outcome is None and self._process.poll() is not None:
            outcome = self._plane.outcome or self._lost()
        if outcome is None:
            return None
        return Execution(self._id, outcome, self._started_at, self._plane.entered_at, self._log)

    def cancel(self) -> None:
        """Cancel the script: SIGTERM, and SIGKILL after ten seconds."""
        self._plane.cancel()

    def _copied(self, files: Sequence[ProjectFile]) -> Path:
        """Copy a project's files, which the script can't change, as on a server."""
        root = self._directory / "project"
        root.mkdir()
        directories = {root}
        try:
            for file in files:
                target = root / file.path
                target.parent.mkdir(parents=True, exist_ok=True)
                directories.update(path for path in target.parents if root in path.parents)
                shutil.copyfile(file.source, target)
                target.chmod(0o555 if file.executable else 0o444)
        except OSError as error:
            raise CannotRun(f"the project's files can't be copied: {error}") from None
        for directory in directories:
            directory.chmod(0o555)
        return root

    def _remove(self) -> None:
        for directory, _, _ in os.walk(self._directory / "project"):
            os.chmod(directory, 0o700)
        shutil.rmtree(self._directory, ignore_errors=True)

    def _start(self, environment: Path) -> subprocess.Popen[bytes]:
        token = self._directory / "token"
        token.touch(mode=0o600)
        token.write_text(self._plane.token, encoding="ascii")
        command = [sys.executable, "-I", "-B", str(program("roost_executor")), "sidecar"]
        command += ["--url", self._plane.url, "--executor", "executor_local"]
        command += ["--token-file", str(token), "--directory", str(self._directory / "executor")]
        command += ["--runner", str(environment / "bin/python"), "--parent", str(os.getpid())]
        with open(self._directory / "sidecar.err", "wb") as errors:
            return subprocess.Popen(
                command,
                env=for_executor(os.environ, environment),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # a copy of the frames
                stderr=errors,
            )

    def _lost(self) -> Outcome:
        errors = (self._directory / "sidecar.err").read_text(encoding="utf-8", errors="replace")
        return Outcome(
            "lost",
            "executor_lost",
            f"The executor ended before the script did. {errors.strip()}".strip(),
            time=_now(),
        )

    def _take_entries(self, entries: list[Entry]) -> None:
        self._log += entries
        self._on_entries(entries)


def _new_id() -> str:
    return f"exec_{secrets.token_hex(13)}"


def _now() -> str:
    text = datetime.now(timezone.utc).isoformat(timespec="microseconds")
    return text.replace("+00:00", "Z")


def _seconds(start: str | None, end: str | None) -> float | None:
    if start is None or end is None:
        return None
    times = (datetime.fromisoformat(text.replace("Z", "+00:00")) for text in (end, start))
    return max(0.0, (next(times) - next(times)).total_seconds())
