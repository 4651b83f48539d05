"""`roost issues`."""

from __future__ import annotations

from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, get_args

import click

from .._states import IssueState
from . import connect
from .groups import Group
from .options import agent_option, connected, limit_option
from .spans import TIME
from .states import States
from .texts import examples

if TYPE_CHECKING:
    import roost

__all__ = ["issues"]

_MOST_PER_CALL = 1_000

_id_argument = click.argument("issue", metavar="ID")


@click.group(
    cls=Group,
    epilog=examples(
        """
        roost issues list
        roost issues show issue_01m8…
        roost issues replay issue_01m8… --dry-run
        roost issues resolve issue_01m8…
        """
    ),
)
def issues() -> None:
    """Failures grouped by cause: list them, run their jobs again, resolve or mute them."""


@issues.command(
    "list",
    epilog=examples("roost issues list\nroost issues list --agent greeter --state open,muted"),
)
@agent_option
@click.option(
    "--state",
    type=States(get_args(IssueState)),
    default="open",
    show_default=True,
    help="Only these states.",
)
@click.option("--reason", metavar="REASON", help="Only issues with this reason.")
@limit_option()
@connected
def list_(
    agent: str | None,
    state: list[IssueState],
    reason: str | None,
    limit: int,
    everything: bool,
    as_json: bool,
) -> None:
    """List issues, newest first."""
    from .issue_texts import listing

    found = connect.client().issues.list(
        agent_id=None if agent is None else connect.agent(agent).id, state=state, reason=reason
    )
    some = list(found if everything else islice(found, limit + 1))
    names = {} if as_json else connect.agent_names(each.agent_id for each in some)
    listing(names).show(some, as_json=as_json, limit=None if everything else limit)


@issues.command(epilog=examples("roost issues show issue_01m8…"))
@_id_argument
@connected
def show(issue: str, as_json: bool) -> None:
    """Show an issue and the traceback of its latest failure."""
    from . import issue_texts
    from .output import data_of, print_json

    found = connect.client().issues.retrieve(issue)
    if as_json:
        print_json(data_of(found))
    else:
        issue_texts.describe(found)


@issues.command(epilog=examples("roost issues resolve issue_01m8…"))
@_id_argument
@connected
def resolve(issue: str, as_json: bool) -> None:
    """Resolve an issue. A later failure of the same cause opens it again."""
    from .issue_texts import report

    found = connect.client().issues.resolve(issue)
    report(found, as_json, f"{found.id} is resolved.")


@issues.command(epilog=examples("roost issues mute issue_01m8…"))
@_id_argument
@connected
def mute(issue: str, as_json: bool) -> None:
    """Mute an issue. It counts failures, and raises no events until it is reopened."""
    from .issue_texts import report

    found = connect.client().issues.mute(issue)
    report(found, as_json, f"{found.id} is muted. `roost issues reopen {found.id}` reopens it.")


@issues.command(epilog=examples("roost issues reopen issue_01m8…"))
@_id_argument
@connected
def reopen(issue: str, as_json: bool) -> None:
    """Reopen a resolved or muted issue."""
    from .issue_texts import report

    found = connect.client().issues.reopen(issue)
    report(found, as_json, f"{found.id} is open.")


@issues.command(
    epilog=examples(
        """
        roost issues replay issue_01m8… --dry-run
        roost issues replay issue_01m8… --since 24h --yes
        roost issues replay issue_01m8… xjob_01m8… xjob_01m9…
        """
    )
)
@_id_argument
@click.argument("jobs", metavar="[JOB]...", nargs=-1)
@click.option("--since", type=TIME, help="Only failures at or after this time.")
@click.option("--until", type=TIME, help="Only failures before this time.")
@click.option("--include-succeeded", is_flag=True, help="Also jobs that have succeeded since.")
@click.option(
    "-n",
    "--limit",
    type=click.IntRange(1, _MOST_PER_CALL),
    default=_MOST_PER_CALL,
    show_default=True,
    metavar="N",
    help="Maximum number of jobs.",
)
@click.option("--dry-run", is_flag=True, help="Only print which jobs would run again.")
@click.option("-y", "--yes", is_flag=True, help="Skip the confirmation.")
@connected
def replay(
    issue: str,
    jobs: tuple[str, ...],
    since: datetime | None,
    until: datetime | None,
    include_succeeded: bool,
    limit: int,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Run the jobs of an issue again, with their payloads and the agent's running revision.

    All affected jobs, or the given ones. Jobs that have succeeded since, or are queued or running
    again, are left out. Prints the ids of the new jobs.
    """
    from .asking import confirm
    from .issue_texts import preview_text, report_replay

    found = connect.client().issues

    def run(preview: bool) -> roost.Replay:
        return found.replay(
            issue,
            jobs or None,
            since=since,
            until=until,
            include_succeeded=include_succeeded,
            limit=limit,
            preview=preview,
        )

    if dry_run:
        report_replay(run(preview=True), as_json)
        return
    if not yes and not jobs:
        expected = run(preview=True)
        if expected.count:
            confirm(f"{preview_text(expected)} Run now?", yes)
    report_replay(run(preview=False), as_json)
