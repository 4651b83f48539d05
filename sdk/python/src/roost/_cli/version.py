"""`roost version`."""

from __future__ import annotations

import platform

import click

from .._version import VERSION
from .echo import echo
from .options import json_option
from .texts import examples

__all__ = ["text", "version"]


def text() -> str:
    """Return the versions of roost and Python."""
    return f"roost {VERSION} (Python {platform.python_version()})"


@click.command(epilog=examples("roost version"))
@json_option
def version(as_json: bool) -> None:
    """Print the versions of roost and Python."""
    if as_json:
        from .output import print_json

        print_json({"roost": VERSION, "python": platform.python_version()})
    else:
        echo(text())
