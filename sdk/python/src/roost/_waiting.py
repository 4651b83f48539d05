"""Waiting for a job with requests that the server holds back (`?wait=`)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ._errors import APIConnectionError, APITimeout, RateLimited, RoostError, Unavailable
from ._resource import path_to

if TYPE_CHECKING:
    from ._build import BuilderJob
    from ._executor_job import ExecutorJob

__all__ = ["HOLD_MOST_SECONDS", "Asks", "held", "until_ended"]

# The API allows 60, but many proxies cut a silent connection at 60.
HOLD_MOST_SECONDS = 50.0
# A control plane that is being replaced is back by then, and the job has gone on meanwhile.
_OUTAGE_MOST_SECONDS = 120.0
_STEPS_SECONDS = (0.05, 0.1, 0.2, 0.5, 1.0)


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
    transport = job._client._transport
    clock = transport.clock
    asks = Asks(job)
    trouble_began: float | None = None
    failures = 0
    while True:
        now = clock.monotonic()
        left = math.inf if deadline is None else max(0.0, deadline - now)
        trouble: RoostError | None = None
        try:
            asks.once(min(HOLD_MOST_SECONDS, left), deadline)
        except (APIConnectionError, APITimeout, RateLimited, Unavailable) as error:
            trouble = error
        if job.ended:
            return
        left = math.inf if deadline is None else deadline - clock.monotonic()
        if left <= 0:
            raise APITimeout(
                f"{job.id} had not ended after {timeout:g} s "
                f"(it was {job.state}) and goes on{advice}"
            ) from trouble
        if trouble is None:
            trouble_began, failures = None, 0
            continue
        trouble_began = now if trouble_began is None else trouble_began
        if clock.monotonic() - trouble_began >= _OUTAGE_MOST_SECONDS:
            trouble.args = (f"{trouble}\n{job.id} was being waited for; it may well go on",)
            raise trouble
        clock.sleep(min(left, transport.backoff(failures)))
        failures += 1
