from __future__ import annotations

import threading
from typing import Any, Callable

import pytest

import roost

MakeAgent = Callable[..., roost.Agent]
TIMEOUT = 180.0

ECHO = """\
import logging
import sys


def main(request, store):
    print("got", request.payload)
    logging.getLogger("echo").warning("watch out")
    print("oops", file=sys.stderr)
    return request.payload
"""

SLEEP = """\
import time


def main(request, store):
    print("asleep", flush=True)
    time.sleep(600)
"""


def test_from_creation_to_result_and_logs(make_agent: MakeAgent) -> None:
    agent = make_agent(script=ECHO, requirements=["six==1.16.0"], env_vars={"LANG": "en"})
    assert agent.env_vars == {"LANG": "en"}
    agent.wait_until_built(TIMEOUT)
    assert agent.build_id is not None
    build = roost.Build.retrieve(agent.build_id, client=agent._client)
    assert "six" in {package.name for package in build.packages}

    payload = {"n": 10**30, "x": 1.5, "text": "ü\u2028", "none": None}
    execution = agent.execute(payload=payload, timeout=TIMEOUT)
    assert (execution.state, execution.message) == ("succeeded", None)
    assert execution.return_value == payload
    entries = [entry for entry in execution.logs() if entry.stream != "system"]
    assert [entry.seq for entry in execution.logs()] == list(range(1, execution.log_entries + 1))
    assert "got" in entries[0].message
    assert [entry.message for entry in entries if entry.logger == "echo"] == ["watch out"]
    assert [entry.message for entry in entries if entry.stream == "stderr"] == ["oops"]
    assert list(execution.logs(follow=True)) == execution.logs()
    assert "watch out" in execution.text_logs()


@pytest.mark.parametrize("payload", [None, 0, "", [], {}, True, 10**30, -0.0, "\ud800", "a/b\0"])
def test_values_come_back_as_they_were(make_agent: MakeAgent, payload: Any) -> None:
    agent = make_agent(script="def main(request):\n    return request.payload\n", store_ids=[])
    execution = agent.execute(payload, timeout=TIMEOUT, check=True)
    assert repr(execution.return_value) == repr(payload)


def test_every_mistake_is_listed_with_its_line(client: roost.Client) -> None:
    with pytest.raises(roost.ValidationError) as raised:
        client.agents.create(
            script=ECHO, requirements="six==1.16.0\nJinja2\n-e .\n", env_vars="1X=1"
        )
    found = {(error.pointer, error.line) for error in raised.value.errors}
    assert {("/requirements", 2), ("/requirements", 3), ("/env_vars", 1)} <= found
    assert "requirements, line 2" in str(raised.value)


def test_a_failed_script_has_its_error(make_agent: MakeAgent) -> None:
    agent = make_agent(script="def main():\n    1 / 0\n")
    execution = agent.execute(timeout=TIMEOUT)
    assert (execution.state, execution.reason) == ("failed", "exception")
    assert execution.error is not None
    assert (execution.error.type, execution.error.line) == ("ZeroDivisionError", 2)
    with pytest.raises(roost.ExecutionFailed, match="ZeroDivisionError"):
        agent.execute(timeout=TIMEOUT, check=True)


def test_a_build_that_fails_says_why(make_agent: MakeAgent) -> None:
    agent = make_agent(script=ECHO, requirements="six==99.99.99")
    with pytest.raises(roost.BuildFailed, match="six"):
        agent.wait_until_built(TIMEOUT)
    with pytest.raises(roost.ExecutionFailed) as raised:
        agent.execute(timeout=TIMEOUT)
    assert raised.value.code == "build_failed"


def test_one_key_is_one_run(make_agent: MakeAgent, unique: str) -> None:
    agent = make_agent(script=ECHO)
    first = agent.submit({"n": 1}, idempotency_key=unique)
    assert agent.submit({"n": 1}, idempotency_key=unique) == first
    with pytest.raises(roost.ValidationError) as raised:
        agent.submit({"n": 2}, idempotency_key=unique)
    assert raised.value.code == "idempotency_key_reused"
    assert first.wait(TIMEOUT).return_value == {"n": 1}
    assert [job.id for job in roost.ExecutorJob.list(agent_id=agent.id, client=agent._client)] == [
        first.id
    ]


def test_a_run_is_followed_and_cancelled(make_agent: MakeAgent) -> None:
    agent = make_agent(script=SLEEP)
    job = agent.submit()
    messages = []
    for entry in job.logs(follow=True):
        messages.append(entry.message)
        if "asleep" in entry.message:
            job.cancel()
    assert "asleep" in messages
    assert job.wait(TIMEOUT).state == "cancelled"
    assert job.state == "cancelled"


def test_a_wait_that_is_too_short_leaves_the_job_alone(make_agent: MakeAgent) -> None:
    agent = make_agent(script=SLEEP)
    with pytest.raises(roost.APITimeout) as raised:
        agent.execute(timeout=0.5)
    job = raised.value.job
    assert job is not None
    assert not job.refresh().ended
    job.cancel()


def test_an_update_makes_a_revision(make_agent: MakeAgent) -> None:
    agent = make_agent(script="def main():\n    return 1\n")
    assert agent.update(script="def main():\n    return 2\n").revision == 2
    assert agent.execute(timeout=TIMEOUT).return_value == 2
    assert agent.update(memory=300).revision == 2


def test_lists_and_names(make_agent: MakeAgent, client: roost.Client, unique: str) -> None:
    made = [make_agent(name=f"{unique}-{n}", script=ECHO, store_ids=[]) for n in range(3)]
    assert list(client.agents.list(q=unique)) == made[::-1]
    assert list(client.agents.list(q=unique, limit=2)) == made[:0:-1]
    assert client.agents.retrieve(name=f"{unique}-1") == made[1]
    made[0].refresh()
    with pytest.raises(roost.NotFound):
        client.agents.retrieve("agent_00000000000000000000000000")


def test_a_wrong_key_is_refused(client: roost.Client) -> None:
    with (
        roost.Client("roost_nobody_nothing", client.base_url) as stranger,
        pytest.raises(roost.AuthenticationError),
    ):
        stranger.runtime()


def test_threads_share_a_client(make_agent: MakeAgent) -> None:
    agent = make_agent(script=ECHO)
    agent.execute(timeout=TIMEOUT)
    results: dict[int, Any] = {}

    def run(n: int) -> None:
        results[n] = agent.execute(n, timeout=TIMEOUT).return_value

    threads = [threading.Thread(target=run, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: n for n in range(8)}


def test_keys_have_roles(client: roost.Client, unique: str) -> None:
    key = client.keys.create(name=unique, role="read")
    try:
        assert key.key is not None
        assert key in list(client.keys.list())
        with roost.Client(key.key, client.base_url) as reader:
            reader.runtime()
            with pytest.raises(roost.PermissionDenied):
                reader.agents.create(script=ECHO)
    finally:
        key.delete()
