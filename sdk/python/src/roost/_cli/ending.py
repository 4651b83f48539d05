"""`roost cancel` and `roost delete`."""

from __future__ import annotations

import click

from . import connect
from .failures import USAGE, Failure
from .options import agent_argument, connected
from .texts import examples

__all__ = ["cancel", "delete"]


@click.command(epilog=examples("roost cancel xjob_01m8…\nroost cancel exec_01m8…"))
@click.argument("target", metavar="JOB|EXECUTION")
@connected
def cancel(target: str, as_json: bool) -> None:
    """Cancel a queued or running job.

    A running script gets SIGTERM and 10 seconds to clean up. No effect on a job that has ended.
    """
    from .output import data_of, note, print_json

    client, kind = connect.client(), connect.kind_of(target)
    if kind == "execution":
        job_id = client.executions.retrieve(target).executor_job_id
    elif kind == "job":
        job_id = target
    else:
        hint = "`roost list jobs --state queued,running` lists the jobs that can be cancelled."
        raise Failure(f'"{target}" is not the id of a job or an execution.', USAGE, hint)
    job = client.executor_jobs.retrieve(job_id)
    ended = job.ended
    if not ended:
        job.cancel()
    if as_json:
        print_json(data_of(job))
    elif ended:
        note(f"{job.id} has already ended: {job.state}.")
    elif job.ended:
        note(f"{job.id} is cancelled.")
    else:
        note(f"{job.id} is being cancelled.")


@click.command(epilog=examples("roost delete greeter\nroost delete greeter --yes"))
@agent_argument()
@click.option("-y", "--yes", is_flag=True, help="Skip the confirmation.")
@connected
def delete(agent: str, yes: bool, as_json: bool) -> None:
    """Delete an agent, with its schedules, and stop its executions.

    Its stores and its execution history are kept.
    """
    from .asking import confirm
    from .output import data_of, note, print_json

    client = connect.client()
    found = connect.agent(agent)
    schedules = sum(1 for _ in client.schedules.list(agent_id=found.id))
    running = sum(1 for _ in client.executions.list(agent_id=found.id, state="running"))
    kept = len(found.store_ids or ())
    confirm(
        f"Delete {found.name}? This stops {_count(running, 'running execution')}, deletes "
        f"{_count(schedules, 'schedule')} and keeps {_count(kept, 'store')}.",
        yes,
    )
    found.delete()
    if as_json:
        print_json(data_of(found))
    else:
        note(f"Deleted {found.name} ({found.id}).")


def _count(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
