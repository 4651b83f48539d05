"""Waiting for an ExecutorJob, with the reason while it is queued."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from .log_lines import LogPrinter
from .progress import Progress
from .times import moment

if TYPE_CHECKING:
    import roost

__all__ = ["Waiting", "summary"]

_FIRST_POLLS_SECONDS = (0.25, 0.25, 0.5)
_LATER_POLL_SECONDS = 1.0
_MAX_OUTAGE_SECONDS = 60.0


class Waiting:
    """Waits for a job of the agent `name`, at most `timeout` seconds from now."""

    def __init__(self, job: roost.ExecutorJob, name: str, timeout: float | None) -> None:
        self._job = job
        self._name = name
        self._deadline = None if timeout is None else time.monotonic() + timeout
        self._polls = 0
        self._outage_since: float | None = None

    def follow(self) -> None:
        """Print the log to standard error as it is written, until the job has ended.

        Raises `TimeoutError` at the deadline.
        """
        with Progress() as progress:
            while self._job.execution is None and not self._job.ended:
                progress.say(self._describe())
                self._poll()
        # In a thread, since a script without output must not delay the deadline.
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
                self._poll()
        return self._job.execution

    def _poll(self) -> None:
        """Wait briefly for the end; the job then has its current state."""
        import roost

        step = (*_FIRST_POLLS_SECONDS, _LATER_POLL_SECONDS)[
            min(self._polls, len(_FIRST_POLLS_SECONDS))
        ]
        self._polls += 1
        left = self._left()
        if left <= 0:
            raise TimeoutError
        try:
            self._job.wait(timeout=min(step, left))
        except roost.ExecutionFailed:
            return  # it ended without an attempt
        except roost.APITimeout as error:
            self._check_outage(error.__cause__)
        else:
            self._outage_since = None

    def _check_outage(self, cause: BaseException | None) -> None:
        """Raise the cause when the server hasn't responded for too long."""
        if cause is None:
            self._outage_since = None
        elif self._outage_since is None:
            self._outage_since = time.monotonic()
        elif time.monotonic() - self._outage_since > _MAX_OUTAGE_SECONDS:
            raise cause

    def _left(self) -> float:
        return float("inf") if self._deadline is None else self._deadline - time.monotonic()

    def _describe(self) -> str:
        job = self._job
        if self._outage_since is not None:
            return f"{self._name}: the server doesn't respond; retrying"
        if job.state == "running":
            attempt = f" (attempt {job.attempts})" if (job.attempts or 0) > 1 else ""
            progress = job.execution and job.execution.progress
            said = f" · {progress}" if progress is not None else ""
            return f"{self._name} is running{attempt}{said}"
        if job.state == "suspended":
            waits = {"call": "waits for what it has called", "event": "waits for an event"}
            waits["approval"] = "waits for an approval (`roost approvals list`)"
            continues = f"continues {moment(job.resume_at)}" if job.resume_at else "waits"
            return f"{self._name} is suspended and {waits.get(job.waiting_on or '', continues)}"
        reasons = {
            "build": "building its dependencies",
            "executor": "starting an executor",
            "capacity": f"no capacity for its executor. {job.message or ''}".strip(),
            "concurrency": "its concurrency limit is reached",
            "retry_delay": "waiting to retry",
            "storage": f"Roost's storage is full. {job.message or ''}".strip(),
        }
        reason = reasons.get(job.waiting_on or "")
        return f"{self._name} is queued" + (f": {reason}" if reason else "")


class _Reader(threading.Thread):
    """Prints a job's log until its end, or until an `error`."""

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
    """Return an execution's state and timings on one line."""
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
