from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from support import TIME, Server, agent

import roost
import roost.aio

PATH = "/agents/agent_1/url"


def url(**fields: Any) -> dict[str, Any]:
    return {
        "agent_id": "agent_1",
        "url": "/run/greeter",
        "methods": ["POST"],
        "mode": "wait",
        "format": "json",
        "authentication": "key",
        "signature_scheme": None,
        "cors_origins": [],
        "requests_per_minute": None,
        "wait_seconds": 30,
        "created_at": TIME,
        "updated_at": TIME,
        **fields,
    }


@pytest.fixture
def greeter(server: Server) -> Server:
    server.on("GET", "/agents/agent_1", agent())
    return server


UNTIL = "2026-11-29T12:00:00Z"


def test_a_url_is_set_read_and_removed(greeter: Server) -> None:
    found = greeter.client.agents.retrieve("agent_1")
    signed = url(authentication="signature", signature_scheme="github")
    greeter.on(
        "PUT",
        PATH,
        {**signed, "secret": "It's a Secret to Everybody", "previous_secret_until": UNTIL},
    )
    greeter.on("GET", PATH, {**signed, "unknown": 1})
    greeter.on("DELETE", PATH, None)
    changed = found.set_url(
        authentication="signature",
        signature_scheme="github",
        secret="It's a Secret to Everybody",
        previous_secret_seconds=60,
    )
    assert json.loads(greeter.sent("PUT", PATH)[0].content) == {
        "authentication": "signature",
        "signature_scheme": "github",
        "secret": "It's a Secret to Everybody",
        "previous_secret_seconds": 60,
    }
    assert changed.previous_secret_until is not None
    assert changed.previous_secret_until.year == 2026
    assert changed.secret == "It's a Secret to Everybody"
    assert "Everybody" not in repr(changed)
    read = found.url()
    assert (read.url, read.signature_scheme, read.secret) == ("/run/greeter", "github", None)
    found.remove_url()
    assert len(greeter.sent("DELETE", PATH)) == 1


def test_an_agent_without_a_url(greeter: Server) -> None:
    with pytest.raises(roost.NotFound):
        greeter.client.agents.retrieve("agent_1").url()


def test_the_same_for_asyncio() -> None:
    assert roost.aio.AgentUrl is roost.AgentUrl
    for name in ("url", "set_url", "remove_url"):
        assert asyncio.iscoroutinefunction(getattr(roost.aio.Agent, name))
