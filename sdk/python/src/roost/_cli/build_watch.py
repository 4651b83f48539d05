"""Waiting for an agent's build, with uv's output."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING

from . import connect
from .progress import Progress, watched

if TYPE_CHECKING:
    import roost

__all__ = ["await_build"]


def await_build(agent: roost.Agent, timeout: float | None) -> roost.BuilderJob:
    """Return the agent's newest BuilderJob when it has ended.

    In a terminal, the last lines of its log are shown. Raises `TimeoutError` after `timeout`
    seconds.
    """
    import roost

    jobs = connect.client().builder_jobs
    with Progress() as progress:
        progress.say(f"{agent.name}: installing dependencies")
        if watched():
            job = jobs.retrieve(agent.latest_builder_job_id)
            threading.Thread(target=_show_log, args=(job, progress), daemon=True).start()
        try:
            agent.wait_until_built(timeout)
        except roost.BuildFailed as error:
            if error.builder_job is None:
                raise
            return error.builder_job
    return jobs.retrieve(agent.latest_builder_job_id)


def _show_log(job: roost.BuilderJob, progress: Progress) -> None:
    import roost

    with suppress(roost.RoostError):  # only for display; the caller that waits gets the error
        for entry in job.logs(follow=True):
            progress.log(entry.message)
