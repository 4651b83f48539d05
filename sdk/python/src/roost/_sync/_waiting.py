# Made by generate.py from src/roost/_async/_waiting.py; change that.
"""Waiting for a job with requests that the server holds back (`?wait=`)."""

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
    "OUTAGE_MOST_SECONDS",
    "PASSING",
    "Asks",
    "Outage",
    "held",
    "hold_most",
    "until_ended",
]

# The API allows 60, but many proxies cut a silent connection at 60.
HOLD_MOST_SECONDS = 50.0
# A control plane that is being replaced is back by then, and the job has gone on meanwhile.
OUTAGE_MOST_SECONDS = 120.0
# Whoever looks on wants to see that something happens.
_HOLD_MOST_WHEN_SEEN_SECONDS = 1.0
_RETRY_AFTER_MOST_SECONDS = 60.0
_STEPS_SECONDS = (0.05, 0.1, 0.2, 0.5, 1.0)

PASSING = (APIConnectionError, APITimeout, RateLimited, Unavailable)
"""What may be over at the next attempt."""


class Outage:
    """Pauses between attempts at a server that is away, until it has been away for too long."""

    def __init__(self, transport: Transport, most_seconds: float = OUTAGE_MOST_SECONDS) -> None:
        self.most_seconds = most_seconds
        self._transport = transport
        self._began: float | None = None
        self._failures = 0

    def over(self) -> None:
        """Forget it: an attempt has succeeded."""
        self._began, self._failures = None, 0

    def endure(
        self, error: RoostError, note: str, *, began: float | None = None, most: float = math.inf
    ) -> None:
        """Wait before the next attempt, no longer than `most` seconds.

        Raises the error, with the note, after `most_seconds` of failures; the first attempt that
        failed was made at `began`.
        """
        now = self._transport.clock.monotonic()
        if self._began is None:
            self._began = now if began is None else began
        if now - self._began >= self.most_seconds:
            error.args = (f"{error}\n{note}",)
            raise error
        asked = getattr(error, "retry_after", None)
        pause = self._transport.backoff(
            self._failures, min(asked or 0.0, _RETRY_AFTER_MOST_SECONDS)
        )
        self._failures += 1
        self._transport.clock.sleep(max(0.0, min(most, pause)))


def hold_most(client: Client) -> float:
    """Return for how long the server may hold an answer, in seconds."""
    seen = _progress.somebody_looks(client._progress)
    return _HOLD_MOST_WHEN_SEEN_SECONDS if seen else HOLD_MOST_SECONDS


def held(hold: float) -> dict[str, str]:
    """Return the query that asks the server to hold its answer; it takes whole seconds only."""
    return {"wait": str(int(hold))} if hold >= 1 else {}


class Asks:
    """Asks for a job's state, and sees to it that this never becomes a tight loop."""

    def __init__(self, job: ExecutorJob | BuilderJob) -> None:
        self._job = job
        self._transport = job._client._transport
        self._early = 0
        self._quiet = 0

    def once(self, hold: float, deadline: float | None = None) -> None:
        """Refresh the job; the server holds its answer up to `hold` seconds for the end."""
        job, transport = self._job, self._transport
        began = transport.clock.monotonic()
        job._data = transport.get(
            path_to(job._path, job.id),
            held(hold),
            read_timeout=hold + transport.timeout,
            deadline=deadline,
        )
        # Less than a second is not held, and a server that is going down, or a proxy, may answer
        # at once: then pause here instead.
        missing = hold - (transport.clock.monotonic() - began)
        if not job.ended and missing > hold / 2:
            transport.clock.sleep(min(missing, _STEPS_SECONDS[min(self._early, 4)]))
            self._early += 1

    def for_news(self, *, nothing_new: bool) -> None:
        """Refresh the job, less and less often while there is nothing new."""
        self._quiet = self._quiet + 1 if nothing_new else 0
        self.once(_STEPS_SECONDS[min(self._quiet, 5) - 1] if self._quiet else 0.0)


def until_ended(
    job: ExecutorJob | BuilderJob, deadline: float | None, timeout: float | None, advice: str = ""
) -> None:
    """Keep asking until the job has ended. Outlives a restart of the server.

    Raises `APITimeout` at the deadline, and errors that won't go away by waiting at once.
    """
    clock = job._client._transport.clock
    with _progress.line(job._client._progress, clock.monotonic) as line:
        _ask_until_ended(job, deadline, timeout, advice, line)


def _ask_until_ended(
    job: ExecutorJob | BuilderJob,
    deadline: float | None,
    timeout: float | None,
    advice: str,
    line: _progress.Line,
) -> None:
    transport = job._client._transport
    clock = transport.clock
    asks = Asks(job)
    outage = Outage(transport)
    hold = _HOLD_MOST_WHEN_SEEN_SECONDS if line.seen else HOLD_MOST_SECONDS
    while True:
        now = clock.monotonic()
        left = math.inf if deadline is None else max(0.0, deadline - now)
        trouble: RoostError | None = None
        try:
            asks.once(min(hold, left), deadline)
        except PASSING as error:
            trouble = error
        if job.ended:
            return
        line.show(job._progress() if trouble is None else f"{job.id}: {_first_line(trouble)}")
        left = math.inf if deadline is None else deadline - clock.monotonic()
        if left <= 0:
            raise APITimeout(
                f"{job.id} had not ended after {timeout:g} s "
                f"(it was {job.state}) and goes on{advice}"
            ) from trouble
        if trouble is None:
            outage.over()
        else:
            note = f"{job.id} was being waited for; it may well go on"
            outage.endure(trouble, note, began=now, most=left)


def _first_line(error: RoostError) -> str:
    return str(error).partition("\n")[0]
