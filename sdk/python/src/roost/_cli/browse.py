"""`roost open`."""

from __future__ import annotations

from urllib.parse import quote

import click

from . import connect
from .echo import echo
from .failures import Failure
from .options import connected
from .texts import examples

__all__ = ["open_"]

_PAGES = {
    "build job": "/builds/{}",
    "build": "/builds",
    "execution": "/executions/{}",
    "issue": "/issues/{}",
    "job": "/executor-jobs/{}",
    "key": "/keys",
    "rollout": "/rollouts/{}",
    "schedule": "/schedules",
    "store": "/stores/{}",
    "webhook": "/webhooks/{}",
}


@click.command(
    "open", epilog=examples("roost open\nroost open greeter\nroost open exec_01m8… --print")
)
@click.argument("target", metavar="[ID|AGENT]", required=False)
@click.option("--print", "print_only", is_flag=True, help="Print the URL instead.")
@connected
def open_(target: str | None, print_only: bool, as_json: bool) -> None:
    """Open the dashboard in a browser, signed in.

    The URL signs in once and expires after ten minutes.
    """
    from .output import data_of, note, print_json

    client = connect.client()
    page = _page(target)
    link = client.login_link()
    url = link.url + (f"&to={quote(page, safe='')}" if page else "")
    if as_json:
        print_json({"url": url, "expires_at": data_of(link.expires_at)})
    elif print_only:
        echo(url)
    else:
        import webbrowser

        if webbrowser.open(url):
            note(f"Opened {client.base_url}{page or '/'} in the browser.")
        else:
            hint = "`roost open --print` prints the URL."
            raise Failure("No browser was found.", hint=hint)


def _page(target: str | None) -> str | None:
    """Return the path of the dashboard's page for an id or an agent."""
    if target is None:
        return None
    kind = connect.kind_of(target)
    if kind is None or kind == "agent":
        return f"/agents/{connect.agent(target).id}"
    return _PAGES[kind].format(quote(target, safe=""))
