"""Waiting for a job by long polling (`?wait=`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .. import _progress
from .._errors import APIConnectionError, APITimeout, RateLimited, RoostError, Unavailable
from .._fields import path_to

if TYPE_CHECKING:
    from ._build import BuilderJob
    from ._client import Client
    from ._executor_job import ExecutorJob
    from ._transport import Transport

__all__ = [
    "MAX_OUTAGE_SECONDS",
    "TRANSIENT_ERRORS",
    "Poller",
    "Outage",
    "held",
    "max_hold",
    "until_ended",
]

# The API allows 60, but many proxies close an idle connection after 60.
MAX_HOLD_SECONDS = 50.0
# Long enough for the replacement of a control plane; jobs keep running meanwhile.
MAX_OUTAGE_SECONDS = 120.0
# Progress is visible, so poll more often.
_MAX_HOLD_WITH_PROGRESS_SECONDS = 1.0
_MAX_RETRY_AFTER_SECONDS = 60.0
_STEPS_SECONDS = (0.05, 0.1, 0.2, 0.5, 1.0)

TRANSIENT_ERRORS = (APIConnectionError, APITimeout, RateLimited, Unavailable)
"""Errors that are worth a retry."""


class Outage:
    """Pauses between attempts while a server is unavailable, up to a maximum duration."""

    def __init__(self, transport: Transport, max_seconds: float = MAX_OUTAGE_SECONDS) -> None:
        self.max_seconds = max_seconds
        self._transport = transport
        self._began: float | None = None
        self._failures = 0

    def reset(self) -> None:
        """Reset after a successful attempt."""
        self._began, self._failures = None, 0

    async def pause(
        self, error: RoostError, note: str, *, began: float | None = None, most: float = math.inf
    ) -> None:
        """Wait before the next attempt, at most `most` seconds.

        Raises the error, with the note, after `max_seconds` of failures; the first failed attempt
        started at `began`.
        """
        now = self._transport.clock.monotonic()
        if self._began is None:
            self._began = now if began is None else began
        if now - self._began >= self.max_seconds:
            error.args = (f"{error}\n{note}",)
            raise error
        retry_after = getattr(error, "retry_after", None)
        pause = self._transport.backoff(
            self._failures, min(retry_after or 0.0, _MAX_RETRY_AFTER_SECONDS)
        )
        self._failures += 1
        await self._transport.clock.asleep(max(0.0, min(most, pause)))


def max_hold(client: Client) -> float:
    """Return the maximum duration of a long poll, in seconds."""
    seen = _progress.progress_enabled(client._progress)
    return _MAX_HOLD_WITH_PROGRESS_SECONDS if seen else MAX_HOLD_SECONDS


def held(hold: float) -> dict[str, str]:
    """Return the query of a long poll, in whole seconds."""
    return {"wait": str(int(hold))} if hold >= 1 else {}


class Poller:
    """Polls a job's state, never in a tight loop."""

    def __init__(self, job: ExecutorJob | BuilderJob) -> None:
        self._job = job
        self._transport = job._client._transport
        self._early = 0
        self._quiet = 0

    async def poll(self, hold: float, deadline: float | None = None) -> None:
        """Refresh the job; the server delays the response up to `hold` seconds for its end."""
        job, transport = self._job, self._transport
        began = transport.clock.monotonic()
        job._data = await transport.get(
            path_to(job._path, job.id),
            held(hold),
            read_timeout=hold + transport.timeout,
            deadline=deadline,
        )
        # Below a second there is no long poll, and a stopping server or a proxy may respond early:
        # pause here instead.
        missing = hold - (transport.clock.monotonic() - began)
        if not job.ended and missing > hold / 2:
            await transport.clock.asleep(min(missing, _STEPS_SECONDS[min(self._early, 4)]))
            self._early += 1

    async def poll_slower(self, *, unchanged: bool) -> None:
        """Refresh the job, at growing intervals while it is unchanged."""
        self._quiet = self._quiet + 1 if unchanged else 0
        await self.poll(_STEPS_SECONDS[min(self._quiet, 5) - 1] if self._quiet else 0.0)


async def until_ended(
    job: ExecutorJob | BuilderJob, deadline: float | None, timeout: float | None, advice: str = ""
) -> None:
    """Poll until the job has ended. Survives a restart of the server.

    Raises `APITimeout` at the deadline; permanent errors are raised immediately.
    """
    clock = job._client._transport.clock
    with _progress.line(job._client._progress, clock.monotonic) as line:
        await _poll_until_ended(job, deadline, timeout, advice, line)


async def _poll_until_ended(
    job: ExecutorJob | BuilderJob,
    deadline: float | None,
    timeout: float | None,
    advice: str,
    line: _progress.Line,
) -> None:
    transport = job._client._transport
    clock = transport.clock
    poller = Poller(job)
    outage = Outage(transport)
    hold = _MAX_HOLD_WITH_PROGRESS_SECONDS if line.visible else MAX_HOLD_SECONDS
    while True:
        now = clock.monotonic()
        left = math.inf if deadline is None else max(0.0, deadline - now)
        failure: RoostError | None = None
        try:
            await poller.poll(min(hold, left), deadline)
        except TRANSIENT_ERRORS as error:
            failure = error
        if job.ended:
            return
        line.show(job._progress() if failure is None else f"{job.id}: {_first_line(failure)}")
        left = math.inf if deadline is None else deadline - clock.monotonic()
        if left <= 0:
            raise APITimeout(
                f"{job.id} is still {job.state} after {timeout:g} s{advice}"
            ) from failure
        if failure is None:
            outage.reset()
        else:
            note = f"while waiting for {job.id}, which may still be running"
            await outage.pause(failure, note, began=now, most=left)


def _first_line(error: RoostError) -> str:
    return str(error).partition("\n")[0]
