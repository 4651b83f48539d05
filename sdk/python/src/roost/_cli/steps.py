"""`roost steps`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from . import connect
from .failures import Failure
from .options import connected, target_argument
from .texts import examples

if TYPE_CHECKING:
    import roost

__all__ = ["job_of", "steps"]


@click.command(epilog=examples("roost steps xjob_01m8…\nroost steps exec_01m8… --json"))
@target_argument("target", "JOB|EXECUTION")
@connected
def steps(target: str, as_json: bool) -> None:
    """List the durable steps of a job, in the order in which they ended.

    These are the calls of request.step in its script, and its waits, of all attempts. --json has
    their results.
    """
    from . import kinds

    job = job_of(target)
    kinds.steps(job).show(job.steps(), as_json=as_json, limit=None)


def job_of(target: str) -> roost.ExecutorJob:
    """Return the job with that id, or that of an execution."""
    client, kind = connect.client(), connect.kind_of(target)
    if kind == "execution":
        target = client.executions.retrieve(target).executor_job_id
    elif kind != "job":
        raise Failure(
            f"{target!r} is not a job or an execution.",
            hint="`roost list jobs` lists jobs; their ids begin with xjob_.",
        )
    return client.executor_jobs.retrieve(target)
