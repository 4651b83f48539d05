"""`roost url`."""

from __future__ import annotations

import os
import sys
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

import click

from . import connect
from .failures import Failure
from .groups import Group
from .options import agent_argument, connected
from .texts import examples

if TYPE_CHECKING:
    import roost

__all__ = ["url"]


@click.group(
    cls=Group,
    epilog=examples(
        """
        roost url set greeter
        roost url set deployer --authentication signature --scheme github --secret-from -
        roost url show greeter
        """
    ),
)
def url() -> None:
    """URLs at which agents can be called."""


@url.command(epilog=examples("roost url show greeter"))
@agent_argument()
@connected
def show(agent: str, as_json: bool) -> None:
    """Show the URL of an agent, and what it requires."""
    import roost

    found = connect.agent(agent)
    try:
        _print(found.url(), as_json)
    except roost.NotFound:
        raise _none(found) from None


@url.command(
    "set",
    epilog=examples(
        """
        roost url set greeter --method GET --method POST
        roost url set page --authentication public --requests-per-minute 60 --format http
        roost url set deployer --authentication signature --scheme github --secret-from SECRET
        """
    ),
)
@agent_argument()
@click.option(
    "--method",
    "methods",
    multiple=True,
    type=click.Choice(["GET", "POST", "PUT", "PATCH", "DELETE"]),
    help="A method that it takes; POST by default. Repeatable.",
)
@click.option(
    "--mode",
    type=click.Choice(["wait", "accept"]),
    help="wait responds with the result (the default), accept with the job's id.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["json", "http"]),
    help="json: the body is the payload (the default); http: request.http is the request.",
)
@click.option(
    "--authentication",
    type=click.Choice(["key", "signature", "public"]),
    help="What requests require: an API key (the default), a signature, or nothing.",
)
@click.option(
    "--scheme",
    type=click.Choice(["standard_webhooks", "github", "stripe", "slack"]),
    help="How requests are signed.",
)
@click.option(
    "--secret-from",
    metavar="-|VARIABLE",
    help="Where the secret of signatures is: standard input, or an environment variable.",
)
@click.option(
    "--keep-previous-secret",
    "keep_previous",
    type=click.IntRange(0, 604_800),
    metavar="SECONDS",
    help="How long signatures with the secret before stay valid; not at all by default.",
)
@click.option(
    "--cors-origin",
    "origins",
    multiple=True,
    metavar="ORIGIN",
    help="An origin whose pages may read the responses, or *. Repeatable.",
)
@click.option(
    "--requests-per-minute",
    "limit",
    type=click.IntRange(min=1),
    metavar="N",
    help="The maximum on each replica; public requires it.",
)
@click.option(
    "--wait-seconds",
    type=click.IntRange(1, 60),
    metavar="N",
    help="How long a request waits for the result; 30 by default.",
)
@connected
def set_(
    agent: str,
    methods: Any,
    mode: Any,
    format_: Any,
    authentication: Any,
    scheme: Any,
    secret_from: str | None,
    keep_previous: int | None,
    origins: tuple[str, ...],
    limit: int | None,
    wait_seconds: int | None,
    as_json: bool,
) -> None:
    """Give an agent a URL, or replace all settings of its URL.

    The secret stays if the scheme does. For standard_webhooks, Roost generates one.
    """
    secret = None if secret_from is None else _secret(secret_from)
    found = connect.agent(agent)
    changed = found.set_url(
        methods=list(methods) or None,
        mode=mode,
        format=format_,
        authentication=authentication,
        signature_scheme=scheme,
        secret=secret,
        previous_secret_seconds=keep_previous,
        cors_origins=list(origins) or None,
        requests_per_minute=limit,
        wait_seconds=wait_seconds,
    )
    _print(changed, as_json, is_secret_known=secret is not None)


@url.command(epilog=examples("roost url remove greeter"))
@agent_argument()
@connected
def remove(agent: str, as_json: bool) -> None:
    """Remove the URL of an agent."""
    import roost

    from .output import note, print_json

    found = connect.agent(agent)
    try:
        found.remove_url()
    except roost.NotFound:
        raise _none(found) from None
    if as_json:
        print_json({"agent_id": found.id, "deleted": True})
    else:
        note(f"Removed the URL of {found.name}.")


def _secret(source: str) -> str:
    if source != "-":
        text = os.environ.get(source, "")
        if not text:
            raise click.UsageError(f"There is no environment variable {source}.")
        return text
    if sys.stdin.isatty():
        text = click.prompt("Secret", hide_input=True, err=True)
    else:
        text = sys.stdin.readline()
    text = text.rstrip("\r\n")
    if not text:
        raise click.UsageError("The secret is empty.")
    return text


def _print(found: roost.AgentUrl, as_json: bool, *, is_secret_known: bool = False) -> None:
    from .output import data_of, facts, note, print_json

    if as_json:
        print_json({**data_of(found), "url": _address(found)})
        return
    limit = found.requests_per_minute
    signed = f", {found.signature_scheme}" if found.signature_scheme else ""
    facts(
        [
            ("url", _address(found)),
            ("methods", ", ".join(found.methods)),
            ("authentication", found.authentication + signed),
            ("mode", found.mode),
            ("format", found.format),
            ("waits", f"{found.wait_seconds} s" if found.mode == "wait" else None),
            ("limit", f"{limit:,} requests per minute" if limit else None),
            ("CORS", "\n".join(found.cors_origins) or None),
            ("secret", None if is_secret_known else found.secret),
            ("secret before", _until(found)),
        ]
    )
    if found.secret and not is_secret_known:
        note("The secret can't be shown again. Give it to the sender.")


def _until(found: roost.AgentUrl) -> str | None:
    from .times import moment

    until = found.previous_secret_until
    is_valid = until is not None and until > datetime.now(timezone.utc)
    return f"valid, ends {moment(until)}" if is_valid else None


def _address(found: roost.AgentUrl) -> str:
    """Return the whole address, also of a server that doesn't know its own."""
    return found.url if "://" in found.url else connect.client().base_url + found.url


def _none(agent: roost.Agent) -> Failure:
    return Failure(f"{agent.name} has no URL.", hint=f"`roost url set {agent.name}` gives it one.")
