from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from support import Server, agent, builder_job, execution, job, problem

import roost

EXECUTE = "/agents/agent_1/execute"
JOB = "/executor-jobs/xjob_1"


@pytest.fixture
def greeter(server: Server) -> roost.Agent:
    return roost.Agent(server.client, agent())


def held(server: Server, answer: dict[str, Any]) -> Any:
    """Answer when the asked time is over, as the server does."""

    def hold(request: httpx.Request) -> httpx.Response:
        server.clock.now += int(request.url.params.get("wait", "0"))
        return httpx.Response(200, json=answer)

    return hold


def test_execute_needs_one_request_when_it_ends_in_time(
    server: Server, greeter: roost.Agent
) -> None:
    server.on("POST", EXECUTE, job())
    result = greeter.execute(payload={"name": "Ada", "n": 10**30})
    assert result.return_value == {"n": 42}
    assert result.ended
    assert result.timings is not None
    assert result.timings.running == 0.3
    [request] = server.requests
    assert request.url.params["wait"] == "50"
    assert json.loads(request.content) == {"payload": {"name": "Ada", "n": 10**30}}
    assert request.extensions["timeout"]["read"] == 80


def test_none_is_a_payload(server: Server, greeter: roost.Agent) -> None:
    server.on("POST", EXECUTE, job())
    greeter.execute()
    greeter.execute(None)
    greeter.submit()
    bodies = [json.loads(request.content) for request in server.requests]
    assert bodies == [{}, {"payload": None}, {}]


def test_execute_waits_with_long_polls(server: Server, greeter: roost.Agent) -> None:
    running = job("running", execution=execution(state="running", finished_at=None))
    server.on("POST", EXECUTE, held(server, running))
    server.on("GET", JOB, held(server, running), held(server, running), job())
    assert greeter.execute().state == "succeeded"
    assert [request.url.params["wait"] for request in server.requests] == ["50"] * 4
    assert server.clock.slept == []


def test_early_answers_do_not_make_a_tight_loop(server: Server, greeter: roost.Agent) -> None:
    server.on("POST", EXECUTE, job("queued"))
    server.on("GET", JOB, *[job("queued")] * 6, job())
    greeter.execute()
    assert server.clock.slept == [0.05, 0.1, 0.2, 0.5, 1.0, 1.0]


def test_a_timeout_names_the_job_that_continues(server: Server, greeter: roost.Agent) -> None:
    server.on("POST", EXECUTE, held(server, job("queued")))
    server.on("GET", JOB, held(server, job("running")))
    with pytest.raises(roost.APITimeout, match=r"xjob_1 is still running after 70 s") as raised:
        greeter.execute(timeout=70)
    assert raised.value.job is not None
    assert raised.value.job.state == "running"
    assert [request.url.params["wait"] for request in server.requests] == ["50", "20"]


def test_parts_of_a_second_are_waited_for_here(server: Server, greeter: roost.Agent) -> None:
    server.on("POST", EXECUTE, held(server, job("running")))
    server.on("GET", JOB, held(server, job("running")))
    began = server.clock.now
    with pytest.raises(roost.APITimeout):
        greeter.execute(timeout=2.5)
    assert server.clock.now - began == pytest.approx(2.5)
    assert [request.url.params.get("wait") for request in server.requests][:2] == ["2", None]
    assert len(server.requests) < 8


def test_waiting_outlives_a_restart_of_the_server(server: Server, greeter: roost.Agent) -> None:
    server.on("POST", EXECUTE, job("running"))
    server.on("GET", JOB, *[httpx.ConnectError("refused")] * 20, job())
    assert greeter.execute().state == "succeeded"


def test_waiting_does_not_outlive_the_server(server: Server, greeter: roost.Agent) -> None:
    server.on("POST", EXECUTE, job("running"))
    server.on("GET", JOB, httpx.ConnectError("refused"))
    with pytest.raises(roost.APIConnectionError, match="xjob_1"):
        greeter.execute()
    assert 120 <= sum(server.clock.slept) < 240


def test_no_error_delays_a_timeout(server: Server, greeter: roost.Agent) -> None:
    server.on("POST", EXECUTE, job("running"))
    server.on("GET", JOB, problem(503, "unavailable", headers={"Retry-After": "9"}))
    began = server.clock.now
    with pytest.raises(roost.APITimeout):
        greeter.execute(timeout=10)
    assert server.clock.now - began <= 10


def test_a_failed_script_raises_nothing(server: Server, greeter: roost.Agent) -> None:
    error = {"type": "ZeroDivisionError", "message": "division by zero", "line": 2, "new": 1}
    failed = execution(state="failed", reason="exception", message="It raised.", error=error)
    server.on("POST", EXECUTE, job("failed", execution=failed))
    result = greeter.execute()
    assert (result.state, result.reason) == ("failed", "exception")
    assert result.error is not None
    assert (result.error.line, str(result.error)) == (2, "ZeroDivisionError: division by zero")


