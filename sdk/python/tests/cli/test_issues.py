from __future__ import annotations

import json
from typing import Any

import pytest
from support import TIME, Server, agent, execution, issue, replay

PATH = "/issues/issue_1"


@pytest.fixture
def failing(server: Server) -> Server:
    server.on("GET", "/agents", {"data": [agent()], "next_cursor": None})
    server.on("GET", "/agents/agent_1", agent())
    server.on("GET", "/issues", {"data": [issue(regressed=True)], "next_cursor": None})
    revision = {"revision": 3, "count": 43, "first_seen_at": TIME, "last_seen_at": TIME}
    server.on("GET", PATH, issue(hours=[], revisions=[revision]))
    error = {"type": "KeyError", "message": "'price'", "traceback": "in total", "line": 7}
    server.on(
        "GET",
        "/executions/exec_1",
        execution(state="failed", reason="exception", error={**error, "column": None}),
    )
    server.on("POST", f"{PATH}/replay", replay())
    for verb, state in (("resolve", "resolved"), ("mute", "muted"), ("reopen", "open")):
        server.on("POST", f"{PATH}/{verb}", issue(state))
    return server


def test_open_issues_are_listed(cli: Any, failing: Server) -> None:
    done = cli("issues", "list", client=failing.client)
    assert done.code == 0
    assert "KeyError: 'price'" in done.out
    assert "regressed" in done.out
    assert failing.sent("GET", "/issues")[0].url.params["state"] == "open"


def test_an_agents_issues_are_listed_by_its_name(cli: Any, failing: Server) -> None:
    options = ("--agent", "greeter", "--state", "resolved,muted", "--json")
    done = cli("issues", "list", *options, client=failing.client)
    assert [each["id"] for each in json.loads(done.out)] == ["issue_1"]
    params = failing.sent("GET", "/issues")[0].url.params
    assert (params["agent_id"], params["state"]) == ("agent_1", "resolved,muted")


@pytest.mark.parametrize("command", [("issues", "show", "issue_1"), ("show", "issue_1")])
def test_an_issue_shows_what_introduced_it_and_its_traceback(
    cli: Any, failing: Server, command: tuple[str, ...]
) -> None:
    done = cli(*command, client=failing.client)
    assert "in revision 2, which introduced it" in done.out
    assert "agent.py:7 in total" in done.out
    assert "in total" in done.out.splitlines()[-1]


@pytest.mark.parametrize(
    ("verb", "state"), [("resolve", "resolved"), ("mute", "muted"), ("reopen", "open")]
)
def test_a_change_is_reported(cli: Any, failing: Server, verb: str, state: str) -> None:
    done = cli("issues", verb, "issue_1", client=failing.client)
    assert (done.code, done.out) == (0, "")
    assert f"issue_1 is {state}." in done.err
    done = cli("issues", verb, "issue_1", "--json", client=failing.client)
    assert json.loads(done.out)["state"] == state


def test_a_dry_run_submits_nothing(cli: Any, failing: Server) -> None:
    jobs = [{"executor_job_id": "xjob_1", "replayed_as": None}]
    answer = replay(preview=True, batch_id=None, pending=2, jobs=jobs)
    failing.on("POST", f"{PATH}/replay", answer)
    done = cli("issues", "replay", "issue_1", "--dry-run", client=failing.client)
    assert (done.code, done.out) == (0, "xjob_1\n")
    assert "1 job to run again; left out: 2 queued or running." in done.err
    assert json.loads(failing.requests[-1].content)["preview"] is True


def test_a_replay_of_all_jobs_is_confirmed(cli: Any, failing: Server) -> None:
    done = cli("issues", "replay", "issue_1", client=failing.client)
    assert done.code == 2
    assert "1 job to run again. Run now?" in done.err
    assert len(failing.sent("POST", f"{PATH}/replay")) == 1, "the preview"
    done = cli("issues", "replay", "issue_1", "--yes", client=failing.client)
    assert (done.code, done.out) == (0, "xjob_2\n")
    assert "roost list jobs --batch xjob_2" in done.err


def test_named_jobs_run_without_a_question(cli: Any, failing: Server) -> None:
    failing.on("POST", f"{PATH}/replay", replay(more=True))
    done = cli("issues", "replay", "issue_1", "xjob_1", client=failing.client)
    assert (done.code, done.out) == (0, "xjob_2\n")
    assert "More jobs remain." in done.err
    assert json.loads(failing.requests[-1].content)["executor_job_ids"] == ["xjob_1"]
