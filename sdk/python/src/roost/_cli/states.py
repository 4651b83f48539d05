"""Filter of lists by state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click
from click.shell_completion import CompletionItem

__all__ = ["States"]


class States(click.ParamType):
    """One state, or several separated by commas."""

    name = "states"

    def __init__(self, known: Sequence[str]) -> None:
        self._known = known

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "STATE[,STATE]"

    def convert(self, value: Any, param: Any, ctx: Any) -> list[str]:
        states = [word.strip() for word in str(value).split(",")]
        for word in states:
            if word not in self._known:
                self.fail(f'"{word}" is not one of {", ".join(self._known)}', param, ctx)
        return states

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        return [
            CompletionItem(before + comma + word) for word in self._known if word.startswith(last)
        ]
