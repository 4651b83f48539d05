"""`roost revisions` and `roost rollback`."""

from __future__ import annotations

import click

from . import connect
from .options import agent_argument, connected, limit_option, values_option
from .texts import examples

__all__ = ["revisions", "rollback"]


@click.command(epilog=examples("roost revisions greeter\nroost revisions greeter --diff 3"))
@agent_argument()
@click.option(
    "--diff", type=click.IntRange(min=1), metavar="N", help="Show changes since revision N."
)
@limit_option()
@values_option
@connected
def revisions(
    agent: str, diff: int | None, limit: int, everything: bool, values: bool, as_json: bool
) -> None:
    """List an agent's revisions, newest first.

    Every change of its script, requirements, variables or Python version creates a revision.
    """
    from . import kinds
    from .comparing import revision_changes
    from .output import print_diff, print_json

    found = connect.agent(agent)
    if diff is not None:
        changes = revision_changes(found.revision_at(diff), found)
        if as_json:
            print_json([change.as_data() for change in changes])
        else:
            print_diff(changes, f"revision {diff}", "now")
        return
    each = found.revisions()
    most = None if everything else limit
    kinds.revisions(found).show(each, as_json=as_json, limit=most, values=values)


@click.command(epilog=examples("roost rollback greeter 3"))
@agent_argument()
@click.argument("revision", type=click.IntRange(min=1), metavar="N")
@connected
def rollback(agent: str, revision: int, as_json: bool) -> None:
    """Restore an earlier revision of an agent.

    This creates a new revision, so it can be undone.
    """
    from .output import note, print_json, shown_data

    found = connect.agent(agent)
    before = found.revision
    found.roll_back(revision)
    if as_json:
        print_json(shown_data(found))
    elif found.revision == before:
        note(f"{found.name} is already the same as revision {revision}.")
    else:
        note(
            f"Rolled {found.name} back to revision {revision}, as revision {found.revision}. "
            f"`roost rollback {found.name} {before}` undoes this."
        )
