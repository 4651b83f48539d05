"""Waiting for an ExecutorJob, and telling what it waits for."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from .log_lines import LogPrinter
from .progress import Progress

if TYPE_CHECKING:
    import roost

__all__ = ["Waiting", "summary"]

_LOOKS_SECONDS = (0.25, 0.25, 0.5)
_LATER_LOOKS_SECONDS = 1.0
_OUTAGE_MOST_SECONDS = 60.0


class Waiting:
    """Waits for a job of the agent called `name`, at most `timeout` seconds from now on."""

    def __init__(self, job: roost.ExecutorJob, name: str, timeout: float | None) -> None:
        self._job = job
        self._name = name
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._looks = 0
        self._trouble_since: float | None = None

    def follow(self) -> None:
        """Print the log to standard error as it is written, until the job has ended.

        Raises `TimeoutError` at the deadline.
        """
        with Progress() as progress:
            while self._job.execution is None and not self._job.ended:
                progress.say(self._describe())
                self._look()
        # A thread of its own, since a script that writes nothing must not outwait the deadline.
        reader = _Reader(self._job)
        reader.start()
        left = self._left()
        reader.join(None if left == float("inf") else max(0.0, left))
        if reader.is_alive():
            raise TimeoutError
        if reader.error is not None:
            raise reader.error

    def result(self) -> roost.Execution | None:
        """Return the last Execution when the job has ended; None when it never ran.

        Raises `TimeoutError` at the deadline.
        """
        with Progress() as progress:
            while not self._job.ended:
                progress.say(self._describe())
                self._look()
        return self._job.execution

    def _look(self) -> None:
        """Wait a moment for the end; the job then has its present state."""
        import roost

        step = (*_LOOKS_SECONDS, _LATER_LOOKS_SECONDS)[min(self._looks, len(_LOOKS_SECONDS))]
        self._looks += 1
        left = self._left()
        if left <= 0:
            raise TimeoutError
        try:
            self._job.wait(timeout=min(step, left))
        except roost.ExecutionFailed:
            return  # it has ended without being run
        except roost.APITimeout as error:
            self._endure(error.__cause__)
        else:
            self._trouble_since = None

    def _endure(self, trouble: BaseException | None) -> None:
        """Raise what keeps the server from answering when that has lasted for long."""
        if trouble is None:
            self._trouble_since = None
        elif self._trouble_since is None:
            self._trouble_since = time.monotonic()
        elif time.monotonic() - self._trouble_since > _OUTAGE_MOST_SECONDS:
            raise trouble

    def _left(self) -> float:
        return float("inf") if self._deadline is None else self._deadline - time.monotonic()

    def _describe(self) -> str:
        job = self._job
        if self._trouble_since is not None:
            return f"{self._name}: Roost doesn't answer; trying again"
        if job.state == "running":
            attempt = f" (attempt {job.attempts})" if (job.attempts or 0) > 1 else ""
            return f"{self._name} is running{attempt}"
        reasons = {
            "build": "its dependencies are being built",
            "executor": "an executor is being started",
            "capacity": f"there is no capacity for its executor. {job.message or ''}".strip(),
            "concurrency": "as many executions as it may have are running",
            "retry_delay": "the next attempt comes in a moment",
            "storage": f"Roost's storage is full. {job.message or ''}".strip(),
        }
        reason = reasons.get(job.waiting_on or "")
        return f"{self._name} is queued" + (f": {reason}" if reason else "")


class _Reader(threading.Thread):
    """Prints a job's log until its end; `error` is what has kept it from that."""

    def __init__(self, job: roost.ExecutorJob) -> None:
        super().__init__(daemon=True)
        self._job = job
        self.error: Exception | None = None

    def run(self) -> None:
        """Print the log."""
        printer = LogPrinter(err=True)
        try:
            for entry in self._job.logs(follow=True):
                printer.print(entry)
            printer.end()
        except Exception as error:
            self.error = error


def summary(execution: roost.Execution) -> str:
    """Return in a line what an execution was and how long it took."""
    from .times import duration

    timings = execution.timings
    parts = []
    if timings is not None:
        named = {
            "queued": timings.queued,
            "starting": timings.starting,
            "running": timings.running,
        }
        parts = [f"{name} {duration(value)}" for name, value in named.items() if value is not None]
    spent = f": {', '.join(parts)}" if parts else ""
    return f"{execution.id} {execution.state}{spent}"
