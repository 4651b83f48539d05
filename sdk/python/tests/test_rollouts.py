from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

import pytest
from support import Server, agent, problem, rollout, rollout_agent

import roost

PATH = "/rollouts/rollout_1"
OLD, NEW = "python:3.13-slim@sha256:0ld", "python:3.13-slim@sha256:new"


@pytest.mark.parametrize(
    ("agents", "body"),
    [
        (None, {}),
        (["agent_1"], {"agent_ids": ["agent_1"]}),
        ([roost.Agent(None, agent(id="agent_2"))], {"agent_ids": ["agent_2"]}),
    ],
)
def test_a_rollout_is_of_all_agents_or_of_those_given(
    server: Server, agents: Any, body: dict[str, Any]
) -> None:
    server.on("POST", "/rollouts", rollout("running", queued=2))
    begun = roost.Rollout.start(agents, client=server.client)
    assert json.loads(server.requests[0].content) == body
    assert (begun.id, begun.state, begun.automatic) == ("rollout_1", "running", True)
    assert begun.counts == roost.RolloutCounts(2, 2, 0, 0, 0, 0, 0)
    assert begun.finished_at is None


def test_no_agents_are_not_all_agents(server: Server) -> None:
    with pytest.raises(ValueError, match="omit it"):
        server.client.rollouts.start([])
    with pytest.raises(TypeError, match="a list"):
        server.client.rollouts.start("agent_1")
    assert server.requests == []


def test_an_agent_is_rebuilt_by_a_rollout(server: Server) -> None:
    server.on("POST", "/agents/agent_1/rebuild", rollout("running", automatic=False, queued=1))
    begun = roost.Agent(server.client, agent()).rebuild()
    assert (type(begun), begun.counts.total) == (roost.Rollout, 1)


def test_a_rebuild_is_not_requested_twice(server: Server) -> None:
    server.on("POST", "/agents/agent_1/rebuild", problem(503, "unavailable"))
    with pytest.raises(roost.Unavailable):
        roost.Agent(server.client, agent()).rebuild()
    assert len(server.requests) == 1


def test_an_agent_says_how_it_is_outdated(server: Server) -> None:
    fix = {"id": "CVE-1", "severity": "high", "summary": None, "of_the_future": 1}
    old = {"reasons": ["base", "sdk"], "base": OLD, "current_base": NEW, "fixes": [fix]}
    server.on("GET", "/agents/agent_1", agent(outdated={**old, "of_the_future": 1}))
    found = roost.Agent.retrieve("agent_1", client=server.client)
    assert found.outdated == roost.Outdated(
        ("base", "sdk"), OLD, NEW, (roost.Advisory("CVE-1", "high"),)
    )
    assert roost.Agent(server.client, agent(outdated=None)).outdated is None
    assert roost.Agent(server.client, agent()).outdated is None  # an earlier server


def test_a_build_shows_its_base(server: Server) -> None:
    assert roost.Build(server.client, {"id": "build_1", "base": OLD}).base == OLD


def test_rollouts_and_their_agents_are_listed_by_state(server: Server) -> None:
    server.on("GET", "/rollouts", {"data": [rollout("paused")], "next_cursor": None})
    failed = rollout_agent("failed", message="No such package.")
    server.on("GET", PATH + "/agents", {"data": [failed], "next_cursor": None})
    (found,) = roost.Rollout.list(state=["running", "paused"], client=server.client)
    assert server.requests[0].url.params["state"] == "running,paused"
    (item,) = found.agents(state="failed")
    assert server.requests[1].url.params["state"] == "failed"
    assert (item.agent_name, item.state, item.message) == ("greeter", "failed", "No such package.")
    assert item.updated_at == datetime(2026, 11, 2, 9, 0, 0, 1, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("verb", "state"), [("pause", "paused"), ("resume", "running"), ("undo", "undone")]
)
def test_a_move_is_in_place_and_tried_again(server: Server, verb: str, state: str) -> None:
    server.on("POST", f"{PATH}/{verb}", problem(503, "unavailable"), rollout(state, updated=1))
    found = roost.Rollout(server.client, rollout("running", updated=1))
    assert getattr(found, verb)() is found
    assert found.state == state
    assert getattr(server.client.rollouts, verb)("rollout_1") == found


@pytest.mark.parametrize(
    "last",
    [
        rollout("completed", updated=1, failed=1),
        rollout("undone", undone=2),
        rollout("paused", failed=1, queued=1),
    ],
)
def test_wait_is_until_nothing_is_running(server: Server, last: dict[str, Any]) -> None:
    # Undone is the state at once; its agents follow.
    before = rollout("undone" if last["state"] == "undone" else "running", building=1, updated=1)
    server.on("GET", PATH, before, problem(503, "unavailable"), before, last)
    found = roost.Rollout(server.client, before)
    assert not found.ended
    assert found.wait() is found
    assert found.counts == roost.RolloutCounts.of(last["agents"])
    assert server.clock.slept  # no tight loop


def test_wait_gives_up_and_says_that_the_job_continues(server: Server) -> None:
    server.on("GET", PATH, rollout("running", queued=1))
    with pytest.raises(roost.APITimeout, match="rollout_1 is still running after 10 s"):
        roost.Rollout(server.client, rollout("running", queued=1)).wait(10)
    assert sum(server.clock.slept) == 10
