"""`roost notifications`."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, get_args

import click

from .._states import ChannelState
from . import connect
from .failures import Failure
from .groups import Group
from .options import connected, limit_option
from .texts import examples

if TYPE_CHECKING:
    import roost

__all__ = ["notifications"]

_TYPES = (
    "issue.opened",
    "issue.regressed",
    "issue.reopened",
    "issue.growing",
    "builder_job.failed",
)
_id_argument = click.argument("channel", metavar="ID")
_agents_option = click.option(
    "--agent", "agents", multiple=True, metavar="NAME", help="Only these agents; with * for any."
)
_types_option = click.option(
    "--event", "types", multiple=True, type=click.Choice(_TYPES), help="Only these events."
)
_interval_option = click.option(
    "--interval", type=click.IntRange(0, 86_400), help="Least seconds between two messages."
)
_quiet_option = click.option(
    "--quiet",
    multiple=True,
    metavar="DAYS@FROM-TO",
    help="Send nothing then, for example mon,tue@22:00-07:00 or *@22:00-07:00.",
)
_zone_option = click.option("--time-zone", metavar="ZONE", help="The time zone of quiet times.")


@click.group(
    cls=Group,
    epilog=examples(
        """
        roost notifications create On-call --slack https://hooks.slack.com/services/…
        roost notifications create Team --email team@example.org --quiet '*@22:00-07:00'
        roost notifications test channel_01m8…
        roost notifications messages channel_01m8…
        """
    ),
)
def notifications() -> None:
    """Messages about issues and failed builds, by e-mail and to Slack."""


@notifications.command("list", epilog=examples("roost notifications list"))
@limit_option()
@connected
def list_(limit: int, everything: bool, as_json: bool) -> None:
    """List channels, newest first."""
    from . import kinds

    found = connect.client().notification_channels.list()
    kinds.channels().show(found, as_json=as_json, limit=None if everything else limit)


@notifications.command(
    epilog=examples(
        """
        roost notifications create On-call --slack https://hooks.slack.com/services/…
        roost notifications create Team --email team@example.org --agent 'orders-*'
        """
    )
)
@click.argument("name", metavar="NAME")
@click.option("--email", multiple=True, metavar="ADDRESS", help="Send e-mail to this address.")
@click.option("--slack", metavar="URL", help="Send to this incoming webhook.")
@_agents_option
@_types_option
@_interval_option
@_quiet_option
@_zone_option
@connected
def create(
    name: str,
    email: tuple[str, ...],
    slack: str | None,
    agents: tuple[str, ...],
    types: tuple[str, ...],
    interval: int | None,
    quiet: tuple[str, ...],
    time_zone: str | None,
    as_json: bool,
) -> None:
    """Create a channel, either for e-mail or for an incoming webhook."""
    if bool(email) == bool(slack):
        raise Failure("Give either --email or --slack.")
    made = connect.client().notification_channels.create(
        name,
        recipients=email or None,
        slack_url=slack,
        agents=agents or None,
        event_types=types or None,
        min_interval_seconds=interval,
        time_zone=time_zone,
        quiet_times=[_quiet_time(each) for each in quiet] or None,
    )
    _report(made, as_json, f"Created {made.id}. `roost notifications test {made.id}` tests it.")


@notifications.command(epilog=examples("roost notifications update channel_01m8… --state disabled"))
@_id_argument
@click.option("--name", metavar="NAME", help="Another name.")
@click.option("--email", multiple=True, metavar="ADDRESS", help="The recipients, all of them.")
@click.option("--slack", metavar="URL", help="Another incoming webhook.")
@_agents_option
@_types_option
@_interval_option
@_quiet_option
@_zone_option
@click.option("--state", type=click.Choice(get_args(ChannelState)), help="disabled stops it.")
@connected
def update(
    channel: str,
    name: str | None,
    email: tuple[str, ...],
    slack: str | None,
    agents: tuple[str, ...],
    types: tuple[str, ...],
    interval: int | None,
    quiet: tuple[str, ...],
    time_zone: str | None,
    state: Any,
    as_json: bool,
) -> None:
    """Change settings of a channel; others stay as they are."""
    given: dict[str, Any] = {
        "name": name,
        "recipients": list(email) or None,
        "url": slack,
        "agents": list(agents) or None,
        "event_types": list(types) or None,
        "min_interval_seconds": interval,
        "quiet_times": [_quiet_time(each) for each in quiet] or None,
        "time_zone": time_zone,
        "state": state,
    }
    changes = {key: value for key, value in given.items() if value is not None}
    if not changes:
        raise Failure("There is nothing to change.", hint="Give an option, such as --state.")
    changed = connect.client().notification_channels.update(channel, **changes)
    _report(changed, as_json, f"Changed {changed.id}.")


@notifications.command(epilog=examples("roost notifications test channel_01m8…"))
@_id_argument
@connected
def test(channel: str, as_json: bool) -> None:
    """Send a test message, and fail if it does not arrive."""
    from .output import data_of, note, print_json

    message = connect.client().notification_channels.test(channel)
    if as_json:
        print_json(data_of(message))
    elif message.state == "succeeded":
        note("The test message was sent." + (f" But: {message.error}." if message.error else ""))
    if message.state != "succeeded":
        raise Failure(f"The test message was not sent: {message.error or 'no result yet'}.")


@notifications.command(epilog=examples("roost notifications messages channel_01m8…"))
@_id_argument
@limit_option()
@connected
def messages(channel: str, limit: int, everything: bool, as_json: bool) -> None:
    """List the messages of a channel with their results, newest first."""
    from . import kinds

    found = connect.client().notification_channels.messages(channel)
    some = list(found if everything else islice(found, limit + 1))
    kinds.messages().show(some, as_json=as_json, limit=None if everything else limit)


@notifications.command(epilog=examples("roost notifications delete channel_01m8…"))
@_id_argument
@click.option("-y", "--yes", is_flag=True, help="Skip the confirmation.")
@connected
def delete(channel: str, yes: bool, as_json: bool) -> None:
    """Delete a channel with its messages."""
    from .asking import confirm
    from .output import note, print_json

    confirm(f"Delete {channel} and its messages?", yes)
    connect.client().notification_channels.delete(channel)
    if as_json:
        print_json({"id": channel, "deleted": True})
    else:
        note(f"Deleted {channel}.")


def _quiet_time(text: str) -> dict[str, Any]:
    days, at, hours = text.partition("@")
    start, dash, end = hours.partition("-")
    if not (at and dash):
        raise Failure(
            f'"{text}" is not a quiet time.', hint="Write DAYS@FROM-TO: mon,tue@22:00-07:00."
        )
    every = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
    named = every if days == "*" else [day.strip() for day in days.split(",")]
    return {"days": named, "from": start.strip(), "to": end.strip()}


def _report(channel: roost.NotificationChannel, as_json: bool, text: str) -> None:
    from .output import data_of, note, print_json

    if as_json:
        print_json(data_of(channel))
    else:
        note(text)
