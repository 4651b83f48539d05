from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from support import TIME, URL, Server, agent, problem

import roost
from roost._values import parse_time

NOW = parse_time(TIME)


def revision(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "agent_id": "agent_1",
        "revision": number,
        "script": f"def main(): return {number}",
        "requirements": "six==1.16.0",
        "env_vars": "A=1\n",
        "python_version": "3.13",
        "builder_job_id": f"bjob_{number}",
        "build_id": None,
        "created_at": TIME,
        "of_the_future": 1,
        **fields,
    }


ACTIVITY = {
    "builder_job": {"id": "bjob_1", "state": "failed", "reason": "build_failed"},
    "last_execution": {
        "id": "exec_1",
        "state": "running",
        "reason": None,
        "started_at": TIME,
        "finished_at": None,
    },
    "next_run_at": TIME,
    "running": 1,
    "queued": 2,
    "executions_7d": {"succeeded": 3, "failed": 4},
}


def test_which_revision_runs(server: Server) -> None:
    failure = {
        "revision": 3,
        "builder_job_id": "bjob_3",
        "reason": "requirement_not_found",
        "message": "There is no six 99.",
        "of_the_future": 1,
    }
    data = agent(revision=3, running_revision=2, build_failure=failure)
    found = roost.Agent(server.client, data)
    assert (found.revision, found.running_revision, found.building_revision) == (3, 2, None)
    assert found.build_failure == roost.BuildFailure(
        3, "bjob_3", "requirement_not_found", "There is no six 99."
    )


def test_revisions_are_listed_and_fetched(server: Server) -> None:
    greeter = roost.Agent(server.client, agent())
    first, second = (
        {"data": [revision(3), revision(2)], "next_cursor": "c"},
        {
            "data": [revision(1, env_vars=None)],
            "next_cursor": None,
        },
    )
    server.on("GET", "/agents/agent_1/revisions", first, second)
    server.on("GET", "/agents/agent_1/revisions/2", revision(2))
    found = list(greeter.revisions())
    assert [each.revision for each in found] == [3, 2, 1]
    assert (found[0].env_vars, found[2].env_vars) == ({"A": "1"}, None)
    assert found[1] == greeter.revision_at(2)
    assert found[0].created_at == NOW
    assert "main" not in repr(found[0]), "a script is no part of a line"


def test_an_unknown_revision_is_not_found(server: Server) -> None:
    server.on("GET", "/agents/agent_1/revisions/9", problem(404, "not_found"))
    with pytest.raises(roost.NotFound):
        server.client.agents.revision_at("agent_1", 9)


def test_a_roll_back_changes_the_object_in_place(server: Server) -> None:
    greeter = roost.Agent(server.client, agent(revision=5))
    server.on("POST", "/agents/agent_1/roll-back", agent(revision=6, script="old"))
    assert greeter.roll_back(3) is greeter
    assert (greeter.revision, greeter.script) == (6, "old")
    assert json.loads(server.requests[-1].content) == {"revision": 3}
    assert server.client.agents.roll_back("agent_1", 3).revision == 6


def test_activity_is_there_when_requested(server: Server) -> None:
    page = {"data": [agent(activity=ACTIVITY)], "next_cursor": None}
    server.on("GET", "/agents", page)
    server.on("GET", "/agents/agent_1", agent(), agent(activity={**ACTIVITY, "builder_job": None}))
    [found] = roost.Agent.list(include_activity=True, client=server.client)
    assert server.requests[-1].url.params["include"] == "activity"
    activity = found.activity
    assert activity is not None
    assert activity.builder_job == roost.LatestBuilderJob("bjob_1", "failed", "build_failed")
    assert activity.last_execution is not None
    assert (activity.last_execution.started_at, activity.next_run_at) == (NOW, NOW)
    assert activity.executions_7d == roost.ExecutionCounts(3, 4)
    assert server.client.agents.retrieve("agent_1").activity is None
    assert "include" not in server.requests[-1].url.params
    again = server.client.agents.retrieve("agent_1", include_activity=True).activity
    assert again is not None
    assert again.builder_job is None


PRELOADED = {
    "revision": 3,
    "modules": 612,
    "packages": ["numpy", "pandas"],
    "import_seconds": 0.231,
    "memory_bytes": 48_123_904,
    "left_out": [{"module": "grpc", "reason": "starts a thread", "of_the_future": 1}],
    "updated_at": TIME,
    "of_the_future": 1,
}


def test_what_is_preloaded_is_read_with_the_agent(server: Server) -> None:
    server.on("GET", "/agents/agent_1", agent(preloaded=PRELOADED), agent(preloaded=None))
    found = server.client.agents.retrieve("agent_1")
    assert found.preloaded == roost.Preloaded(
        3,
        612,
        ("numpy", "pandas"),
        0.231,
        48_123_904,
        (roost.LeftOutModule("grpc", "starts a thread"),),
        NOW,
    )
    assert found.refresh().preloaded is None


def test_revisions_have_preload(server: Server) -> None:
    server.on("GET", "/agents/agent_1/revisions/2", revision(2), revision(2, preload="off"))
    assert server.client.agents.revision_at("agent_1", 2).preload == "auto", "before it existed"
    assert server.client.agents.revision_at("agent_1", 2).preload == "off"