def test_a_failed_script_raises_when_checked(server: Server, greeter: roost.Agent) -> None:
    error = {"type": "ValueError", "traceback": 'Traceback …\n  File "agent.py"\nValueError\n'}
    failed = execution(state="failed", reason="exception", message="It raised.", error=error)
    server.on("POST", EXECUTE, job("failed", execution=failed))
    with pytest.raises(roost.ExecutionFailed, match=r"It raised\.(.|\n)*agent\.py") as raised:
        greeter.execute(check=True)
    assert raised.value.code == "exception"
    assert raised.value.execution is not None
    assert raised.value.job is not None


@pytest.mark.parametrize(("state", "reason"), [("failed", "build_failed"), ("cancelled", None)])
def test_a_job_that_was_never_run_raises_always(
    server: Server, greeter: roost.Agent, state: str, reason: str
) -> None:
    ended = job(state, execution=None, reason=reason, message="No solution found.")
    server.on("POST", EXECUTE, ended)
    with pytest.raises(roost.ExecutionFailed, match=r"xjob_1.*No solution found\.") as raised:
        greeter.execute()
    assert raised.value.code == reason
    assert raised.value.execution is None


def test_submit_does_not_wait(server: Server, greeter: roost.Agent) -> None:
    server.on("POST", EXECUTE, job("queued"))
    server.on("GET", JOB, job())
    submitted = greeter.submit({"n": 1}, idempotency_key="bo-1")
    assert (submitted.state, submitted.execution) == ("queued", None)
    [request] = server.requests
    assert request.headers["Idempotency-Key"] == "bo-1"
    assert "wait" not in request.url.params
    assert submitted.wait(timeout=60).return_value == {"n": 42}
    assert isinstance(greeter.execute(wait=False), roost.ExecutorJob)


@pytest.mark.parametrize("key", ["", "x" * 256, "é", "a\nb"])
def test_an_idempotency_key_that_cannot_be_one(greeter: roost.Agent, key: str) -> None:
    with pytest.raises(ValueError, match="idempotency_key"):
        greeter.submit(idempotency_key=key)


def test_a_payload_that_is_not_json_is_refused_here(greeter: roost.Agent) -> None:
    with pytest.raises(TypeError, match="payload: Object of type set"):
        greeter.execute({1})
    with pytest.raises(ValueError, match="payload: Out of range float"):
        greeter.execute(float("nan"))


def test_cancel(server: Server) -> None:
    server.on("POST", JOB + "/cancel", httpx.ReadError("reset"), job("cancelled"))
    submitted = roost.ExecutorJob(server.client, job("running"))
    assert submitted.cancel().state == "cancelled"


def test_wait_until_built(server: Server, greeter: roost.Agent) -> None:
    server.on(
        "GET",
        "/builder-jobs/bjob_1",
        builder_job("queued"),
        builder_job("running"),
        builder_job("succeeded"),
    )
    server.on("GET", "/agents/agent_1", agent(build_id="build_1"))
    assert greeter.wait_until_built().build_id == "build_1"
    holds = [
        request.url.params["wait"] for request in server.sent("GET", "/builder-jobs/bjob_1")[1:]
    ]
    assert holds == ["50", "50"]


def test_a_failed_build_says_why(server: Server, greeter: roost.Agent) -> None:
    why = "Because there is no version of Jinja2==99 … unsatisfiable."
    failed = builder_job("failed", reason="requirement_not_found", message=why)
    server.on("GET", "/builder-jobs/bjob_1", failed)
    server.on("GET", "/agents/agent_1", agent())
    with pytest.raises(roost.BuildFailed) as raised:
        greeter.wait_until_built()
    assert str(raised.value) == why
    assert raised.value.code == "requirement_not_found"
    assert raised.value.builder_job is not None


def test_a_superseded_build_is_followed_by_the_next(server: Server, greeter: roost.Agent) -> None:
    server.on("GET", "/builder-jobs/bjob_1", builder_job("cancelled", reason="superseded"))
    server.on("GET", "/builder-jobs/bjob_2", builder_job("succeeded", id="bjob_2"))
    server.on("GET", "/agents/agent_1", agent(latest_builder_job_id="bjob_2"))
    greeter.wait_until_built()


def test_waiting_for_a_build_ends_in_time(server: Server, greeter: roost.Agent) -> None:
    server.on("GET", "/builder-jobs/bjob_1", builder_job("running"))
    with pytest.raises(roost.APITimeout, match="bjob_1"):
        greeter.wait_until_built(timeout=5)
    assert sum(server.clock.slept) == pytest.approx(5)
