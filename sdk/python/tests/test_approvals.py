from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from support import TIME, Server, aio_client, problem

import roost

PATH = "/approvals/approval_1"


def approval(**fields: Any) -> dict[str, Any]:
    return {
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
        **fields,
    }


@pytest.fixture
def with_approval(server: Server) -> Server:
    server.on("GET", PATH, approval())
    server.on("GET", "/approvals", {"data": [approval()], "next_cursor": None})
    return server


def test_an_approval_is_decided(with_approval: Server) -> None:
    decided = approval(state="approved", decided_at=TIME, decided_by="ada", value={"n": 1})
    with_approval.on("POST", PATH + "/approve", decided)
    with_approval.on("POST", PATH + "/reject", approval(state="rejected", decided_at=TIME))
    found = roost.Approval.retrieve("approval_1", client=with_approval.client)
    assert (found.title, found.details, found.assignees) == ("Pay?", {"to": "Bob"}, ["ada"])
    assert found.approve({"n": 1}, comment="Fine.") is found
    assert (found.state, found.decided_by, found.value) == ("approved", "ada", {"n": 1})
    (request,) = with_approval.sent("POST", PATH + "/approve")
    assert json.loads(request.content) == {"value": {"n": 1}, "comment": "Fine."}
    assert found.reject().state == "rejected"


def test_somebody_else_was_faster(with_approval: Server) -> None:
    refusal = problem(409, "conflict", "The approval is rejected already, by grace.")
    with_approval.on("POST", PATH + "/approve", refusal)
    found = with_approval.client.approvals.retrieve("approval_1")
    with pytest.raises(roost.Conflict, match="by grace"):
        found.approve()


def test_they_are_listed(with_approval: Server) -> None:
    found = roost.Approval.list(state="pending", assignee="ada", client=with_approval.client)
    assert [each.id for each in found] == ["approval_1"]
    (request,) = with_approval.sent("GET", "/approvals")
    assert dict(request.url.params)["assignee"] == "ada"


def test_a_link_has_the_whole_url_and_hides_it(with_approval: Server) -> None:
    made = {"url": "/approve#token=secret", "expires_at": TIME}
    with_approval.on("POST", PATH + "/links", made)
    link = with_approval.client.approvals.retrieve("approval_1").link("ada", expires_in=60)
    assert link.url == with_approval.client.base_url + "/approve#token=secret"
    assert "secret" not in repr(link)
    (request,) = with_approval.sent("POST", PATH + "/links")
    assert json.loads(request.content) == {"assignee": "ada", "expires_in": 60}


def test_the_same_for_asyncio(with_approval: Server) -> None:
    with_approval.on("POST", PATH + "/reject", approval(state="rejected"))

    async def decide() -> list[str]:
        async with aio_client(with_approval._handle, with_approval.clock) as client:
            return [(await each.reject()).state async for each in client.approvals.list()]

    assert asyncio.run(decide()) == ["rejected"]
