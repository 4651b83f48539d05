from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from support import Server

import roost
from roost._cli.options import State
from roost._cli.root import SECTIONS, root


def commands(
    group: click.Group = root, path: tuple[str, ...] = ()
) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield " ".join((*path, name)), command
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_every_command_has_help_and_an_example_of_itself(name: str, command: click.Command) -> None:
    assert command.help
    assert command.get_short_help_str(200)[0].isupper()
    assert f"roost {name}" in (command.epilog or "")
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_every_command_shows_its_help(cli: Any, name: str) -> None:
    done = cli(*name.split(), "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: roost {name} ")


@pytest.mark.parametrize(("name", "command"), list(commands()))
def test_every_command_prints_json_but_groups_and_raw_data(
    name: str, command: click.Command
) -> None:
    raw = name in ("completion", "store export")
    has = any("--json" in parameter.opts for parameter in command.params)
    assert has is not (raw or isinstance(command, click.Group))


def test_the_help_shows_every_command_in_its_section(cli: Any) -> None:
    done = cli("--help")
    assert (done.code, done.err) == (0, "")
    for section, names in SECTIONS.items():
        assert f"{section}:" in done.out
        for name in names:
            assert f"\n  {name} " in done.out


def test_the_help_needs_no_http_and_no_tables() -> None:
    code = """
import sys
sys.argv = ["roost", "--help"]
from roost._cli import main
try:
    main()
except SystemExit:
    heavy = {"httpx", "rich", "sqlite3", "asyncio"} & set(sys.modules)
    sys.exit(f"imported {heavy}" if heavy else 0)
"""
    source = str(Path(roost.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": source}
    command = [sys.executable, "-c", code]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)


def test_a_command_that_is_nearly_right_is_suggested(cli: Any) -> None:
    done = cli("deplyo")
    assert (done.code, done.out) == (2, "")
    assert 'There is no command "roost deplyo". Did you mean "deploy"?' in done.err
    assert 'Did you mean "agents"?' in cli("list", "agent").err


@pytest.mark.parametrize("arguments", [["version"], ["--version"]])
def test_the_version_is_that_of_the_package(cli: Any, arguments: list[str]) -> None:
    done = cli(*arguments)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"roost {roost.__version__} (Python ")


def test_a_mistake_of_its_own_is_reported_without_a_traceback(
    cli: Any, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(request: object) -> None:
        raise ZeroDivisionError("oh")

    server.on("GET", "/keys", fail)
    done = cli("keys", "list", client=server.client)
    assert done.code == 1
    assert "ZeroDivisionError: oh" in done.err
    assert "ROOST_DEBUG=1" in done.err
    assert "Traceback" not in done.err
    monkeypatch.setenv("ROOST_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        root.main(["keys", "list"], obj=State(client=server.client), standalone_mode=False)
