from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

import pytest
from support import TIME, Server, issue, problem, replay

import roost

PATH = "/issues/issue_1"
MOMENT = datetime(2026, 11, 2, 9, 0, 0, 1, tzinfo=timezone.utc)


def test_issues_are_listed_by_state_agent_and_reason(server: Server) -> None:
    server.on("GET", "/issues", {"data": [issue()], "next_cursor": None})
    (found,) = roost.Issue.list(
        state=["open", "muted"], agent_id="agent_1", reason="exception", client=server.client
    )
    params = server.requests[0].url.params
    assert params["state"] == "open,muted"
    assert (params["agent_id"], params["reason"]) == ("agent_1", "exception")
    assert (found.id, found.state, found.count) == ("issue_1", "open", 43)
    assert found.culprit == roost.Culprit("agent.py", "total", 7)
    assert str(found.culprit) == "agent.py:7 in total"
    assert (found.hours, found.revisions, found.resolved_at) == (None, None, None)


def test_an_issue_has_its_hours_revisions_and_executions(server: Server) -> None:
    times = {"first_seen_at": TIME, "last_seen_at": TIME}
    details = issue(
        culprit=None,
        hours=[{"hour": TIME, "count": 2}],
        revisions=[{"revision": 3, "count": 2, **times}],
    )
    server.on("GET", PATH, details)
    server.on("GET", "/executions", {"data": [], "next_cursor": None})
    found = roost.Issue.retrieve("issue_1", client=server.client)
    assert found.culprit is None
    assert found.hours == [roost.IssueHour(MOMENT, 2)]
    assert found.revisions == [roost.IssueRevision(3, 2, MOMENT, MOMENT)]
    assert list(found.executions()) == []
    assert server.sent("GET", "/executions")[0].url.params["issue_id"] == "issue_1"


@pytest.mark.parametrize(
    ("verb", "state"), [("resolve", "resolved"), ("mute", "muted"), ("reopen", "open")]
)
def test_a_change_is_in_place_and_tried_again(server: Server, verb: str, state: str) -> None:
    server.on("POST", f"{PATH}/{verb}", problem(503, "unavailable"), issue(state))
    found = roost.Issue(server.client, issue())
    assert getattr(found, verb)() is found
    assert found.state == state
    server.on("POST", f"{PATH}/{verb}", issue(state))
    assert getattr(server.client.issues, verb)("issue_1").state == state


def test_a_replay_is_tried_again_with_its_key(server: Server) -> None:
    server.on("POST", f"{PATH}/replay", problem(503, "unavailable"), replay())
    result = roost.Issue(server.client, issue()).replay(["xjob_1"], since=MOMENT, limit=5)
    first, second = server.sent("POST", f"{PATH}/replay")
    assert first.headers["Idempotency-Key"] == second.headers["Idempotency-Key"]
    body = {"executor_job_ids": ["xjob_1"], "since": "2026-11-02T09:00:00.000001+00:00", "limit": 5}
    assert json.loads(second.content) == body
    assert (result.count, result.batch_id) == (1, "xjob_2")
    assert result.jobs == (roost.ReplayedJob("xjob_1", "xjob_2"),)


@pytest.mark.parametrize(
    ("options", "body"),
    [({}, {}), ({"preview": True, "include_succeeded": True}, None)],
)
def test_only_what_is_given_is_sent(
    server: Server, options: dict[str, Any], body: dict[str, Any] | None
) -> None:
    server.on("POST", f"{PATH}/replay", replay(batch_id=None))
    server.client.issues.replay("issue_1", **options)
    assert json.loads(server.requests[0].content) == (options if body is None else body)


def test_one_text_is_not_a_list_of_jobs(server: Server) -> None:
    with pytest.raises(TypeError, match="a list"):
        server.client.issues.replay("issue_1", "xjob_1")
    assert server.requests == []
