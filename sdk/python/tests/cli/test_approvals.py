from __future__ import annotations

import json
from typing import Any

import pytest
from support import TIME, Server

PATH = "/approvals/approval_1"
APPROVAL: dict[str, Any] = {
    "id": "approval_1",
    "executor_job_id": "xjob_1",
    "agent_id": "agent_1",
    "title": "Pay?",
    "details": {"to": "Bob"},
    "form": None,
    "assignees": ["ada"],
    "state": "pending",
    "created_at": TIME,
    "expires_at": None,
    "decided_at": None,
    "decided_by": None,
    "comment": None,
    "value": None,
}


@pytest.fixture
def with_approval(server: Server) -> Server:
    server.on("GET", PATH, APPROVAL)
    server.on("GET", "/approvals", {"data": [APPROVAL], "next_cursor": None})
    server.on("GET", "/agents", {"data": [], "next_cursor": None})
    return server


def test_what_waits_is_listed(cli: Any, with_approval: Server) -> None:
    done = cli("approvals", "list", "--assignee", "ada", client=with_approval.client)
    assert done.code == 0, done.err
    title, row = done.out.splitlines()
    assert title.split()[:3] == ["ID", "TITLE", "AGENT"]
    assert row.split()[:2] == ["approval_1", "Pay?"]
    (request,) = with_approval.sent("GET", "/approvals")
    assert dict(request.url.params)["state"] == "pending"


def test_one_is_shown(cli: Any, with_approval: Server) -> None:
    done = cli("approvals", "show", "approval_1", client=with_approval.client)
    assert "Pay?" in done.out
    assert '"to": "Bob"' in done.out


def test_decisions(cli: Any, with_approval: Server) -> None:
    with_approval.on("POST", PATH + "/approve", {**APPROVAL, "state": "approved"})
    with_approval.on("POST", PATH + "/reject", {**APPROVAL, "state": "rejected"})
    value = ["--value", '{"n": 1}', "--comment", "Fine."]
    done = cli("approvals", "approve", "approval_1", *value, client=with_approval.client)
    assert "approval_1 is approved." in done.out + done.err
    (request,) = with_approval.sent("POST", PATH + "/approve")
    assert json.loads(request.content) == {"value": {"n": 1}, "comment": "Fine."}
    done = cli("approvals", "reject", "approval_1", "--json", client=with_approval.client)
    assert json.loads(done.out)["state"] == "rejected"


def test_a_link(cli: Any, with_approval: Server) -> None:
    with_approval.on("POST", PATH + "/links", {"url": "/approve#token=x", "expires_at": TIME})
    done = cli("approvals", "link", "approval_1", client=with_approval.client)
    assert done.out.strip().endswith("/approve#token=x")
