"""`roost login`, `logout` and `whoami`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from . import connect
from .echo import echo
from .failures import NOT_FOUND, Failure
from .options import connected, json_option, profile_option, state
from .texts import examples

if TYPE_CHECKING:
    import roost

__all__ = ["login", "logout", "whoami"]

_LOCAL_URL = "http://127.0.0.1:8080"


@click.command(
    epilog=examples(
        """
        roost login --url https://roost.example.org
        roost login --url https://roost.example.org --key - < key.txt
        roost login --profile staging --url https://staging.example.org
        """
    )
)
@click.option("--url", metavar="URL", help=f"The server; {_LOCAL_URL} by default.")
@click.option("--key", metavar="-", help="- reads the API key from standard input; else it asks.")
@connected
def login(url: str | None, key: str | None, as_json: bool) -> None:
    """Keep the address of a server and an API key for it.

    They are tried first, and then written to ~/.config/roost/config.toml, which only you can read.
    A Roost that was started on this machine needs no login.
    """
    import roost

    from .. import _profiles

    name = _profile_name()
    if url is None:
        kept = _profiles.load().get(name)
        url = os.environ.get("ROOST_URL") or (kept.url if kept else None) or _LOCAL_URL
    if key not in (None, "-"):
        raise click.UsageError(
            "A key among the arguments could be seen by others. Write --key - and give it on "
            "standard input, or leave it out to be asked for it."
        )
    secret = _read_key(url, key)
    with roost.Client(secret, url) as client:
        session = _session(client)
        path = _profiles.save(name, client.base_url, secret)
        _tell(client, session, as_json, f"Signed in, kept in {path}")
    overriding = [each for each in ("ROOST_API_KEY", "ROOST_URL") if os.environ.get(each)]
    if overriding:
        echo(f"{' and '.join(overriding)} in the environment still takes precedence.", err=True)


@click.command(epilog=examples("roost logout\nroost logout --profile staging"))
@profile_option
@json_option
def logout(as_json: bool) -> None:
    """Forget the server and the key of a profile. The key stays valid."""
    from .. import _profiles
    from .output import print_json

    name = _profile_name()
    removed = _profiles.remove(name)
    if as_json:
        print_json({"profile": name, "removed": removed})
    elif removed:
        echo(f'Removed the profile "{name}" from {_profiles.config_path()}.', err=True)
    else:
        raise Failure(f'You are not signed in: there is no profile "{name}".', NOT_FOUND)


@click.command(epilog=examples("roost whoami\nroost whoami --json"))
@connected
def whoami(as_json: bool) -> None:
    """Show which server is asked, with which key, and what that may do."""
    client = connect.client()
    _tell(client, _session(client), as_json)


def _session(client: roost.Client) -> dict[str, Any]:
    data: dict[str, Any] = client._transport.get("/session")
    return data


def _tell(
    client: roost.Client, session: dict[str, Any], as_json: bool, done: str | None = None
) -> None:
    from .output import facts, print_json

    key = session["key"]
    if as_json:
        print_json({"url": client.base_url, **session})
        return
    if done:
        echo(done, err=True)
    facts(
        [
            ("server", client.base_url),
            ("key", f"{key['name']} ({key['id']})"),
            ("role", key["role"]),
        ]
    )


def _profile_name() -> str:
    return state().profile or os.environ.get("ROOST_PROFILE") or "default"


def _read_key(url: str, key: str | None) -> str:
    if key == "-":
        text = sys.stdin.readline()
    elif sys.stdin.isatty():
        text = click.prompt(f"API key for {url}", hide_input=True, err=True)
    else:
        raise click.UsageError("There is no terminal to ask for the key. Write --key - .")
    text = text.strip()
    if not text:
        raise click.UsageError("The API key is empty.")
    return text
