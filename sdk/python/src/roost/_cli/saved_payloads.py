"""`roost payloads`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from . import connect
from .failures import Failure
from .groups import Group
from .options import agent_argument, connected
from .texts import examples

if TYPE_CHECKING:
    import roost

__all__ = ["payloads", "saved_payload"]

_name_argument = click.argument("name", metavar="NAME")


@click.group(
    cls=Group,
    epilog=examples(
        """
        roost payloads save greeter ada --payload '{"name": "Ada"}'
        roost payloads list greeter
        roost execute greeter --saved ada
        """
    ),
)
def payloads() -> None:
    """Payloads that are saved for an agent, to run it with them again."""


@payloads.command("list", epilog=examples("roost payloads list greeter"))
@agent_argument()
@connected
def list_(agent: str, as_json: bool) -> None:
    """List an agent's saved payloads, by name."""
    from . import kinds

    found = connect.agent(agent)
    kinds.saved_payloads(found).show(found.payloads(), as_json=as_json, limit=None)


@payloads.command(
    epilog=examples("roost payloads show greeter ada\nroost payloads show greeter ada > ada.json")
)
@agent_argument()
@_name_argument
@connected
def show(agent: str, name: str, as_json: bool) -> None:
    """Print a saved payload, which is JSON.

    With --json, print its size and times as well.
    """
    from .output import data_of, print_json

    saved = saved_payload(connect.agent(agent), name)
    print_json(data_of(saved) if as_json else saved.payload)


@payloads.command(
    epilog=examples(
        """
        roost payloads save greeter ada --payload '{"name": "Ada"}'
        roost payloads save greeter everyone --payload @people.json
        """
    )
)
@agent_argument()
@_name_argument
@click.option(
    "--payload",
    required=True,
    metavar="JSON|@FILE|-",
    help="The payload: JSON, a file of JSON, or - for standard input.",
)
@connected
def save(agent: str, name: str, payload: str, as_json: bool) -> None:
    """Save a payload under a name; replaces the one with that name."""
    from .output import data_of, note, print_json
    from .payloads import read_payload

    value = read_payload(payload)
    found = connect.agent(agent)
    saved = found.save_payload(name, value)
    if as_json:
        print_json(data_of(saved))
    else:
        note(f"Saved {name!r} for {found.name}.")


@payloads.command(epilog=examples("roost payloads delete greeter ada"))
@agent_argument()
@_name_argument
@connected
def delete(agent: str, name: str, as_json: bool) -> None:
    """Delete a saved payload."""
    import roost

    from .output import note, print_json

    found = connect.agent(agent)
    try:
        found.delete_payload(name)
    except roost.NotFound:
        raise _unknown(found, name) from None
    if as_json:
        print_json({"name": name, "deleted": True})
    else:
        note(f"Deleted {name!r} of {found.name}.")


def saved_payload(agent: roost.Agent, name: str) -> roost.SavedPayload:
    """Return the agent's saved payload; raises `Failure` with advice if it doesn't exist."""
    import roost

    try:
        return agent.payload(name)
    except roost.NotFound:
        raise _unknown(agent, name) from None


def _unknown(agent: roost.Agent, name: str) -> Failure:
    return Failure(
        f"{agent.name} has no saved payload {name!r}.",
        hint=f"`roost payloads list {agent.name}` lists them.",
    )
