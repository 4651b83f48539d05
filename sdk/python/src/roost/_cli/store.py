"""`roost store`."""

from __future__ import annotations

import sys
from typing import Any

import click

from . import connect
from .echo import echo
from .failures import CONFLICT, NOT_FOUND, Failure
from .groups import Group
from .options import connected, limit_option, profile_option, store_argument
from .spans import SPAN
from .texts import examples

__all__ = ["store"]

_key_argument = click.argument("key", metavar="KEY")


@click.group(
    cls=Group,
    epilog=examples(
        """
        roost store list
        roost store set people ada '{"born": 1815}'
        roost store get people ada
        roost store ls people --prefix user/
        roost store export people > people.ndjson
        """
    ),
)
def store() -> None:
    """Manage data stores. STORE is a store's id or name."""


@store.command("list", epilog=examples("roost store list"))
@limit_option()
@connected
def list_(limit: int, everything: bool, as_json: bool) -> None:
    """List stores."""
    from .lists import show_stores

    show_stores(limit, everything, as_json)


@store.command(epilog=examples("roost store create people"))
@click.argument("name", metavar="NAME")
@connected
def create(name: str, as_json: bool) -> None:
    """Create an empty store and print its id."""
    from .output import data_of, print_json

    created = connect.client().datastores.create(name)
    if as_json:
        print_json(data_of(created))
    else:
        echo(created.id)


@store.command(epilog=examples("roost store get people ada"))
@store_argument
@_key_argument
@connected
def get(store: str, key: str, as_json: bool) -> None:
    """Print a key's value as JSON. With --json, also its version and expiry."""
    from .output import data_of, print_json

    found = connect.store(store)
    try:
        entry = found.entry(key)
    except KeyError:
        raise _absent(found.name, key) from None
    print_json(data_of(entry) if as_json else entry.value)


@store.command(
    "set",
    epilog=examples(
        """
        roost store set people ada '{"born": 1815}'
        roost store set people token '"…"' --ttl 1h
        roost store set people config @config.json
        """
    ),
)
@store_argument
@_key_argument
@click.argument("value", metavar="JSON|@FILE|-")
@click.option("--ttl", type=SPAN, help="Expire after this time: 90, 5min, 2h, 7d.")
@click.option(
    "--if-version",
    type=click.IntRange(min=0),
    metavar="N",
    help="Only if the entry has this version; 0: only if it is absent.",
)
@connected
def set_(
    store: str, key: str, value: str, ttl: float | None, if_version: int | None, as_json: bool
) -> None:
    """Store a JSON value under a key."""
    import roost

    from .output import print_json
    from .payloads import read_json

    wanted = read_json(value, "The value")
    found = connect.store(store)
    try:
        version = found.set(key, wanted, ttl=ttl, if_match=if_version)
    except roost.PreconditionFailed as error:
        hint = f"`roost store get {store} {key} --json` shows its version."
        raise Failure(f'"{key}" is not of version {if_version}.', CONFLICT, hint) from error
    if as_json:
        print_json({"key": key, "version": version})


@store.command(epilog=examples("roost store delete people ada\nroost store delete people --yes"))
@store_argument
@click.argument("key", metavar="[KEY]", required=False)
@click.option(
    "-y", "--yes", is_flag=True, help="Skip the confirmation before deleting a whole store."
)
@click.option("--force", is_flag=True, help="Delete the store even if agents use it.")
@connected
def delete(store: str, key: str | None, yes: bool, force: bool, as_json: bool) -> None:
    """Delete a key, or the whole store if no key is given."""
    from .asking import confirm
    from .output import note, print_json

    found = connect.store(store)
    if key is None:
        confirm(f"Delete the store {found.name} with {found.entries:,} entries?", yes)
        found.delete(force=force)
        note(f"Deleted the store {found.name} ({found.id}).")
    else:
        try:
            del found[key]
        except KeyError:
            raise _absent(found.name, key) from None
    if as_json:
        print_json({"store": found.id, "key": key, "deleted": True})


@store.command(epilog=examples("roost store ls people\nroost store ls people --prefix user/ --all"))
@store_argument
@click.option("--prefix", default="", metavar="TEXT", help="Only keys with this prefix.")
@limit_option(100)
@connected
def ls(store: str, prefix: str, limit: int, everything: bool, as_json: bool) -> None:
    """List a store's entries, in the order of their keys."""
    from .output import Column, Listing
    from .times import moment

    def row(entry: Any) -> tuple[str, str, str, str]:
        return (entry.key, _short(entry.value), str(entry.version), moment(entry.expires_at))

    columns = (
        Column("KEY"),
        Column("VALUE"),
        Column("VERSION", whole=True, right=True),
        Column("EXPIRES", whole=True),
    )
    found = connect.store(store)
    listing = Listing(columns, row, "No entries match.", order="first")
    listing.show(found.scan(prefix), as_json=as_json, limit=None if everything else limit)


@store.command(
    "export",
    epilog=examples(
        "roost store export people > people.ndjson\nroost store export people -o people.ndjson"
    ),
)
@store_argument
@click.option("--prefix", default="", metavar="TEXT", help="Only keys with this prefix.")
@click.option("-o", "--output", metavar="FILE", help="Write to a file.")
@click.option("--resume", is_flag=True, help="Continue an incomplete FILE.")
@profile_option
def export(store: str, prefix: str, output: str | None, resume: bool) -> None:
    """Print all entries, one line of JSON per entry."""
    from .output import note

    if resume and output is None:
        raise click.UsageError("--resume requires --output.")
    found = connect.store(store)
    if output is None:
        found.export(sys.stdout.buffer, prefix)
    else:
        lines = found.export(output, prefix, resume=resume)
        note(f"Wrote {lines:,} entries to {output}.")


@store.command("import", epilog=examples("roost store import people people.ndjson"))
@store_argument
@click.argument("file", type=click.File("rb"), metavar="FILE|-")
@connected
def import_(store: str, file: Any, as_json: bool) -> None:
    """Import the output of `roost store export`. Existing keys are overwritten."""
    from .output import note, print_json

    found = connect.store(store)
    entries = found.import_(file)
    if as_json:
        print_json({"store": found.id, "imported": entries})
    else:
        note(f"Imported {entries:,} entries into {found.name}.")


def _absent(store: str, key: str) -> Failure:
    hint = f"`roost store ls {store}` lists the keys."
    return Failure(f'There is no key "{key}" in {store}.', NOT_FOUND, hint)


def _short(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)[:500]
