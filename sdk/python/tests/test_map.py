"""Many executions at once: what is submitted, what is returned, and what fails."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from run_server import RunServer
from support import agent, problem

import roost

BATCH = "/agents/agent_1/execute-batch"


@pytest.fixture
def runs() -> Iterator[RunServer]:
    runs = RunServer()
    with runs.client:
        yield runs


def fail_on(*wrong: Any) -> Any:
    def main(payload: Any) -> Any:
        if payload in wrong:
            raise ValueError(f"no {payload}")
        return payload

    return main


def newest_first(ids: list[str]) -> list[str]:
    return ids[::-1]


def test_results_come_in_the_order_of_the_payloads(runs: RunServer) -> None:
    runs.order = newest_first
    runs.main = lambda payload: payload * 2
    assert list(runs.agent.map(range(25))) == list(range(0, 50, 2))
    assert runs.batches() == [list(range(25))]


def test_results_come_as_they_end(runs: RunServer) -> None:
    runs.order = newest_first
    assert list(runs.agent.map(range(25), ordered=False)) == list(range(24, -1, -1))


def test_no_payloads_submit_no_jobs(runs: RunServer) -> None:
    assert list(runs.agent.map([])) == []
    assert runs.requests == []


def test_none_is_a_result(runs: RunServer) -> None:
    assert list(runs.agent.map([None, 0, ""], ordered=False)) == [None, 0, ""]


def test_the_options_go_with_every_batch(runs: RunServer) -> None:
    list(runs.agent.map(range(150), priority=7, concurrency_key="k"))
    bodies = [json.loads(request.content) for request in runs.sent("POST", BATCH)]
    assert [(body["priority"], body["concurrency_key"]) for body in bodies] == [(7, "k")] * 2
    assert {each["priority"] for each in runs.jobs.values()} == {7}


def test_an_endless_iterable_is_read_a_thousand_ahead_at_most(runs: RunServer) -> None:
    payloads = itertools.count()
    results = runs.agent.map(payloads)
    assert list(itertools.islice(results, 2345)) == list(range(2345))
    assert next(payloads) <= 2345 + 1000
    assert max(map(len, runs.batches())) <= 100
    results.close()


def test_an_agent_that_runs_many_at_a_time_is_kept_busy(runs: RunServer) -> None:
    busy = roost.Agent(runs.client, agent(max_concurrency=400))
    next(busy.map(itertools.count()))
    assert len(runs.jobs) == 800
    next(runs.agent.map(itertools.count()))
    assert len(runs.jobs) == 1000


def test_results_are_fetched_many_at_a_time_where_that_pays_off(runs: RunServer) -> None:
    runs.concurrency = 1000
    assert list(runs.agent.map(range(1000))) == list(range(1000))
    assert len(runs.requests) < 100


def test_results_that_come_one_by_one_are_seen_together(runs: RunServer) -> None:
    batch = runs.agent.execute_batch(range(1000))
    runs.run(1000)
    runs.one_by_one = True
    runs.requests.clear()
    assert list(batch.results(ordered=False)) == list(range(1000))
    assert len(runs.requests) < 30


def test_slow_payloads_are_submitted_one_by_one_and_their_results_come_between(
    runs: RunServer,
) -> None:
    yielded: list[int] = []

    def payloads() -> Iterator[int]:
        for n in range(5):
            runs.clock.now += 1
            runs.run()
            assert len(yielded) >= n - 1
            yield n

    for value in runs.agent.map(payloads()):
        yielded.append(value)
    assert yielded == list(range(5))
    assert runs.batches() == [[0], [1], [2], [3], [4]]


def test_results_do_not_wait_for_slow_payloads(runs: RunServer) -> None:
    yielded: list[int] = []

    def payloads() -> Iterator[int]:
        yield from range(50)
        for n in range(50, 55):
            runs.clock.now += 1
            runs.run(100)
            assert len(yielded) >= (50 if n > 51 else 0)
            yield n

    for value in runs.agent.map(payloads()):
        yielded.append(value)
    assert yielded == list(range(55))


def test_a_failure_is_raised_in_its_turn(runs: RunServer) -> None:
    runs.main = fail_on(1)
    results = runs.agent.map([0, 1, 2])
    assert next(results) == 0
    with pytest.raises(roost.ExecutionFailed, match="exec_xjob_000001") as raised:
        next(results)
    assert raised.value.code == "exception"
    assert raised.value.job is not None
    assert raised.value.job.payload == 1
    assert list(results) == []


def test_failures_are_yielded_when_requested(runs: RunServer) -> None:
    runs.main = fail_on(1, 2)
    results = list(runs.agent.map(range(4), return_exceptions=True))
    assert (results[0], results[3]) == (0, 3)
    assert [type(result) for result in results[1:3]] == [roost.ExecutionFailed] * 2


def test_a_job_that_was_cancelled_is_a_failure(runs: RunServer) -> None:
    def cancel() -> None:
        if runs.states() == ["queued"]:
            roost.ExecutorJob(runs.client, runs.jobs["xjob_000000"]).cancel()

    runs.before_step = cancel
    with pytest.raises(roost.ExecutionFailed, match="cancelled without an execution"):
        list(runs.agent.map([1]))


def test_stopping_early_cancels_what_waits_and_leaves_what_runs(runs: RunServer) -> None:
    results = runs.agent.map(range(300))
    assert next(results) == 0
    ended = runs.states().count("succeeded")
    runs.jobs["xjob_000150"]["state"] = "running"
    results.close()
    states = runs.states()
    assert states[150] == "running"
    assert states.count("cancelled") == len(states) - ended - 1 > 100
    assert runs.open_streams == 0


def test_stopping_early_stays_quiet_when_the_server_is_away(runs: RunServer) -> None:
    results = runs.agent.map(range(300))
    next(results)

    def away(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    runs.before = away
    before = len(runs.requests)
    results.close()
    assert len(runs.requests) - before <= 5


def test_stopping_cancels_what_was_submitted_without_a_response(runs: RunServer) -> None:
    # The server has the batch, its response is lost, and the user presses Ctrl-C during the retry.
    runs.concurrency = 0
    runs.lost = 1

    def interrupt_the_retry(request: httpx.Request) -> None:
        if request.method == "POST" and not runs.lost:
            runs.before = lambda request: None
            raise KeyboardInterrupt

    runs.before = interrupt_the_retry
    with pytest.raises(KeyboardInterrupt):
        next(runs.agent.map(range(5)))
    assert runs.states() == ["cancelled"] * 5


def test_a_failure_cancels_the_rest(runs: RunServer) -> None:
    runs.main = fail_on(3)
    with pytest.raises(roost.ExecutionFailed):
        list(runs.agent.map(range(100)))
    assert "queued" not in runs.states()


def test_payloads_that_cannot_be_sent_are_named(runs: RunServer) -> None:
    with pytest.raises(TypeError, match="payload 3: Object of type set"):
        list(runs.agent.map([1, 2, {3}]))


def test_a_timeout_counts_from_the_call_and_cancels(runs: RunServer) -> None:
    runs.concurrency = 0
    began = runs.clock.now
    results = runs.agent.map(range(5), timeout=100)
    runs.clock.now += 60
    with pytest.raises(roost.APITimeout, match=r"5 of the submitted executions .* 100 s"):
        next(results)
    assert 100 <= runs.clock.now - began < 102
    assert runs.states() == ["cancelled"] * 5


def test_what_is_there_in_time_comes_before_the_timeout(runs: RunServer) -> None:
    runs.concurrency = 2
    results = runs.agent.map(range(5), timeout=10)

    def stop() -> None:
        runs.concurrency = 2 if runs.states().count("queued") == 5 else 0

    runs.before_step = stop
    assert [next(results), next(results)] == [0, 1]
    with pytest.raises(roost.APITimeout):
        next(results)


def test_connections_that_break_lose_and_double_nothing(runs: RunServer) -> None:
    runs.lost = 2
    steps = itertools.count()

    def cut() -> None:
        if next(steps) % 3 == 1:
            raise httpx.ReadError("reset")

    runs.before_step = cut
    assert list(runs.agent.map(range(250))) == list(range(250))
    assert len(runs.jobs) == 250
    assert len(runs.batches()) == 5
    assert runs.open_streams == 0
    streams = [
        request for request in runs.requests if request.headers["Accept"] == "text/event-stream"
    ]
    positions = [int(request.headers["Last-Event-ID"]) for request in streams]
    assert len(positions) > 3
    assert positions == sorted(positions)


def test_ends_that_were_read_before_the_response_to_the_submission_are_seen(
    runs: RunServer,
) -> None:
    runs.concurrency = 0
    tries = itertools.count()

    def before(request: httpx.Request) -> httpx.Response | None:
        if request.url.path.endswith("execute-batch"):
            attempt = next(tries)
            runs.lost = 1 if attempt == 1 else 0
            if attempt == 2:
                runs.run(120)
            if attempt in (2, 3):
                return problem(503, "unavailable")
        return None

    runs.before = before
    began = runs.clock.now
    assert sorted(runs.agent.map(range(120), ordered=False)) == list(range(120))
    assert len(runs.jobs) == 120
    assert runs.clock.now - began < 30


def test_a_restart_of_the_server_is_endured(runs: RunServer) -> None:
    refused = iter([httpx.ConnectError("refused")] * 12)
    results = runs.agent.map(range(30))
    assert next(results) == 0

    def away(request: httpx.Request) -> None:
        for error in refused:
            raise error

    runs.before = away
    assert list(results) == list(range(1, 30))


def test_a_server_that_stays_away_is_an_error(runs: RunServer) -> None:
    results = runs.agent.map(range(30))
    assert next(results) == 0

    def away(request: httpx.Request) -> None:
        raise httpx.ConnectError("refused")

    runs.before = away
    with pytest.raises(roost.APIConnectionError, match="may still be running"):
        list(results)


def test_a_small_queue_is_kept_full(runs: RunServer) -> None:
    runs.queue_most = 30
    assert list(runs.agent.map(range(200))) == list(range(200))
    assert runs.clock.slept == []
    assert len(runs.batches()) < 60


def test_a_queue_that_others_fill_is_waited_for(runs: RunServer) -> None:
    runs.queue_most = 0
    original = runs.clock.sleep

    def sleep(seconds: float) -> None:
        original(seconds)
        if len(runs.clock.slept) == 3:
            runs.queue_most = 100

    runs.clock.sleep = sleep  # type: ignore[method-assign]
    assert list(runs.agent.map(range(40))) == list(range(40))
    assert runs.clock.slept == [5.0] * 3
    assert [len(batch) for batch in runs.batches()[:6]] == [40, 20, 10, 5, 2, 1]


def test_a_full_queue_does_not_hold_results_back(runs: RunServer) -> None:
    runs.queue_most = 100
    runs.concurrency = 1
    results = runs.agent.map(range(200))
    assert [next(results) for _ in range(50)] == list(range(50))
    assert runs.clock.slept == []
    assert list(results) == list(range(50, 200))


def test_events_that_are_not_kept_any_more_hide_no_result(runs: RunServer) -> None:
    results = runs.agent.map(range(50))
    assert next(results) == 0
    cuts = iter([True])

    def cut() -> None:
        if next(cuts, False):
            runs.run(20)
            runs.removed_to = len(runs.events)
            raise httpx.ReadError("reset")

    runs.before_step = cut
    began = runs.clock.now
    assert list(results) == list(range(1, 50))
    assert runs.clock.now - began < 30


@pytest.mark.parametrize("ordered", [True, False])
def test_a_missed_event_only_delays_a_result(runs: RunServer, ordered: bool) -> None:
    runs.hidden = {7, 8, 12}
    began = runs.clock.now
    assert sorted(runs.agent.map(range(5), ordered=ordered)) == list(range(5))
    assert 60 <= runs.clock.now - began <= 90


def test_values_too_large_for_one_page_are_fetched_bit_by_bit(runs: RunServer) -> None:
    answer = runs._list
    sizes = []

    def short(params: httpx.QueryParams) -> httpx.Response:
        sizes.append(int(params["limit"]))
        return answer(params.set("limit", str(min(4, int(params["limit"])))))

    runs._list = short  # type: ignore[method-assign]
    runs.concurrency = 100
    assert list(runs.agent.map(range(100))) == list(range(100))
    assert sizes[0] == 100
    assert len(sizes) < 10


def test_duplicated_events_yield_once(runs: RunServer) -> None:
    after = runs.after

    def again(position: int, request: httpx.Request) -> list[dict[str, Any]]:
        return after(max(0, position - 5), request) if after(position, request) else []

    runs.after = again  # type: ignore[method-assign]
    assert list(runs.agent.map(range(40), ordered=False)) == list(range(40))
