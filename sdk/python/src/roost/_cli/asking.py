"""Asking before something that can't be taken back."""

from __future__ import annotations

import sys

import click

from .echo import plain
from .failures import INTERRUPTED, USAGE, Failure

__all__ = ["confirm"]


def confirm(question: str, yes: bool) -> None:
    """Ask, unless `yes`; without a terminal to ask at, that is needed. Leaves after a no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise Failure(question, USAGE, "There is no terminal to ask at: give --yes.")
    if not click.confirm(plain(question), err=True):
        raise click.exceptions.Exit(INTERRUPTED)
