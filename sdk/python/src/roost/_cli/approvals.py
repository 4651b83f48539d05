"""`roost approvals`."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, get_args

import click

from .._states import ApprovalState
from . import connect
from .groups import Group
from .options import agent_option, connected, limit_option
from .payloads import read_json
from .states import States
from .texts import examples

if TYPE_CHECKING:
    import roost

__all__ = ["approvals"]

_id_argument = click.argument("approval", metavar="ID")
_comment_option = click.option("--comment", metavar="TEXT", help="For the script.")


@click.group(
    cls=Group,
    epilog=examples(
        """
        roost approvals list
        roost approvals show approval_01m8…
        roost approvals approve approval_01m8… --comment 'Go ahead.'
        roost approvals reject approval_01m8…
        """
    ),
)
def approvals() -> None:
    """What scripts ask people: list it, approve or reject."""


@approvals.command(
    "list", epilog=examples("roost approvals list\nroost approvals list --assignee ada")
)
@agent_option
@click.option(
    "--state",
    type=States(get_args(ApprovalState)),
    default="pending",
    show_default=True,
    help="Only these states.",
)
@click.option("--assignee", metavar="NAME", help="Only those that ask this one.")
@limit_option()
@connected
def list_(
    agent: str | None,
    state: list[ApprovalState],
    assignee: str | None,
    limit: int,
    everything: bool,
    as_json: bool,
) -> None:
    """List approvals, newest first."""
    from . import kinds

    found = connect.client().approvals.list(
        agent_id=None if agent is None else connect.agent(agent).id, state=state, assignee=assignee
    )
    some = list(found if everything else islice(found, limit + 1))
    names = {} if as_json else connect.agent_names(each.agent_id for each in some)
    kinds.approvals(names).show(some, as_json=as_json, limit=None if everything else limit)


@approvals.command(epilog=examples("roost approvals show approval_01m8…"))
@_id_argument
@connected
def show(approval: str, as_json: bool) -> None:
    """Show what is asked, and the decision."""
    from .output import data_of, facts, json_text, print_json, state_text
    from .times import moment

    found = connect.client().approvals.retrieve(approval)
    if as_json:
        print_json(data_of(found))
        return
    facts(
        [
            ("approval", found.id),
            ("title", found.title),
            ("state", state_text(found.state)),
            ("job", found.executor_job_id),
            ("assignees", ", ".join(found.assignees) or None),
            ("asked", moment(found.created_at)),
            ("expires", None if found.expires_at is None else moment(found.expires_at)),
            ("decided", None if found.decided_at is None else moment(found.decided_at)),
            ("decided by", found.decided_by),
            ("comment", found.comment),
            ("details", None if found.details is None else json_text(found.details)),
            ("form", None if found.form is None else json_text(found.form)),
            ("value", None if found.value is None else json_text(found.value)),
        ]
    )


@approvals.command(
    epilog=examples(
        """
        roost approvals approve approval_01m8…
        roost approvals approve approval_01m8… --value '{"amount": 20}'
        """
    )
)
@_id_argument
@click.option(
    "--value", metavar="JSON", help="What is filled in: JSON, @FILE, or - for standard input."
)
@_comment_option
@connected
def approve(approval: str, value: str | None, comment: str | None, as_json: bool) -> None:
    """Approve; the script continues."""
    given = None if value is None else read_json(value, "--value")
    found = connect.client().approvals.retrieve(approval)
    _report(found.approve(given, comment=comment), as_json)


@approvals.command(epilog=examples("roost approvals reject approval_01m8… --comment 'Too much.'"))
@_id_argument
@_comment_option
@connected
def reject(approval: str, comment: str | None, as_json: bool) -> None:
    """Reject; the script continues, and sees that it was rejected."""
    found = connect.client().approvals.retrieve(approval)
    _report(found.reject(comment=comment), as_json)


@approvals.command(epilog=examples("roost approvals link approval_01m8… --assignee ada"))
@_id_argument
@click.option("--assignee", metavar="NAME", help="In whose name it decides.")
@connected
def link(approval: str, assignee: str | None, as_json: bool) -> None:
    """Print a link that decides without a key, for a mail or a chat. It ends after a week."""
    from .echo import echo
    from .output import data_of, print_json

    made = connect.client().approvals.retrieve(approval).link(assignee)
    if as_json:
        print_json({**data_of(made), "url": made.url})
    else:
        echo(made.url)


def _report(approval: roost.Approval, as_json: bool) -> None:
    from .output import data_of, note, print_json

    if as_json:
        print_json(data_of(approval))
    else:
        note(f"{approval.id} is {approval.state}.")
