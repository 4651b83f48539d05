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
@click.option("--name", metavar="NAME", help="What it is called; unique for the agent.")
@click.option("--time-zone", "-z", metavar="ZONE", help="Such as Europe/Berlin; UTC by default.")
@payload_option
@click.option(
    "--missed-runs",
    type=click.Choice(["skip", "run_once", "run_all"]),
    help="What becomes of times that passed while Roost was down; run_once by default.",
)
@click.option(
    "--overlap",
    type=click.Choice(["allow", "skip", "queue"]),
    help="What becomes of a run while an earlier one isn't over; allow by default.",
)
@click.option("--jitter", type=SPAN, help="Delay each run by up to that long.")
@click.option("--starts-at", type=LATER, help="Not before this time.")
@click.option("--ends-at", type=LATER, help="Not after this time.")
@click.option("--dry-run", is_flag=True, help="Only say when it would run.")
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
    """Have an agent run at the times of a cron expression.

    CRON is one argument in quotes, or its five fields. `roost schedules` lists, pauses, triggers
    and deletes them.
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
    made = client.schedules.create(
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
        print_json(data_of(made))
        return
    echo(made.id)
    note(f"{found.name} runs {_lowered(made.description)} ({made.time_zone}). The next times:")
    print_times(made.next(3), made.time_zone, err=True)


def print_times(times: Any, zone: str, *, err: bool = False) -> None:
    """Print times, in that zone if this Python knows it, and how far away each is."""
    from .times import in_zone, moment

    for time in times:
        echo(f"  {in_zone(time, zone)}  {moment(time)}", err=err)


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]
