from __future__ import annotations

import sys

import pytest
from support import Server, agent

import roost

HERE = ".".join(str(part) for part in sys.version_info[:2])
NEWER = f"3.{sys.version_info[1] + 1}"
BROKEN = "def main(request, store):\n    return (\n"


def create(server: Server, script: str, python_version: str = HERE) -> None:
    server.on("POST", "/agents", agent())
    server.client.agents.create(script=script, python_version=python_version)


def test_a_syntax_error_is_found_before_sending(server: Server) -> None:
    with pytest.raises(roost.ScriptError, match="line 2") as raised:
        create(server, BROKEN)
    assert (raised.value.code, raised.value.line) == ("syntax_error", 2)
    assert isinstance(raised.value, ValueError)
    assert server.requests == []


def test_a_newer_python_may_know_better(server: Server) -> None:
    create(server, BROKEN, NEWER)
    assert len(server.requests) == 1


def test_without_a_version_the_servers_default_counts(server: Server) -> None:
    server.on("POST", "/agents", agent())
    server.on("GET", "/runtime", {"default": NEWER}, {"default": HERE})
    server.client.agents.create(script=BROKEN)
    with pytest.raises(roost.ScriptError):
        server.client.agents.create(script=BROKEN)


def test_a_good_script_needs_no_further_request(server: Server) -> None:
    server.on("POST", "/agents", agent())
    server.client.agents.create(script="def main(): ...")
    assert len(server.requests) == 1


@pytest.mark.parametrize("script", ["", "def Main(): ...", "print(main)", "class A:\n main = 1"])
def test_a_missing_main_is_found_before_sending(server: Server, script: str) -> None:
    with pytest.raises(roost.ScriptError) as raised:
        create(server, script)
    assert raised.value.code == "no_main"


@pytest.mark.parametrize(
    "script",
    [
        "async def main(): ...",
        "main = lambda request: 1",
        "from app import main",
        "import app as main",
        "from app import *",
        "if True:\n    def main(): ...",
        "globals()['main'] = print",
        "def f():\n    global main\n    main = 1\nf()",
        "\ufeffdef main(): ...",
        "x = '\\d'\ndef main(): ...",  # a warning, not an error
    ],
)
def test_what_may_have_a_main_is_sent(server: Server, script: str) -> None:
    create(server, script)
    assert len(server.requests) == 1


@pytest.mark.parametrize("script", ["def main(): ...\nreturn 1", "def main(): ...\0"])
def test_what_only_the_compiler_finds(server: Server, script: str) -> None:
    with pytest.raises(roost.ScriptError) as raised:
        create(server, script)
    assert raised.value.code == "syntax_error"


def test_update_checks_for_the_agents_own_version(server: Server) -> None:
    server.on("PATCH", "/agents/agent_1", agent())
    roost.Agent(server.client, agent(python_version=NEWER)).update(script=BROKEN)
    with pytest.raises(roost.ScriptError):
        roost.Agent(server.client, agent(python_version=HERE)).update(script=BROKEN)
