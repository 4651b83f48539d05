from __future__ import annotations

import json
from typing import Any

import pytest
from support import TIME, Server, execution, job

PATH = "/executor-jobs/xjob_1"


def step(**fields: Any) -> dict[str, Any]:
    return {
        "number": 1,
        "path": "2/1",
        "name": "fetch",
        "execution_id": "exec_1",
        "state": "succeeded",
        "result": [1.0],
        "error": None,
        "attempts": 3,
        "duration_seconds": 1.5,
        "finished_at": TIME,
        **fields,
    }


@pytest.fixture
def with_steps(server: Server) -> Server:
    error = {"type": "ValueError", "message": "no\nmore", "traceback": "…"}
    failed = step(number=2, path="3", name="pay", state="failed", result=None, error=error)
    server.on("GET", PATH, job())
    server.on("GET", "/executions/exec_1", execution())
    server.on("GET", PATH + "/steps", {"data": [step(), failed], "next_cursor": None})
    return server


@pytest.mark.parametrize("target", ["xjob_1", "exec_1"])
def test_the_steps_are_listed(cli: Any, with_steps: Server, target: str) -> None:
    done = cli("steps", target, client=with_steps.client)
    assert done.code == 0
    title, first, second = done.out.splitlines()
    assert title.split() == ["STEP", "NAME", "STATE", "CALLS", "DURATION", "ENDED", "ERROR"]
    assert first.split()[:6] == ["2/1", "fetch", "succeeded", "3", "1.50", "s"]
    assert second.split()[:3] == ["3", "pay", "failed"]
    assert second.rstrip().endswith("ValueError: no")


def test_json_has_the_results(cli: Any, with_steps: Server) -> None:
    done = cli("steps", "xjob_1", "--json", client=with_steps.client)
    assert json.loads(done.out)[0]["result"] == [1.0]


def test_a_job_without_steps_and_what_has_none(cli: Any, server: Server) -> None:
    server.on("GET", PATH, job())
    server.on("GET", PATH + "/steps", {"data": [], "next_cursor": None})
    done = cli("steps", "xjob_1", client=server.client)
    assert "xjob_1 has no steps" in done.out + done.err
    wrong = cli("steps", "agent_1", client=server.client)
    assert wrong.code == 2
    assert "is not a job or an execution" in wrong.err
