from __future__ import annotations

import json
import webbrowser
from typing import Any

import httpx
import pytest
from support import TIME, URL, Server, agent


@pytest.fixture
def linked(server: Server) -> Server:
    link = {"url": "/login?token=t0", "expires_at": TIME}
    server.on("POST", "/login-links", httpx.Response(201, json=link))
    server.on("GET", "/agents", {"data": [agent()], "next_cursor": None})
    return server


@pytest.mark.parametrize(
    ("target", "page"),
    [
        ("greeter", "/agents/agent_1"),
        ("exec_1", "/executions/exec_1"),
        ("xjob_1", "/executor-jobs/xjob_1"),
        ("sched_1", "/schedules"),
    ],
)
def test_a_link_leads_to_the_page(cli: Any, linked: Server, target: str, page: str) -> None:
    printed = cli("open", target, "--print", client=linked.client).out.strip()
    url = httpx.URL(printed)
    assert str(url).startswith(f"{URL}/login?")
    assert dict(url.params) == {"token": "t0", "to": page}


def test_json_has_the_expiry(cli: Any, linked: Server) -> None:
    done = cli("open", "--json", client=linked.client)
    assert json.loads(done.out) == {"url": f"{URL}/login?token=t0", "expires_at": TIME}


def test_the_browser_is_opened_and_the_token_is_not_printed(
    cli: Any, linked: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def open_(url: str) -> bool:
        opened.append(url)
        return True

    monkeypatch.setattr(webbrowser, "open", open_)
    done = cli("open", client=linked.client)
    assert opened == [f"{URL}/login?token=t0"]
    assert (done.code, done.out, "t0" in done.err) == (0, "", False)
    monkeypatch.setattr(webbrowser, "open", lambda url: False)
    done = cli("open", client=linked.client)
    assert (done.code, "`roost open --print`" in done.err) == (2, True)
