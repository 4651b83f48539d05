from __future__ import annotations

import json
from typing import Any

import click
import pytest
from support import Server, agent, rollout, rollout_agent

from roost._cli import connect
from roost._cli.rollout import rebuild, start
from roost._cli.root import root

PATH = "/rollouts/rollout_1"


@pytest.fixture
def rolled(server: Server) -> Server:
    server.on("GET", "/agents", {"data": [agent()], "next_cursor": None})
    begun = rollout("running", automatic=False, queued=1)
    server.on("POST", "/agents/agent_1/rebuild", begun)
    server.on("POST", "/rollouts", begun)
    server.on("GET", "/rollouts", {"data": [begun], "next_cursor": None})
    server.on("GET", PATH, begun, rollout("completed", updated=1))
    failed = rollout_agent("failed", message="No such package.")
    server.on("GET", PATH + "/agents", {"data": [failed], "next_cursor": None})
    for verb, state in (("pause", "paused"), ("resume", "running"), ("undo", "undone")):
        server.on("POST", f"{PATH}/{verb}", rollout(state, undone=1))
    return server


def test_a_rebuild_prints_the_rollout(cli: Any, rolled: Server) -> None:
    done = cli("rebuild", "greeter", client=rolled.client)
    assert (done.code, done.out) == (0, "rollout_1\n")
    assert "`roost rollout show rollout_1`" in done.err


def test_waiting_shows_what_it_came_to(cli: Any, rolled: Server) -> None:
    done = cli("rebuild", "greeter", "--wait", client=rolled.client)
    assert (done.code, done.err) == (0, "")
    assert [line.split() for line in done.out.splitlines()][1] == ["state", "completed"]
    assert ["updated", "1"] in [line.split() for line in done.out.splitlines()]


@pytest.mark.parametrize(("names", "body"), [((), {}), (("greeter",), {"agent_ids": ["agent_1"]})])
def test_start_is_for_all_or_those_named(
    cli: Any, rolled: Server, names: tuple[str, ...], body: dict[str, Any]
) -> None:
    done = cli("rollout", "start", *names, "--json", client=rolled.client)
    assert json.loads(done.out) == rollout("running", automatic=False, queued=1)
    assert json.loads(rolled.sent("POST", "/rollouts")[0].content) == body


def test_start_says_when_there_is_nothing_to_do(cli: Any, rolled: Server) -> None:
    rolled.on("POST", "/rollouts", rollout("completed", automatic=False))
    done = cli("rollout", "start", client=rolled.client)
    assert (done.code, "No agent is outdated." in done.err) == (0, True)


@pytest.mark.parametrize(
    ("last", "code"),
    [
        (rollout("completed", updated=2, failed=1), 1),
        (rollout("paused", queued=2), 1),
        (rollout("undone", undone=1, failed=1), 0),
    ],
)
def test_failures_end_with_one(cli: Any, rolled: Server, last: dict[str, Any], code: int) -> None:
    rolled.on("GET", PATH, last)
    done = cli("rollout", "start", "--wait", client=rolled.client)
    assert done.code == code
    assert ("No such package." in done.out) == bool(last["agents"]["failed"])


def test_a_timeout_says_that_it_continues(cli: Any, rolled: Server) -> None:
    rolled.on("GET", PATH, rollout("running", queued=1))
    done = cli("rollout", "start", "--wait", "--timeout", "5s", client=rolled.client)
    assert (done.code, "is still running after 5 s" in done.err) == (124, True)
    done = cli("rollout", "start", "--timeout", "5s", client=rolled.client)
    assert (done.code, "--timeout requires --wait" in done.err) == (2, True)


