from __future__ import annotations

import json
from typing import Any

import pytest
from support import TIME, Server, agent, job

PATH = "/agents/agent_1/payloads"
EXECUTE = "/agents/agent_1/execute"


def saved(payload: Any = None) -> dict[str, Any]:
    return {
        "name": "ada",
        "size_bytes": 15,
        "payload": payload,
        "created_at": TIME,
        "updated_at": TIME,
    }


@pytest.fixture
def greeter(server: Server) -> Server:
    server.on("GET", "/agents", {"data": [agent()], "next_cursor": None})
    server.on("POST", EXECUTE, job())
    server.on("GET", PATH, {"data": [saved()]})
    server.on("GET", PATH + "/ada", saved({"name": "Ada"}))
    server.on("PUT", PATH + "/ada", saved({"name": "Ada"}))
    server.on("DELETE", PATH + "/ada", None)
    return server


def test_a_payload_is_saved_listed_shown_and_deleted(cli: Any, greeter: Server) -> None:
    client = greeter.client
    done = cli("payloads", "save", "greeter", "ada", "--payload", '{"name": "Ada"}', client=client)
    assert (done.code, done.err) == (0, "Saved 'ada' for greeter.\n")
    assert json.loads(greeter.sent("PUT", PATH + "/ada")[0].content) == {"payload": {"name": "Ada"}}
    listed = cli("payloads", "list", "greeter", client=client)
    assert "ada" in listed.out
    assert "15" in listed.out
    assert json.loads(cli("payloads", "list", "greeter", "--json", client=client).out)[0] == saved()
    shown = cli("payloads", "show", "greeter", "ada", client=client)
    assert json.loads(shown.out) == {"name": "Ada"}
    whole = cli("payloads", "show", "greeter", "ada", "--json", client=client)
    assert json.loads(whole.out) == saved({"name": "Ada"})
    deleted = cli("payloads", "delete", "greeter", "ada", client=client)
    assert (deleted.code, deleted.err) == (0, "Deleted 'ada' of greeter.\n")


def test_an_agent_runs_with_a_saved_payload(cli: Any, greeter: Server) -> None:
    done = cli("execute", "greeter", "--saved", "ada", client=greeter.client)
    assert done.code == 0
    assert json.loads(greeter.sent("POST", EXECUTE)[0].content) == {"payload": {"name": "Ada"}}
    both = cli("execute", "greeter", "--saved", "ada", "--payload", "1", client=greeter.client)
    assert both.code == 2
    assert "--saved can't be combined with --payload" in both.err


@pytest.mark.parametrize("command", ["show", "delete"])
def test_an_unknown_name_is_an_error_with_advice(cli: Any, server: Server, command: str) -> None:
    server.on("GET", "/agents", {"data": [agent()], "next_cursor": None})
    done = cli("payloads", command, "greeter", "bo", client=server.client)
    assert done.code == 2
    assert "greeter has no saved payload 'bo'." in done.err
    assert "roost payloads list greeter" in done.err


def test_an_empty_list_says_how_to_save_one(cli: Any, greeter: Server) -> None:
    greeter.on("GET", PATH, {"data": []})
    done = cli("payloads", "list", "greeter", client=greeter.client)
    assert "roost payloads save greeter NAME" in done.out + done.err
