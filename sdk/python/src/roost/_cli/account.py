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
@click.option("--url", metavar="URL", help=f"The server's URL; {_LOCAL_URL} by default.")
@click.option(
    "--key", metavar="-", help="Read the API key from standard input (-) instead of prompting."
)
@connected
def login(url: str | None, key: str | None, as_json: bool) -> None:
    """Save a server's URL and API key.

    Both are verified, then written to ~/.config/roost/config.toml, which only you can read. A
    server on this machine needs no login.
    """
    import roost

    from .. import _profiles

    name = _profile_name()
    if url is None:
        saved = _profiles.load().get(name)
        url = os.environ.get("ROOST_URL") or (saved.url if saved else None) or _LOCAL_URL
    if key not in (None, "-"):
        raise click.UsageError(
            "Other users can see a command's arguments. Use --key - to read the key from "
            "standard input, or omit --key to be prompted."
        )
    secret = _read_key(url, key)
    with roost.Client(secret, url) as client:
        session = _session(client)
        path = _profiles.save(name, client.base_url, secret)
        _print_session(client, session, as_json, f"Signed in; saved to {path}")
    overriding = [each for each in ("ROOST_API_KEY", "ROOST_URL") if os.environ.get(each)]
    if overriding:
        echo(f"{' and '.join(overriding)} in the environment still takes precedence.", err=True)


@click.command(epilog=examples("roost logout\nroost logout --profile staging"))
@profile_option
@json_option
def logout(as_json: bool) -> None:
    """Remove a profile's server and API key from this machine. The key stays valid."""
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
    """Show the server, the API key and its role."""
    client = connect.client()
    _print_session(client, _session(client), as_json)


def _session(client: roost.Client) -> dict[str, Any]:
    data: dict[str, Any] = client._transport.get("/session")
    return data


def _print_session(
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
        raise click.UsageError("There is no terminal to prompt for the key. Use --key - .")
    text = text.strip()
    if not text:
        raise click.UsageError("The API key is empty.")
    return text