def test_show_has_counts_and_why_agents_failed(cli: Any, rolled: Server) -> None:
    rolled.on("GET", PATH, rollout("paused", queued=1, updated=2, failed=1))
    for command in (("rollout", "show"), ("show",)):
        done = cli(*command, "rollout_1", client=rolled.client)
        lines = [line.split() for line in done.out.splitlines()]
        assert lines[3:7] == [["agents", "4"], ["queued", "1"], ["updated", "2"], ["failed", "1"]]
        assert lines[-1] == ["greeter", "failed", "bjob_2", "No", "such", "package."]
        assert rolled.sent("GET", PATH + "/agents")[-1].url.params["state"] == "failed"
    done = cli("rollout", "show", "rollout_1", "--json", client=rolled.client)
    assert json.loads(done.out)["agents"]["total"] == 4


def test_rollouts_and_their_agents_are_listed(cli: Any, rolled: Server) -> None:
    done = cli("rollout", "list", "--state", "running,paused", client=rolled.client)
    assert "rollout_1  running  1 queued  manual" in done.out
    assert rolled.sent("GET", "/rollouts")[0].url.params["state"] == "running,paused"
    arguments = ("rollout", "agents", "rollout_1", "--state", "failed", "--json")
    done = cli(*arguments, client=rolled.client)
    assert json.loads(done.out)[0]["message"] == "No such package."
    assert cli("rollout", "list", "--state", "over", client=rolled.client).code == 2


@pytest.mark.parametrize("verb", ["pause", "resume"])
def test_a_rollout_is_paused_and_resumed(cli: Any, rolled: Server, verb: str) -> None:
    done = cli("rollout", verb, "rollout_1", client=rolled.client)
    assert (done.code, done.out, len(rolled.sent("POST", f"{PATH}/{verb}"))) == (0, "", 1)


def test_undo_asks_for_confirmation(cli: Any, rolled: Server) -> None:
    rolled.on("GET", PATH, rollout("completed", updated=3))
    done = cli("rollout", "undo", "rollout_1", client=rolled.client)
    assert (done.code, "This restores the previous builds of 3 agents." in done.err) == (2, True)
    assert rolled.sent("POST", PATH + "/undo") == []
    done = cli("rollout", "undo", "rollout_1", "--yes", client=rolled.client)
    assert (done.code, done.out) == (0, "rollout_1\n")


def test_outdated_agents_are_marked(cli: Any, server: Server) -> None:
    activity = {
        "builder_job": {"id": "bjob_1", "state": "succeeded", "reason": None},
        "last_execution": None,
        "next_run_at": None,
        "running": 0,
        "queued": 0,
        "executions_7d": {"succeeded": 0, "failed": 0},
    }
    fixes = [{"id": "CVE-1", "severity": "high", "summary": "OpenSSL"}, {"id": "CVE-2"}]
    old = {"reasons": ["base"], "base": "python:old", "current_base": "python:new", "fixes": fixes}
    found = [
        agent(name="old", activity=activity, running_revision=1, outdated=old),
        agent(name="current", activity=activity, running_revision=1, outdated=None),
    ]
    server.on("GET", "/agents", {"data": found, "next_cursor": None})
    lines = cli("list", "agents", client=server.client).out.splitlines()
    assert ("succeeded (outdated)" in lines[1], "outdated" in lines[2]) == (True, False)
    limits = {"timeout": 60, "memory": 512, "cpu": 1, "retry_delay": 1, "keep_warm": 60}
    server.on("GET", "/agents/agent_1", {**found[0], **limits})
    shown = cli("show", "agent_1", client=server.client).out
    assert "built on python:old" in shown
    assert "now python:new" in shown
    assert "which fixes CVE-1 (high) OpenSSL" in shown
    assert "which fixes CVE-2\n" in shown
    assert "SDK" not in shown


@pytest.mark.parametrize("command", [rebuild, start])
def test_agents_are_completed_by_name(
    server: Server, monkeypatch: pytest.MonkeyPatch, command: click.Command
) -> None:
    server.on("GET", "/agents", {"data": [agent(name="greeter")], "next_cursor": None})
    monkeypatch.setattr(connect, "completion_client", lambda profile: server.client)
    context = click.Context(command, parent=click.Context(root))
    words = [item.value for item in command.params[0].shell_complete(context, "gre")]
    assert words == ["greeter"]
