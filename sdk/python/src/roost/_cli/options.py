"""Options and arguments shared by commands."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, TypeVar

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    import roost

__all__ = [
    "State",
    "agent_argument",
    "agent_option",
    "all_option",
    "complete",
    "connected",
    "json_option",
    "limit_option",
    "file_option",
    "payload_option",
    "profile_option",
    "state",
    "store_argument",
    "store_names",
    "tag_option",
    "target_argument",
    "values_option",
]

_MOST_STORES = 1_000

F = TypeVar("F", bound=Callable[..., Any])


@dataclass
class State:
    """The state of one command: the profile, and the client once created."""

    profile: str | None = None
    client: roost.Client | None = None


def state(context: click.Context | None = None) -> State:
    """Return the state of the current command."""
    found = (context or click.get_current_context()).find_root().ensure_object(State)
    assert isinstance(found, State)
    return found


def _remember_profile(context: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        state(context).profile = value


profile_option = click.option(
    "--profile",
    metavar="NAME",
    expose_value=False,
    is_eager=True,
    callback=_remember_profile,
    help='A profile of `roost login`; ROOST_PROFILE by default, else "default".',
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def connected(function: F) -> F:
    """Add the options of all commands that connect to a server."""
    return json_option(profile_option(function))


def limit_option(default: int = 30) -> Callable[[F], F]:
    """Add `--limit` and `--all` to a command that lists."""

    def add(function: F) -> F:
        limit = click.option(
            "-n",
            "--limit",
            type=click.IntRange(min=1),
            default=default,
            show_default=True,
            metavar="N",
            help="Maximum number of items.",
        )
        return limit(all_option(function))

    return add


values_option = click.option(
    "--values", is_flag=True, help="With --json, include the values of variables."
)

tag_option = click.option(
    "--tag",
    multiple=True,
    metavar="TAG",
    help="Only agents with this tag or one below it; several: with all.",
)

all_option = click.option("--all", "everything", is_flag=True, help="No limit.")

payload_option = click.option(
    "--payload",
    metavar="JSON|@FILE|-",
    help="The payload: JSON, a file of JSON, or - for standard input.",
)

file_option = click.option(
    "--file",
    "given",
    multiple=True,
    metavar="NAME=PATH",
    help="A file that the script reads as request.files[NAME]; repeatable.",
)


def agent_names(
    context: click.Context, _: click.Parameter, incomplete: str
) -> Sequence[CompletionItem]:
    """Return the agents whose names begin with the text; fast, and empty on any error."""
    return _names(
        context, incomplete, lambda client: client.agents.list(q=incomplete or None, limit=100)
    )


def store_names(
    context: click.Context, _: click.Parameter, incomplete: str
) -> Sequence[CompletionItem]:
    """Return the stores whose names begin with the text, likewise."""
    return _names(context, incomplete, lambda client: client.datastores.list(limit=_MOST_STORES))


def _names(
    context: click.Context,
    incomplete: str,
    found: Callable[[roost.Client], Iterable[roost.Agent] | Iterable[roost.DataStore]],
) -> Sequence[CompletionItem]:
    from . import connect

    try:
        client = connect.completion_client(state(context).profile)
        with client:
            names = [each.name for each in found(client)]
    except Exception:
        return []
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def agent_argument(name: str = "agent", *, required: bool = True) -> Callable[[F], F]:
    """Add the argument AGENT, with shell completion."""
    return click.argument(
        name, metavar="AGENT", required=required, shell_complete=complete(agent_names)
    )


def store_argument(function: F) -> F:
    """Add the argument STORE, with shell completion."""
    argument = click.argument("store", metavar="STORE", shell_complete=complete(store_names))
    return argument(function)


def agent_option(function: F) -> F:
    """Add `--agent`, with shell completion."""
    option = click.option(
        "--agent",
        metavar="AGENT",
        shell_complete=complete(agent_names),
        help="Only of this agent.",
    )
    return option(function)


def complete(
    function: Callable[[click.Context, click.Parameter, str], Sequence[CompletionItem]],
) -> Callable[[click.Context, click.Parameter, str], list[CompletionItem]]:
    """Return the function with the result type that click expects."""
    return lambda context, parameter, incomplete: list(function(context, parameter, incomplete))


def target_argument(name: str, metavar: str) -> Callable[[F], F]:
    """Add an argument that is an id or an agent's name."""
    return click.argument(name, metavar=metavar, shell_complete=complete(agent_names))
