"""`roost schedule`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from . import connect
from .echo import echo
from .options import agent_argument, connected, payload_option
from .spans import LATER, SPAN
from .texts import examples

__all__ = ["schedule"]


@click.command(
    epilog=examples(
        """
        roost schedule greeter "0 7 * * mon-fri" --time-zone Europe/Berlin
        roost schedule greeter @hourly --name hourly --payload '{"name": "Ada"}'
        roost schedule greeter "*/5 * * * *" --overlap skip --dry-run
        """
    )
)
@agent_argument()
@click.argument("cron", metavar="CRON...", nargs=-1, required=True)
@click.option("--name", metavar="NAME", help="The schedule's name; unique per agent.")
@click.option(
    "--time-zone",
    "-z",
    metavar="ZONE",
    help="The time zone, such as Europe/Berlin; UTC by default.",
)
@payload_option
@click.option(
    "--missed-runs",
    type=click.Choice(["skip", "run_once", "run_all"]),
    help="Policy for runs missed while Roost was down; run_once by default.",
)
@click.option(
    "--overlap",
    type=click.Choice(["allow", "skip", "queue"]),
    help="Policy while an earlier run hasn't ended; allow by default.",
)
@click.option("--jitter", type=SPAN, help="Maximum random delay of each run.")
@click.option("--starts-at", type=LATER, help="No runs before this time.")
@click.option("--ends-at", type=LATER, help="No runs after this time.")
@click.option("--dry-run", is_flag=True, help="Print the next times without creating a schedule.")
@connected
def schedule(
    agent: str,
    cron: tuple[str, ...],
    name: str | None,
    time_zone: str | None,
    payload: str | None,
    missed_runs: Any,
    overlap: Any,
    jitter: float | None,
    starts_at: datetime | None,
    ends_at: datetime | None,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Run an agent on a schedule, given by a cron expression.

    CRON is one quoted argument or five fields. `roost schedules` lists, pauses, triggers and
    deletes schedules.
    """
    from .output import data_of, note, print_json
    from .payloads import read_payload

    client = connect.client()
    expression = " ".join(cron)
    value = read_payload(payload)
    found = connect.agent(agent)
    preview = client.schedules.preview(expression, time_zone=time_zone)
    if dry_run:
        if as_json:
            print_json(data_of(preview))
        else:
            note(f"{preview.description}:")
            print_times(preview.next, time_zone or "UTC")
        return
    created = client.schedules.create(
        agent_id=found.id,
        cron=expression,
        name=name,
        time_zone=time_zone,
        payload=value,
        missed_runs=missed_runs,
        overlap=overlap,
        jitter=jitter,
        starts_at=starts_at,
        ends_at=ends_at,
    )
    if as_json:
        print_json(data_of(created))
        return
    echo(created.id)
    note(f"{found.name} runs {_lowered(created.description)} ({created.time_zone}). Next runs:")
    print_times(created.next(3), created.time_zone, err=True)


def print_times(times: Any, zone: str, *, err: bool = False) -> None:
    """Print times in the zone, if this Python knows it, and the time until each."""
    from .times import in_zone, moment

    for time in times:
        echo(f"  {in_zone(time, zone)}  {moment(time)}", err=err)


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
