from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from support import Server, execution, job, problem, stream

import roost

STREAM = "/executor-jobs/xjob_1/stream"


def value(place: str, data: Any) -> str:
    return f"id: {place}\nevent: value\ndata: {json.dumps(data)}\n\n"


def event(name: str, data: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(data)}\n\n"


def end(**fields: Any) -> str:
    ended = execution(executor_job_id="xjob_1", **fields)
    return event("end", job(id="xjob_1", state=ended["state"], execution=ended))


@pytest.fixture
def run(server: Server) -> roost.ExecutorJob:
    return roost.ExecutorJob(server.client, job(id="xjob_1", state="running", finished_at=None))


def last_ids(server: Server) -> list[Any]:
    return [request.headers.get("Last-Event-ID") for request in server.requests]


def test_values_come_until_the_end(server: Server, run: roost.ExecutorJob) -> None:
    server.on(
        "GET",
        STREAM,
        stream(": hello\n\n", value("1-1", {"n": 1}), value("1-2", "é"), end(return_value=7)),
    )
    assert list(run.stream()) == [{"n": 1}, "é"]
    assert run.execution is not None
    assert (run.state, run.execution.return_value) == ("succeeded", 7)
    assert server.requests[0].headers["Accept"] == "text/event-stream"


def test_it_resumes_where_it_broke(server: Server, run: roost.ExecutorJob) -> None:
    server.on(
        "GET",
        STREAM,
        stream(value("1-1", 1), value("1-2", 2)[:-4], httpx.ReadError("reset")),
        problem(503, "unavailable", headers={"Retry-After": "2"}),
        stream(value("1-1", 1), value("1-2", 2)),  # repeats what was seen, ends without an end
        stream(value("1-3", 3), end()),
    )
    assert list(run.stream()) == [1, 2, 3]
    assert last_ids(server) == [None, "1-1", "1-1", "1-2"]


def test_another_attempt_begins_again(server: Server, run: roost.ExecutorJob) -> None:
    again = [value("1-9", 1), event("restart", {"attempt": 2}), value("2-1", 5), end()]
    server.on("GET", STREAM, stream(*again), stream(*again))
    attempts: list[int] = []
    assert list(run.stream(on_restart=attempts.append)) == [1, 5]
    assert attempts == [2]
    values = run.stream()
    assert next(values) == 1
    with pytest.raises(roost.StreamRestarted, match="attempt 2 has begun") as raised:
        next(values)
    assert raised.value.attempt == 2


def test_progress_is_told(server: Server, run: roost.ExecutorJob) -> None:
    said = {"fraction": 0.4, "message": "reading"}
    server.on("GET", STREAM, stream(event("progress", said), value("1-1", 1), end(progress=said)))
    seen: list[roost.Progress] = []
    assert list(run.stream(on_progress=seen.append)) == [1]
    assert seen == [roost.Progress(0.4, "reading")]
    assert str(seen[0]) == "40% reading"
    assert run.execution is not None
    assert run.execution.progress == seen[0]


def test_an_agent_is_run_and_its_values_come(server: Server) -> None:
    agent = roost.Agent(server.client, {"id": "agent_1", "name": "writer"})
    new = job(id="xjob_1", state="queued", finished_at=None, execution=None)
    server.on("POST", "/agents/agent_1/execute", new)
    server.on("GET", STREAM, stream(value("1-1", "a"), value("1-2", "b"), end()))
    assert list(agent.stream({"q": 1})) == ["a", "b"]
    assert json.loads(server.requests[0].content) == {"payload": {"q": 1}}


def test_a_failure_is_raised_after_the_values(server: Server) -> None:
    agent = roost.Agent(server.client, {"id": "agent_1", "name": "writer"})
    new = job(id="xjob_1", state="queued", finished_at=None, execution=None)
    server.on("POST", "/agents/agent_1/execute", new)
    failed = end(state="failed", reason="exception", message="KeyError: 'x'")
    server.on("GET", STREAM, stream(value("1-1", "a"), failed))
    values = agent.stream()
    assert next(values) == "a"
    with pytest.raises(roost.ExecutionFailed, match="KeyError"):
        next(values)
