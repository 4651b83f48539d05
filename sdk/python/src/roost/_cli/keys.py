"""`roost keys`."""

from __future__ import annotations

from typing import Any

import click

from . import connect
from .echo import echo
from .groups import Group
from .options import connected, limit_option
from .texts import examples

__all__ = ["keys"]


@click.group(
    cls=Group,
    epilog=examples(
        """
        roost keys list
        roost keys create ci --role execute
        roost keys delete key_01m8…
        """
    ),
)
def keys() -> None:
    """Create, list and delete API keys."""


@keys.command("list", epilog=examples("roost keys list"))
@limit_option()
@connected
def list_(limit: int, everything: bool, as_json: bool) -> None:
    """List keys, without the keys themselves."""
    from .lists import show_keys

    show_keys(limit, everything, as_json)


@keys.command(
    epilog=examples("roost keys create ci --role execute\nKEY=$(roost keys create ci --role read)")
)
@click.argument("name", metavar="NAME")
@click.option(
    "--role",
    type=click.Choice(["read", "execute", "write"]),
    required=True,
    help="read views, execute also runs agents, write also changes everything.",
)
@connected
def create(name: str, role: Any, as_json: bool) -> None:
    """Create a key and print it. It can't be shown again."""
    from .output import data_of, note, print_json

    key = connect.client().keys.create(name=name, role=role)
    if as_json:
        print_json(data_of(key))
        return
    echo(key.key or "")
    note(f"This is the key {key.name} ({key.id}, {key.role}). It can't be shown again.")


@keys.command(epilog=examples("roost keys delete key_01m8…\nroost keys delete ci"))
@click.argument("key", metavar="KEY")
@click.option("-y", "--yes", is_flag=True, help="Skip the confirmation.")
@connected
def delete(key: str, yes: bool, as_json: bool) -> None:
    """Delete a key by its id or name. The server rejects it immediately."""
    from .asking import confirm
    from .output import note, print_json

    client = connect.client()
    id_ = key if connect.kind_of(key) == "key" else connect.key_id(key)
    shown = key if id_ == key else f"{key} ({id_})"
    confirm(f"Delete the key {shown}? Requests that use it will be rejected.", yes)
    client.keys.delete(id_)
    if as_json:
        print_json({"id": id_, "deleted": True})
    else:
        note(f"Deleted {shown}.")
