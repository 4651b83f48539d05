from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any, Callable

import pytest
from click.testing import CliRunner

import roost
from roost._cli.options import State
from roost._cli.root import root


@dataclass(frozen=True)
class Result:
    """What a call of the command line came to."""

    code: int
    out: str
    err: str


def call(*arguments: str, client: roost.Client | None = None, stdin: str | None = None) -> Result:
    # Newer releases of click always keep the two apart.
    apart = "mix_stderr" in inspect.signature(CliRunner).parameters
    settings: dict[str, Any] = {"mix_stderr": False} if apart else {}
    runner = CliRunner(**settings)
    state = State(client=client)
    done = runner.invoke(root, list(arguments), input=stdin, obj=state, prog_name="roost")
    return Result(done.exit_code, done.stdout, done.stderr)


Call = Callable[..., Result]


@pytest.fixture
def cli() -> Call:
    """The command line, called with arguments and perhaps `client=` and `stdin=`."""
    return call
