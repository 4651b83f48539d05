from __future__ import annotations

import asyncio
import json
from datetime import datetime, timezone
from typing import Any

import pytest
from support import TIME, Server, agent, problem

import roost
import roost.aio

PATH = "/agents/agent_1/payloads"


def saved(name: str, payload: Any = None, **fields: Any) -> dict[str, Any]:
    times = {"created_at": TIME, "updated_at": TIME}
    return {"name": name, "size_bytes": 9, "payload": payload, **times, **fields}


@pytest.fixture
def greeter(server: Server) -> Server:
    server.on("GET", "/agents/agent_1", agent())
    return server


def test_payloads_are_saved_listed_read_and_deleted(greeter: Server) -> None:
    found = greeter.client.agents.retrieve("agent_1")
    path = PATH + "/empty%20order"
    greeter.on("PUT", path, saved("empty order", {"n": None}))
    greeter.on("GET", path, saved("empty order", {"n": None}, unknown=1))
    greeter.on("GET", PATH, {"data": [saved("a"), saved("empty order")]})
    greeter.on("DELETE", path, None)
    made = found.save_payload("empty order", {"n": None})
    assert json.loads(greeter.sent("PUT", path)[0].content) == {"payload": {"n": None}}
    assert made == found.payload("empty order")
    assert (made.name, made.payload, made.size_bytes) == ("empty order", {"n": None}, 9)
    assert made.updated_at == datetime.fromisoformat(TIME.replace("Z", "+00:00")).astimezone(
        timezone.utc
    )
    assert [each.name for each in found.payloads()] == ["a", "empty order"]
    found.delete_payload("empty order")
    assert len(greeter.sent("DELETE", path)) == 1


def test_an_unknown_name_and_a_hundred_payloads_are_errors(greeter: Server) -> None:
    found = greeter.client.agents.retrieve("agent_1")
    with pytest.raises(roost.NotFound):
        found.payload("none")
    greeter.on("PUT", PATH + "/more", problem(409, "conflict", "The agent has 100"))
    with pytest.raises(roost.Conflict):
        found.save_payload("more", 1)
    with pytest.raises(ValueError, match="must not be empty"):
        found.payload("")


def test_the_same_for_asyncio() -> None:
    assert roost.aio.SavedPayload is roost.SavedPayload
    for name in ("payloads", "payload", "save_payload", "delete_payload"):
        assert asyncio.iscoroutinefunction(getattr(roost.aio.Agent, name))
