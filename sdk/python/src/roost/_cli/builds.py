"""`roost builds`."""

from __future__ import annotations

import click

from .options import agent_argument, connected, limit_option
from .texts import examples

__all__ = ["builds"]


@click.command(epilog=examples("roost builds\nroost builds greeter\nroost builds --failed"))
@agent_argument(required=False)
@click.option("--failed", is_flag=True, help="Only failed builds.")
@limit_option()
@connected
def builds(agent: str | None, failed: bool, limit: int, everything: bool, as_json: bool) -> None:
    """List attempts to build dependencies, newest first.

    `roost show bjob_…` explains a failure, `roost logs bjob_…` prints uv's output, `roost show
    build_…` lists the packages.
    """
    from .lists import show_builder_jobs

    show_builder_jobs(agent, ["failed"] if failed else None, limit, everything, as_json)
