from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from support import TIME, Server, agent

import roost


def test_lists_pass_tags_and_orders_on(server: Server) -> None:
    empty: Any = {"data": [], "next_cursor": None}
    for path in ("/agents", "/executions", "/executor-jobs"):
        server.on("GET", path, empty)
    assert [*server.client.agents.list(tag=["team", "billing"], sort="-failures")] == []
    assert [*server.client.executions.list(tag="team/crawlers", sort="duration")] == []
    assert [*server.client.executor_jobs.list(tag="team")] == []
    queries = [dict(request.url.params) for request in server.requests]
    assert [(each.get("tag"), each.get("sort")) for each in queries] == [
        ("team,billing", "-failures"),
        ("team/crawlers", "duration"),
        ("team", None),
    ]


def test_tags_are_a_setting(server: Server) -> None:
    server.on("PATCH", "/agents/agent_1", agent(tags=["billing"]))
    found = roost.Agent(server.client, agent(tags=[])).update(tags=("billing",))
    assert json.loads(server.requests[-1].content) == {"tags": ["billing"]}
    assert found.tags == ["billing"]
    with pytest.raises(TypeError, match="tags must be a list"):
        found.update(tags="billing")


def test_the_tags_of_all_agents_are_listed(server: Server) -> None:
    data = [{"tag": "billing", "agents": 2, "added_later": 1}]
    server.on("GET", "/agents/tags", {"data": data, "more": False, "untagged": 3})
    assert server.client.agents.tags() == [roost.AgentTag("billing", 2)]


def results(*results: Any, changed: int, failed: int) -> Any:
    return {"results": list(results), "changed": changed, "failed": failed}


def test_an_action_reports_each_agent(server: Server) -> None:
    error = {"code": "not_found", "detail": 'There is no agent "agent_2".'}
    server.on(
        "POST",
        "/agents/actions",
        results(
            {"id": "agent_1", "name": "a", "changed": True, "schedule_ids": ["sched_1"]},
            {"id": "agent_2", "changed": False, "error": error},
            changed=1,
            failed=1,
        ),
    )
    done = server.client.agents.act("pause_schedules", ["agent_1", "agent_2"], dry_run=True)
    assert json.loads(server.requests[-1].content) == {
        "action": "pause_schedules",
        "agent_ids": ["agent_1", "agent_2"],
        "dry_run": True,
    }
    assert (done.changed, done.failed) == (1, 1)
    assert done.results[0].schedule_ids == ("sched_1",)
    assert done.results[1].error == roost.ActionError("not_found", error["detail"])
    with pytest.raises(TypeError, match="ids must be a list"):
        server.client.agents.act("delete", "agent_1")


def test_a_run_is_repeated_safely_and_a_deletion_is_not(server: Server) -> None:
    server.on(
        "POST",
        "/agents/actions",
        httpx.ReadError("broken"),
        results(
            {"id": "agent_1", "changed": True, "executor_job_id": "xjob_1"}, changed=1, failed=0
        ),
    )
    done = server.client.agents.act("run", ["agent_1"], payload={"n": 1})
    assert done.results[0].executor_job_id == "xjob_1"
    keys = {request.headers["Idempotency-Key"] for request in server.requests}
    assert len(server.requests) == 2
    assert len(keys) == 1
    server.on("POST", "/agents/actions", httpx.ReadError("broken"))
    with pytest.raises(roost.APIConnectionError):
        server.client.agents.act("delete", ["agent_1"])
    assert len(server.requests) == 3


def test_jobs_are_run_again(server: Server) -> None:
    answer = results(
        {"id": "xjob_1", "changed": True, "executor_job_id": "xjob_9"}, changed=1, failed=0
    )
    server.on("POST", "/executor-jobs/actions", answer)
    done = server.client.executor_jobs.act("run_again", ["xjob_1"])
    assert done.results[0].executor_job_id == "xjob_9"
    sent = json.loads(server.requests[-1].content)
    assert sent == {"action": "run_again", "executor_job_ids": ["xjob_1"]}


def view(**more: Any) -> Any:
    return {
        "id": "view_1",
        "list": "agents",
        "name": "mine",
        "filter": "tag:team",
        "sort": None,
        "columns": None,
        "grouped": True,
        "created_at": TIME,
        "updated_at": TIME,
        **more,
    }


def test_views_are_saved_renamed_and_deleted(server: Server) -> None:
    server.on("POST", "/views", view())
    server.on("GET", "/views", {"data": [view()], "next_cursor": None})
    server.on("PATCH", "/views/view_1", view(name="ours"))
    server.on("DELETE", "/views/view_1", httpx.Response(204))
    saved = server.client.views.create(list="agents", name="mine", filter="tag:team", grouped=True)
    assert (saved.list, saved.filter, saved.grouped) == ("agents", "tag:team", True)
    assert [each.name for each in server.client.views.list(list="agents")] == ["mine"]
    assert saved.update(name="ours", sort=None).name == "ours"
    assert json.loads(server.requests[-1].content) == {"name": "ours", "sort": None}
    saved.delete()
    assert server.sent("DELETE", "/views/view_1")
