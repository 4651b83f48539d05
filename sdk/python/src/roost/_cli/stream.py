"""`roost stream`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from . import connect
from .echo import echo
from .failures import INTERRUPTED
from .options import connected
from .texts import examples

if TYPE_CHECKING:
    import roost

__all__ = ["print_values", "stream"]


@click.command(
    epilog=examples(
        """
        roost stream xjob_01m8…
        roost execute writer --no-wait | xargs roost stream
        """
    )
)
@click.argument("job", metavar="JOB")
@connected
def stream(job: str, as_json: bool) -> None:
    """Print the values that a job emits, as they come, until it has ended.

    One JSON value per line, from the first one of the latest attempt on. Nothing else is printed:
    `roost show` shows how it ended. With --json the same.
    """
    try:
        print_values(connect.client().executor_jobs.retrieve(job))
    except KeyboardInterrupt:
        raise click.exceptions.Exit(INTERRUPTED) from None


def print_values(job: roost.ExecutorJob) -> None:
    """Print the job's values, a line each, until it has ended; its progress in a terminal."""
    from .output import json_line, note
    from .progress import Progress

    def restarted(attempt: int) -> None:
        note(f"Attempt {attempt} has begun; the values begin again.")

    with Progress() as progress:
        values = job.stream(on_restart=restarted, on_progress=lambda said: progress.say(str(said)))
        for value in values:
            progress.clear()
            echo(json_line(value))
