"""`roost builds`."""

from __future__ import annotations

import click

from .options import agent_argument, connected, limit_option
from .texts import examples

__all__ = ["builds"]


@click.command(epilog=examples("roost builds\nroost builds greeter\nroost builds --failed"))
@agent_argument(required=False)
@click.option("--failed", is_flag=True, help="Only those that failed.")
@limit_option()
@connected
def builds(agent: str | None, failed: bool, limit: int, everything: bool, as_json: bool) -> None:
    """List how dependencies were built: every attempt, newest first.

    `roost show bjob_…` explains one that failed, `roost logs bjob_…` has all that uv said, `roost
    show build_…` the packages.
    """
    from .lists import show_builder_jobs

    show_builder_jobs(agent, ["failed"] if failed else None, limit, everything, as_json)