def test_statistics(server: Server) -> None:
    hour = dict.fromkeys(("succeeded", "failed", "timed_out", "cancelled", "lost"), 1)
    latest = {
        "execution_id": "exec_1",
        "agent_id": "agent_1",
        "agent_name": "greeter",
        "message": "It raised.",
        "finished_at": TIME,
    }
    server.on(
        "GET",
        "/statistics",
        {
            "from": TIME,
            "to": TIME,
            "hours": [{"hour": TIME, **hour}],
            "running": 1,
            "queued": 2,
            "executors": {"starting": 0, "idle": 1, "working": 2, "limit": 50},
            "failures": [{"reason": "exception", "count": 7, "agents": 2, "latest": latest}],
            "failed_builds": [
                {
                    "builder_job_id": "bjob_1",
                    "agent_id": "agent_1",
                    "agent_name": "greeter",
                    "reason": "requirement_not_found",
                    "message": "No.",
                    "finished_at": TIME,
                }
            ],
        },
    )
    found = roost.statistics(48, agent_id="agent_1", client=server.client)
    assert dict(server.requests[-1].url.params) == {"hours": "48", "agent_id": "agent_1"}
    assert (found.from_, found.to, found.running, found.queued) == (NOW, NOW, 1, 2)
    assert found.hours == (roost.HourCounts(NOW, 1, 1, 1, 1, 1),)
    assert found.executors.limit == 50
    assert found.failures[0].latest.agent_name == "greeter"
    assert found.failed_builds[0].finished_at == NOW
    server.client.statistics()
    assert dict(server.requests[-1].url.params) == {"hours": "24"}


def test_performance(server: Server) -> None:
    none = dict.fromkeys(
        ("succeeded", "failed", "timed_out", "cancelled", "lost", "cold_starts"), 0
    )
    empty = {**none, "duration": None, "queued": None, "max_memory_bytes": None}
    percentiles = {"p50": 1.5, "p95": 2.5, "p99": 3.5}
    some = {
        **none,
        "succeeded": 9,
        "duration": percentiles,
        "queued": percentiles,
        "max_memory_bytes": 5,
    }
    server.on("GET", "/agents/agent_1", agent())
    server.on(
        "GET",
        "/agents/agent_1/performance",
        {
            "from": TIME,
            "to": TIME,
            "interval_seconds": 21600,
            "complete": True,
            "total": some,
            "intervals": [{"start": TIME, "figures": empty}, {"start": TIME, "figures": some}],
            "revisions": [{"revision": 3, "started_at": TIME}],
        },
    )
    found = server.client.agents.retrieve("agent_1").performance(168)
    assert dict(server.requests[-1].url.params) == {"hours": "168"}
    assert (found.from_, found.interval, found.complete) == (NOW, timedelta(hours=6), True)
    assert found.total.duration == roost.DurationPercentiles(1.5, 2.5, 3.5)
    assert [each.figures.succeeded for each in found.intervals] == [0, 9]
    assert found.intervals[0].figures.queued is None
    assert found.revisions == (roost.FirstRun(3, NOW),)


def test_a_login_link_has_the_whole_url_and_shows_it_by_its_field_alone(server: Server) -> None:
    server.on("POST", "/login-links", {"url": "/login?token=s3cret", "expires_at": TIME})
    link = server.client.login_link()
    assert link.url == f"{URL}/login?token=s3cret"
    assert link.expires_at == NOW
    assert "s3cret" not in repr(link)


def test_settings(server: Server) -> None:
    setting: dict[str, Any] = {
        "name": "roost.data",
        "environment": "ROOST_DATA",
        "value": None,
        "default": "~/.roost",
        "description": "Where it keeps what it keeps.",
        "set": False,
    }
    server.on("GET", "/settings", {"data": [setting]})
    assert server.client.settings() == (roost.ServerSetting(**setting),)


def test_executions_are_chosen_by_states_reason_and_time(server: Server) -> None:
    server.on("GET", "/executions", {"data": [], "next_cursor": None})
    after = datetime(2026, 11, 2, 9, tzinfo=timezone.utc)
    list(
        roost.Execution.list(
            state=["failed", "lost"],
            reason="exception",
            started_after=after,
            started_before=after,
            client=server.client,
        )
    )
    assert dict(server.requests[-1].url.params) == {
        "state": "failed,lost",
        "reason": "exception",
        "started_after": "2026-11-02T09:00:00+00:00",
        "started_before": "2026-11-02T09:00:00+00:00",
    }
    with pytest.raises(ValueError, match="started_after requires a time zone"):
        server.client.executions.list(started_after=datetime(2026, 11, 2))


def test_jobs_are_chosen_by_several_states(server: Server) -> None:
    for path in ("/executor-jobs", "/builder-jobs"):
        server.on("GET", path, {"data": [], "next_cursor": None})
    list(server.client.executor_jobs.list(state=("queued", "running"), reason="executor_lost"))
    assert dict(server.requests[-1].url.params) == {
        "state": "queued,running",
        "reason": "executor_lost",
    }
    list(server.client.builder_jobs.list(state="failed"))
    assert dict(server.requests[-1].url.params) == {"state": "failed"}


def test_packages_have_sizes_if_they_are_known() -> None:
    packages = [{"name": "six", "version": "1", "size_bytes": 9}, {"name": "x", "version": "1"}]
    build = roost.Build(None, {"id": "build_1", "packages": packages})
    assert [each.size_bytes for each in build.packages] == [9, None]
