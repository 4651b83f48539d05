from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from support import TIME, Server, agent

PATH = "/agents/agent_1/url"
SECRET = "It's a Secret to Everybody"


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
    server.on("GET", "/agents", {"data": [agent()], "next_cursor": None})
    return server


def test_a_url_is_set_shown_and_removed(cli: Any, greeter: Server) -> None:
    greeter.on("PUT", PATH, url(requests_per_minute=60, authentication="public"))
    greeter.on("GET", PATH, url())
    greeter.on("DELETE", PATH, None)
    client = greeter.client
    words = ["--authentication", "public", "--requests-per-minute", "60", "--cors-origin", "*"]
    done = cli("url", "set", "greeter", "--method", "GET", *words, client=client)
    assert (done.code, done.err) == (0, "")
    assert "60 requests per minute" in done.out
    assert f"{client.base_url}/run/greeter" in done.out
    assert json.loads(greeter.sent("PUT", PATH)[0].content) == {
        "methods": ["GET"],
        "authentication": "public",
        "cors_origins": ["*"],
        "requests_per_minute": 60,
    }
    shown = json.loads(cli("url", "show", "greeter", "--json", client=client).out)
    assert shown["url"] == f"{client.base_url}/run/greeter"
    removed = cli("url", "remove", "greeter", client=client)
    assert (removed.code, removed.err) == (0, "Removed the URL of greeter.\n")


def test_secrets_come_from_the_environment(
    cli: Any, greeter: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    signed = url(authentication="signature", signature_scheme="github", secret=SECRET)
    greeter.on("PUT", PATH, signed)
    monkeypatch.setenv("HOOK", SECRET)
    words = ["--authentication", "signature", "--scheme", "github", "--secret-from"]
    done = cli("url", "set", "greeter", *words, "HOOK", client=greeter.client)
    assert done.code == 0
    assert SECRET not in done.out + done.err
    assert json.loads(greeter.sent("PUT", PATH)[0].content)["secret"] == SECRET
    missing = cli("url", "set", "greeter", *words, "NOTHING", client=greeter.client)
    assert missing.code == 2
    assert "There is no environment variable NOTHING" in missing.err


def test_the_secret_before_can_be_kept(
    cli: Any, greeter: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    until = datetime.now(timezone.utc) + timedelta(hours=1, minutes=1)
    signed = url(authentication="signature", signature_scheme="github", secret=SECRET)
    greeter.on("PUT", PATH, {**signed, "previous_secret_until": until.isoformat()})
    monkeypatch.setenv("HOOK", SECRET)
    words = ["--authentication", "signature", "--scheme", "github", "--secret-from", "HOOK"]
    done = cli(
        "url", "set", "greeter", *words, "--keep-previous-secret", "3660", client=greeter.client
    )
    assert json.loads(greeter.sent("PUT", PATH)[0].content)["previous_secret_seconds"] == 3660
    assert "valid, ends in 1 h" in done.out


def test_a_generated_secret_is_shown_once(cli: Any, greeter: Server) -> None:
    scheme = "standard_webhooks"
    signed = url(authentication="signature", signature_scheme=scheme, secret="whsec_AAAA")
    greeter.on("PUT", PATH, signed)
    words = ["--authentication", "signature", "--scheme", scheme]
    done = cli("url", "set", "greeter", *words, client=greeter.client)
    assert "whsec_AAAA" in done.out
    assert "can't be shown again" in done.err


@pytest.mark.parametrize("command", ["show", "remove"])
def test_an_agent_without_a_url_is_a_failure_with_advice(
    cli: Any, greeter: Server, command: str
) -> None:
    done = cli("url", command, "greeter", client=greeter.client)
    assert done.code == 2
    assert "greeter has no URL." in done.err
    assert "roost url set greeter" in done.err
