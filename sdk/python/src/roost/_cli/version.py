"""`roost version`."""

from __future__ import annotations

import platform

import click

from .options import json_option
from .texts import examples

__all__ = ["version"]


@click.command(epilog=examples("roost version"))
@json_option
def version(as_json: bool) -> None:
    """Print which roost and which Python this is."""
    from .._version import VERSION

    if as_json:
        from .output import print_json

        print_json({"roost": VERSION, "python": platform.python_version()})
    else:
        click.echo(f"roost {VERSION} (Python {platform.python_version()})")
