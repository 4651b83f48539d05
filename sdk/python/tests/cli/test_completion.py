from __future__ import annotations

import subprocess
from typing import Any

import click
import pytest
from support import Server, agent

from roost._cli import connect
from roost._cli.deploy import deploy
from roost._cli.execute import execute
from roost._cli.lists import executions
from roost._cli.root import root
from roost._cli.store import get, ls


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_is_a_script_for_each_shell(cli: Any, shell: str) -> None:
    done = cli("completion", shell)
    assert (done.code, "_ROOST_COMPLETE" in done.out) == (0, True)
    if shell == "bash":
        subprocess.run(["bash", "-n", "-c", done.out], check=True)


def completed(incomplete: str) -> list[str]:
    argument = next(each for each in execute.params if each.name == "agent")
    context = click.Context(execute, parent=click.Context(root))
    return [item.value for item in argument.shell_complete(context, incomplete)]


def test_agents_are_completed_by_name(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [agent(name="greeter"), agent(name="green"), agent(name="not-a-greeter")]
    server.on("GET", "/agents", {"data": found, "next_cursor": None})
    monkeypatch.setattr(connect, "completion_client", lambda profile: server.client)
    assert completed("gre") == ["greeter", "green"]
    assert server.sent("GET", "/agents")[0].url.params["q"] == "gre"


@pytest.mark.parametrize(
    ("incomplete", "words"), [("ca", ["cancelled"]), ("failed,l", ["failed,lost"])]
)
def test_states_are_completed(incomplete: str, words: list[str]) -> None:
    option = next(each for each in executions.params if each.name == "state")
    context = click.Context(executions, parent=click.Context(root))
    assert [item.value for item in option.shell_complete(context, incomplete)] == words


def test_an_error_completes_nothing_and_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert completed("gre") == []  # there is no key
    assert capsys.readouterr() == ("", "")


def test_stores_are_completed_by_name(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [{"id": "store_1", "name": name} for name in ("people", "places", "other")]
    server.on("GET", "/datastore", {"data": found, "next_cursor": None})
    monkeypatch.setattr(connect, "completion_client", lambda profile: server.client)
    for command, name in ((get, "store"), (ls, "store"), (deploy, "store")):
        parameter = next(each for each in command.params if each.name == name)
        context = click.Context(command, parent=click.Context(root))
        words = [item.value for item in parameter.shell_complete(context, "p")]
        assert words == ["people", "places"], command.name
