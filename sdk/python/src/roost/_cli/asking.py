"""Confirmation of actions that can't be undone."""

from __future__ import annotations

import sys

import click

from .echo import plain
from .failures import INTERRUPTED, USAGE, Failure

__all__ = ["confirm"]


def confirm(question: str, yes: bool) -> None:
    """Prompt, unless `yes`, which is required without a terminal. Exits when declined."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Failure(question, USAGE, "There is no terminal to prompt: use --yes.")
    if not click.confirm(plain(question), err=True):
        raise click.exceptions.Exit(INTERRUPTED)
