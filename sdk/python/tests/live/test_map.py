from __future__ import annotations

import threading
from itertools import count, islice
from typing import Callable

import pytest

import roost

MakeAgent = Callable[..., roost.Agent]
TIMEOUT = 180.0

SQUARE = """\
import time


def main(request):
    n = request.payload
    if n == "fail":
        raise ValueError("as requested")
    if n == "sleep":
        time.sleep(600)
    return n * n
"""


@pytest.fixture
def square(make_agent: MakeAgent) -> roost.Agent:
    return make_agent(script=SQUARE, store_ids=[], max_concurrency=4, cpu=0.1)


def test_results_come_in_order_and_every_payload_runs_once(square: roost.Agent) -> None:
    assert list(square.map(range(250), timeout=TIMEOUT)) == [n * n for n in range(250)]
    jobs = list(roost.ExecutorJob.list(agent_id=square.id, client=square._client))
    assert sorted(job.payload for job in jobs) == list(range(250))


def test_results_come_as_they_end(square: roost.Agent) -> None:
    payloads = ["sleep", *range(20)]
    results = square.map(payloads, ordered=False, timeout=TIMEOUT)
    assert sorted(islice(results, 20)) == [n * n for n in range(20)]
    results.close()
    cancel_all(square)


def test_an_endless_iterable_stops_with_its_reader(square: roost.Agent) -> None:
    taken = count()
    results = square.map(taken, timeout=TIMEOUT)
    assert list(islice(results, 5)) == [0, 1, 4, 9, 16]
    results.close()
    assert next(taken) <= 5 + 205 + 1
    left = roost.ExecutorJob.list(agent_id=square.id, state="queued", client=square._client)
    assert list(left) == []


def test_failures_are_raised_or_yielded(square: roost.Agent) -> None:
    payloads = [1, "fail", 3]
    results = list(square.map(payloads, return_exceptions=True, timeout=TIMEOUT))
    assert (results[0], results[2]) == (1, 9)
    assert isinstance(results[1], roost.ExecutionFailed)
    with pytest.raises(roost.ExecutionFailed, match="as requested"):
        list(square.map(payloads, timeout=TIMEOUT))


def test_a_timeout_leaves_nothing_waiting(square: roost.Agent) -> None:
    with pytest.raises(roost.APITimeout):
        list(square.map(["sleep"] * 10, timeout=1))
    left = roost.ExecutorJob.list(agent_id=square.id, state="queued", client=square._client)
    assert list(left) == []
    cancel_all(square)


def test_a_batch_and_its_results(square: roost.Agent, unique: str) -> None:
    batch = square.execute_batch(range(30), priority=5, idempotency_key=unique)
    again = square.execute_batch(range(30), priority=5, idempotency_key=unique)
    assert again.ids == batch.ids
    assert list(batch.results(timeout=TIMEOUT)) == [n * n for n in range(30)]
    assert list(again) == list(batch)
    jobs = list(batch.jobs())
    assert [job.id for job in jobs] == list(batch.ids)
    assert {(job.priority, job.batch_id) for job in jobs} == {(5, batch.batch_ids[0])}


def test_more_than_a_batch_takes(client: roost.Client) -> None:
    agent = client.agents.create(script=SQUARE, store_ids=[], requirements="six==1.16.0")
    batch = agent.execute_batch(["sleep"] * 1001)
    assert len(batch.batch_ids) == 2
    agent.delete()
    results = list(batch.results(return_exceptions=True, timeout=TIMEOUT))
    assert [type(result) for result in results] == [roost.ExecutionFailed] * 1001


def test_a_batch_is_cancelled(square: roost.Agent) -> None:
    batch = square.execute_batch(["sleep"] * 20)
    batch.cancel()
    results = list(batch.results(ordered=False, return_exceptions=True, timeout=TIMEOUT))
    assert [result.code for result in results] == ["cancelled"] * 20


def test_one_key_runs_one_at_a_time(square: roost.Agent) -> None:
    body = "    return time.time(), time.sleep(0.05), time.time()\n"
    square.update(script="import time\n\n\ndef main():\n" + body)
    spans = sorted(square.map(range(12), concurrency_key="k", timeout=TIMEOUT))
    assert all(end <= begin for (_, _, end), (begin, _, _) in zip(spans, spans[1:]))


def test_reasons_that_are_never_tried_again(make_agent: MakeAgent) -> None:
    agent = make_agent(
        script=SQUARE, store_ids=[], max_attempts=3, retry_delay=60, never_retry=["exception"]
    )
    assert agent.never_retry == ["exception"]
    with pytest.raises(roost.ExecutionFailed) as raised:
        agent.execute("fail", timeout=TIMEOUT, check=True)
    assert raised.value.job is not None
    assert raised.value.job.attempts == 1
    agent.update(never_retry=[])
    job = agent.submit("fail")
    while job.refresh().next_attempt_at is None:
        assert not job.ended
    assert job.waiting_on == "retry_delay"
    job.cancel()


def test_events_are_followed(square: roost.Agent, client: roost.Client) -> None:
    events = client.events(types="executor_job.*", agent_id=square.id)
    job = square.submit(3)
    seen = [next(events) for _ in range(3)]
    events.close()
    assert [event.type.partition(".")[2] for event in seen] == ["queued", "running", "succeeded"]
    assert {event.subject for event in seen} == {job.id}
    assert seen[-1].data["state"] == "succeeded"
    after = client.events(subject=job.id, after=seen[0].id, follow=False)
    assert [event.id for event in after] == [event.id for event in seen[1:]]
    with pytest.raises(roost.ValidationError, match="executor_job"):
        client.events(types="executor_jbo.*")


def test_a_follower_sees_what_another_thread_does(
    square: roost.Agent, client: roost.Client
) -> None:
    events = client.events(types="executor_job.succeeded", agent_id=square.id)
    thread = threading.Thread(target=lambda: list(square.map(range(10), timeout=TIMEOUT)))
    thread.start()
    subjects = {event.subject for event in islice(events, 10)}
    thread.join()
    events.close()
    assert len(subjects) == 10


def cancel_all(agent: roost.Agent) -> None:
    for state in ("queued", "running"):
        for job in roost.ExecutorJob.list(agent_id=agent.id, state=state, client=agent._client):
            job.cancel()
