"""Executions that are submitted together, and the options of a job."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from run_server import RunServer
from support import TIME, Server, agent, execution, job, problem

import roost
from roost._sync import _batch
from roost._values import parse_time

BATCH = "/agents/agent_1/execute-batch"


@pytest.fixture
def runs() -> Iterator[RunServer]:
    runs = RunServer()
    with runs.client:
        yield runs


def test_a_batch_is_one_request(runs: RunServer) -> None:
    batch = runs.agent.execute_batch(
        ({"n": n} for n in range(3)), priority=-5, concurrency_key="k", idempotency_key="once"
    )
    [request] = runs.requests
    assert json.loads(request.content) == {
        "payloads": [{"n": 0}, {"n": 1}, {"n": 2}],
        "priority": -5,
        "concurrency_key": "k",
    }
    assert request.headers["Idempotency-Key"] == "once"
    assert list(batch.ids) == list(runs.jobs)
    assert (len(batch), batch.batch_ids) == (3, ["xjob_000000"])
    assert repr(batch) == "<roost.Batch of 3 executions of agent_1>"


def test_its_results_come_in_order_or_as_they_end(runs: RunServer) -> None:
    runs.order = lambda ids: ids[::-1]
    batch = runs.agent.execute_batch(range(30))
    assert list(batch.results(ordered=False)) == list(range(29, -1, -1))
    assert list(batch) == list(range(30))
    assert len(runs.jobs) == 30


def test_its_results_survive_a_restart_of_the_program(
    runs: RunServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = pickle.loads(pickle.dumps(runs.agent.execute_batch(range(3))))
    monkeypatch.setattr(_batch, "default_client", lambda: runs.client)
    runs.run()
    assert list(batch) == [0, 1, 2]


def test_results_are_there_when_the_events_are_gone(runs: RunServer) -> None:
    runs.note("agent.created", "agent_1")
    batch = runs.agent.execute_batch(range(30))
    runs.run(20)
    runs.removed_to = len(runs.events)
    assert list(batch) == list(range(30))


def test_leaving_its_results_early_cancels_nothing(runs: RunServer) -> None:
    batch = runs.agent.execute_batch(range(30))
    for _ in batch:
        break
    assert runs.states().count("queued") == 20
    assert runs.open_streams == 0


def test_cancel_ends_what_waits_and_what_runs(runs: RunServer) -> None:
    batch = runs.agent.execute_batch(range(30))
    runs.run(10)
    runs.jobs["xjob_000011"]["state"] = "running"
    batch.cancel()
    assert runs.states() == ["succeeded"] * 10 + ["cancelled"] * 20
    assert [each.state for each in batch.jobs()][9:11] == ["succeeded", "cancelled"]


def test_many_payloads_are_several_batches(runs: RunServer) -> None:
    batch = runs.agent.execute_batch(range(2500), idempotency_key="once")
    assert [len(payloads) for payloads in runs.batches()] == [1000, 1000, 500]
    keys = [request.headers["Idempotency-Key"] for request in runs.requests]
    assert keys == ["once", "once/2", "once/3"]
    assert len(batch.batch_ids) == 3
    runs.concurrency = 2500
    runs.requests.clear()
    assert list(batch) == list(range(2500))
    assert len(runs.requests) < 40
    again = runs.agent.execute_batch(range(2500), idempotency_key="once")
    assert again.ids == batch.ids


def test_large_payloads_are_several_batches(
    runs: RunServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_batch, "_MAX_BATCH_BYTES", 100)
    runs.agent.execute_batch(["x" * 30] * 5 + ["y" * 200] + ["z"])
    assert [len(payloads) for payloads in runs.batches()] == [3, 2, 1, 1]


def test_an_empty_batch_needs_no_request(runs: RunServer) -> None:
    batch = runs.agent.execute_batch([])
    assert (len(batch), list(batch), runs.requests) == (0, [], [])


def test_a_queue_that_is_full_says_how_to_continue(runs: RunServer) -> None:
    runs.queue_most = 1500
    with pytest.raises(roost.RateLimited, match=r"first 1,000 .* idempotency_key='once'"):
        runs.agent.execute_batch(range(2000), idempotency_key="once")
    runs.queue_most = 10_000
    batch = runs.agent.execute_batch(range(2000), idempotency_key="once")
    assert len(batch) == len(runs.jobs) == 2000


def test_a_key_without_room_for_a_number_is_refused(runs: RunServer) -> None:
    with pytest.raises(ValueError, match="part 2"):
        runs.agent.execute_batch(range(1001), idempotency_key="k" * 254)
    with pytest.raises(ValueError, match="idempotency_key"):
        runs.agent.execute_batch([1], idempotency_key="")


def test_a_batch_whose_response_gets_lost_is_submitted_once(runs: RunServer) -> None:
    runs.lost = 1
    assert list(runs.agent.execute_batch([1, 2])) == [1, 2]
    assert len(runs.jobs) == 2


def test_one_job_takes_options(server: Server) -> None:
    server.on("POST", "/agents/agent_1/execute", job())
    greeter = roost.Agent(server.client, agent())
    greeter.execute({"n": 1}, priority=3)
    greeter.execute(concurrency_key="k", wait=False)
    greeter.submit(None, priority=0, concurrency_key="k")
    assert [json.loads(request.content) for request in server.requests] == [
        {"payload": {"n": 1}, "priority": 3},
        {"concurrency_key": "k"},
        {"payload": None, "priority": 0, "concurrency_key": "k"},
    ]


def test_a_job_has_them(server: Server) -> None:
    fields: dict[str, Any] = {
        "priority": 3,
        "concurrency_key": "k",
        "batch_id": "xjob_1",
        "next_attempt_at": TIME,
        "execution": execution(state="failed"),
    }
    submitted = roost.ExecutorJob(server.client, job("queued", **fields))
    assert (submitted.priority, submitted.concurrency_key, submitted.batch_id) == (3, "k", "xjob_1")
    assert submitted.next_attempt_at == parse_time(TIME)


def test_jobs_are_listed_by_batch(server: Server) -> None:
    server.on("GET", "/executor-jobs", {"data": [job()], "next_cursor": None})
    [found] = roost.ExecutorJob.list(batch_id="xjob_1", client=server.client)
    assert found.id == "xjob_1"
    assert dict(server.requests[0].url.params) == {"batch_id": "xjob_1"}


def test_an_agent_has_reasons_never_to_retry(server: Server) -> None:
    server.on("POST", "/agents", agent(never_retry=["exception"]))
    made = server.client.agents.create(script="def main(): ...", never_retry=("exception",))
    assert made.never_retry == ["exception"]
    assert json.loads(server.requests[0].content)["never_retry"] == ["exception"]
    with pytest.raises(TypeError, match="list"):
        made.update(never_retry="exception")


def test_an_agent_has_a_profile_and_an_egress(server: Server) -> None:
    server.on("POST", "/agents", agent(profile="gvisor", egress="192.0.2.7:443"))
    made = server.client.agents.create(
        script="def main(): ...", profile="gvisor", egress=["192.0.2.7:443", "192.0.2.8:80"]
    )
    assert (made.profile, made.egress) == ("gvisor", "192.0.2.7:443")
    sent = json.loads(server.requests[0].content)
    assert (sent["profile"], sent["egress"]) == ("gvisor", "192.0.2.7:443\n192.0.2.8:80")
    server.on("PATCH", f"/agents/{made.id}", agent())
    made.update(profile=None, egress=[])
    assert json.loads(server.requests[1].content) == {"profile": None, "egress": "none"}


def test_preloading_is_a_setting_of_an_agent(server: Server) -> None:
    server.on("POST", "/agents", agent(preload="off"), agent(preload="auto"))
    made = server.client.agents.create(script="def main(): ...", preload="off")
    assert made.preload == "off"
    assert json.loads(server.requests[0].content)["preload"] == "off"
    server.client.agents.create(script="def main(): ...")
    assert "preload" not in json.loads(server.requests[1].content)
    server.on("PATCH", f"/agents/{made.id}", agent(preload="auto"))
    made.update(preload="auto")
    assert made.preload == "auto"
    assert json.loads(server.requests[2].content) == {"preload": "auto"}


def test_a_batch_that_is_not_accepted_says_why(server: Server) -> None:
    server.on("POST", BATCH, problem(413, "too_large", "payloads/1 is too large"))
    with pytest.raises(roost.TooLarge, match="payloads/1"):
        roost.Agent(server.client, agent()).execute_batch([1, 2])


def test_an_agent_is_a_tool_until_its_name_is_none(server: Server) -> None:
    server.on("POST", "/agents", agent(tool_name="weather", tool_description="Forecasts."))
    made = server.client.agents.create(
        script="def main(): ...", tool_name="weather", tool_description="Forecasts."
    )
    assert (made.tool_name, made.tool_description) == ("weather", "Forecasts.")
    sent = json.loads(server.requests[0].content)
    assert (sent["tool_name"], sent["tool_description"]) == ("weather", "Forecasts.")
    server.on("PATCH", "/agents/agent_1", agent(tool_name=None))
    made.update(tool_name=None)
    assert json.loads(server.requests[1].content) == {"tool_name": None}
    assert made.tool_name is None


def test_an_agent_has_schemas(server: Server) -> None:
    numbers = {"type": "array", "items": {"type": "number", "maximum": 1.5}}
    server.on("POST", "/agents", agent(input_schema=numbers, output_schema=None))

    class Total:
        """As a model of pydantic."""

        @classmethod
        def model_json_schema(cls) -> dict[str, object]:
            return {"type": "number"}

    made = server.client.agents.create(
        script="def main(): ...", input_schema=numbers, output_schema=Total
    )
    assert (made.input_schema, made.output_schema) == (numbers, None)
    sent = json.loads(server.requests[0].content)
    assert (sent["input_schema"], sent["output_schema"]) == (numbers, {"type": "number"})
    server.on("PATCH", "/agents/agent_1", agent())
    made.update(input_schema=None)
    assert json.loads(server.requests[1].content) == {"input_schema": None}
    with pytest.raises(TypeError, match="a schema is a dict, or a class with model_json_schema"):
        made.update(input_schema=int)
