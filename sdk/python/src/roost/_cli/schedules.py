"""`roost schedules`."""

from __future__ import annotations

from typing import Any

import click

from . import connect
from .echo import echo
from .groups import Group
from .options import agent_option, connected, limit_option
from .texts import examples

__all__ = ["schedules"]

_id_argument = click.argument("schedule", metavar="ID")


@click.group(
    cls=Group,
    epilog=examples(
        """
        roost schedules list --agent greeter
        roost schedules pause sched_01m8…
        roost schedules trigger sched_01m8…
        """
    ),
)
def schedules() -> None:
    """List, pause, resume, trigger and delete schedules."""


@schedules.command("list", epilog=examples("roost schedules list --agent greeter"))
@agent_option
@limit_option()
@connected
def list_(agent: str | None, limit: int, everything: bool, as_json: bool) -> None:
    """List schedules and their next runs."""
    from .lists import show_schedules

    show_schedules(agent, limit, everything, as_json)


@schedules.command(epilog=examples("roost schedules pause sched_01m8…"))
@_id_argument
@connected
def pause(schedule: str, as_json: bool) -> None:
    """Pause a schedule. Runs skipped by a pause are not missed runs."""
    found = connect.client().schedules.pause(schedule)
    _report(
        found, as_json, f"{found.id} is paused. `roost schedules resume {found.id}` resumes it."
    )


@schedules.command(epilog=examples("roost schedules resume sched_01m8…"))
@_id_argument
@connected
def resume(schedule: str, as_json: bool) -> None:
    """Resume a paused schedule, with its next time from now."""
    from .times import moment

    found = connect.client().schedules.resume(schedule)
    _report(
        found, as_json, f"{found.id} is active; next run: {moment(found.next_run_at) or 'never'}."
    )


@schedules.command(epilog=examples("roost schedules trigger sched_01m8…"))
@_id_argument
@connected
def trigger(schedule: str, as_json: bool) -> None:
    """Run a schedule once now, even if it is paused. Prints the job's id."""
    from .output import data_of, note, print_json

    job = connect.client().schedules.trigger(schedule)
    if as_json:
        print_json(data_of(job))
    else:
        echo(job.id)
        note(f"`roost logs -f {job.id}` follows its log.")


@schedules.command(epilog=examples("roost schedules delete sched_01m8…"))
@_id_argument
@click.option("-y", "--yes", is_flag=True, help="Skip the confirmation.")
@connected
def delete(schedule: str, yes: bool, as_json: bool) -> None:
    """Delete a schedule. Its jobs are kept."""
    from .asking import confirm

    client = connect.client()
    found = client.schedules.retrieve(schedule)
    confirm(f"Delete the schedule {found.cron} ({found.id})?", yes)
    found.delete()
    _report(found, as_json, f"Deleted {found.id}.")


@schedules.command(
    "next", epilog=examples('roost schedules next sched_01m8… -n 10\nroost schedules next "@daily"')
)
@click.argument("schedule", metavar="ID|CRON")
@click.option(
    "-n",
    "--count",
    type=click.IntRange(1, 100),
    default=5,
    show_default=True,
    metavar="N",
    help="Number of times to print.",
)
@click.option("--time-zone", "-z", metavar="ZONE", help="The time zone of CRON; UTC by default.")
@connected
def next_(schedule: str, count: int, time_zone: str | None, as_json: bool) -> None:
    """Print the next times of a schedule, or of a cron expression."""
    from .output import data_of, note, print_json
    from .schedule import print_times

    client = connect.client()
    if connect.kind_of(schedule) == "schedule":
        zone = client.schedules.retrieve(schedule).time_zone
        preview = client.schedules.next(schedule, count)
    else:
        zone = time_zone or "UTC"
        preview = client.schedules.preview(schedule, time_zone=time_zone, count=count)
    if as_json:
        print_json(data_of(preview))
    else:
        note(f"{preview.description} ({zone}):")
        print_times(preview.next, zone)


def _report(schedule: Any, as_json: bool, text: str) -> None:
    from .output import data_of, note, print_json

    if as_json:
        print_json(data_of(schedule))
    else:
        note(text)
