from __future__ import annotations

import asyncio
import inspect
import json
import pickle
from typing import Any

import httpx
import pytest
from support import (
    Server,
    agent,
    aio_client,
    builder_job,
    entry,
    execution,
    job,
    problem,
    stream,
)

import roost
from roost import _public, aio

pytestmark = pytest.mark.anyio
EXECUTE = "/agents/agent_1/execute"
JOB = "/executor-jobs/xjob_1"


@pytest.fixture
def client(server: Server) -> aio.Client:
    return aio_client(server._handle, server.clock)


@pytest.fixture
def greeter(client: aio.Client) -> aio.Agent:
    return aio.Agent(client, agent())


async def test_a_list_has_pages(server: Server, client: aio.Client) -> None:
    first = {"data": [agent(name="a")], "next_cursor": "after-a"}
    server.on("GET", "/agents", first, {"data": [agent(name="b")], "next_cursor": None})
    agents = client.agents.list()
    assert repr(agents) == "<roost.aio.Paged of /v1/agents: iterate over it, or its pages()>"
    assert [page.next_cursor async for page in agents.pages()] == ["after-a", None]
    assert [each.name async for each in agents] == ["b"]
    assert server.sent("GET", "/agents")[1].url.params["cursor"] == "after-a"


def test_everything_public_is_there_with_the_same_parameters() -> None:
    assert {*aio.__all__} - {*_public.__all__} == {"Stream"}
    assert {*_public.__all__} - {*aio.__all__} == set()
    for name in _public.__all__:
        one, other = getattr(roost, name), getattr(aio, name)
        if one is other:
            continue
        for member, value in inspect.getmembers(one, inspect.isroutine):
            module = getattr(value, "__module__", None) or ""
            if (
                member.startswith("_")
                or not module.startswith("roost._sync._")
                or module.endswith("_mapping")  # which has only in common what it is for
            ):
                continue
            ours, theirs = inspect.signature(value), inspect.signature(getattr(other, member))
            assert [*ours.parameters] == [*theirs.parameters], f"{name}.{member}"
    assert aio.APITimeout is roost.APITimeout
    assert aio.LogEntry is roost.LogEntry


def test_names_show_which_of_both_it_is(client: aio.Client, greeter: aio.Agent) -> None:
    assert repr(greeter).startswith("<roost.aio.Agent id='agent_1'")
    assert repr(client).startswith("<roost.aio.Client ")
    assert repr(roost.Agent(None, agent())).startswith("<roost.Agent id='agent_1'")
    copy = pickle.loads(pickle.dumps(greeter))
    assert copy == greeter
    assert copy != roost.Agent(None, agent())


async def test_from_creation_to_result(server: Server, client: aio.Client) -> None:
    server.on("POST", "/agents", agent())
    server.on("GET", "/datastore", {"data": [], "next_cursor": None})
    server.on("POST", "/datastore", {"id": "store_1", "name": "people"})
    server.on("POST", EXECUTE, job("running"))
    server.on("GET", JOB, job("running"), job())
    made = await aio.Agent.create(script="def main(): ...", stores=["people"], client=client)
    result = await made.execute({"n": 1}, timeout=60)
    assert (result.state, result.return_value) == ("succeeded", {"n": 42})


async def test_a_syntax_error_needs_no_request(client: aio.Client, server: Server) -> None:
    with pytest.raises(roost.ScriptError, match="main"):
        await client.agents.create(script="")
    server.on("GET", "/runtime", {"default": "3.9"})
    with pytest.raises(roost.ScriptError, match="line 1"):
        await client.agents.create(script="def")
    with pytest.raises(roost.ScriptError, match="line 1"):
        await aio.Agent(client, agent(python_version="3.9")).update(script="def")


async def test_lists_come_a_page_at_a_time(server: Server, client: aio.Client) -> None:
    pages = [
        {"data": [agent(id=f"agent_{n}")], "next_cursor": str(n) if n < 3 else None}
        for n in range(1, 4)
    ]
    server.on("GET", "/agents", *pages)
    found = []
    async for each in client.agents.list():
        found.append(each.id)
        assert len(server.requests) == len(found)
    assert found == ["agent_1", "agent_2", "agent_3"]
    server.on("GET", "/agents", *pages)
    assert [each.id async for each in aio.Agent.list(limit=2, client=client)] == found[:2]
    with pytest.raises(ValueError, match="limit"):
        client.agents.list(limit=-1)


async def test_a_timeout_names_the_job_that_continues(server: Server, greeter: aio.Agent) -> None:
    server.on("POST", EXECUTE, job("running"))
    server.on("GET", JOB, job("running"))
    with pytest.raises(roost.APITimeout, match="is still") as raised:
        await greeter.execute(timeout=3)
    assert isinstance(raised.value.job, aio.ExecutorJob)


async def test_failures_carry_what_failed(server: Server, greeter: aio.Agent) -> None:
    failed = execution(state="failed", reason="exception", message="It raised.")
    server.on("POST", EXECUTE, job("failed", execution=failed))
    assert (await greeter.execute()).state == "failed"
    with pytest.raises(roost.ExecutionFailed, match="It raised") as raised:
        await greeter.execute(check=True)
    assert isinstance(raised.value.execution, aio.Execution)
    server.on("GET", "/builder-jobs/bjob_1", builder_job("failed", message="No."))
    server.on("GET", "/agents/agent_1", agent())
    with pytest.raises(roost.BuildFailed, match="No") as build:
        await greeter.wait_until_built()
    assert isinstance(build.value.builder_job, aio.BuilderJob)


async def test_requests_are_repeated(server: Server, client: aio.Client) -> None:
    broken: list[Any] = [httpx.ConnectError("refused"), problem(503, "unavailable")]
    server.on("GET", "/runtime", *broken, {"default": "3.13"})
    assert (await client.runtime()).default == "3.13"
    assert len(server.clock.slept) == 2
    server.on("GET", "/runtime", problem(401, "unauthenticated"))
    with pytest.raises(roost.AuthenticationError):
        await client.runtime()


async def test_a_log_is_read_and_followed_over_broken_connections(
    server: Server, client: aio.Client
) -> None:
    run = aio.Execution(client, execution(state="running", finished_at=None))
    server.on("GET", "/executions/exec_1/logs", {"data": [entry(1)], "next_cursor": None})
    assert [each.seq for each in await run.logs()] == [1]

    def lines(*seqs: int) -> str:
        return "".join(f"id: {n}\nevent: log\ndata: {json.dumps(entry(n))}\n\n" for n in seqs)

    end = f"event: end\ndata: {json.dumps(execution())}\n\n"
    server.on(
        "GET",
        "/executions/exec_1/logs",
        stream(lines(1, 2), httpx.ReadError("reset")),
        stream(lines(2, 3), end),
    )
    assert [each.seq async for each in run.logs(follow=True)] == [1, 2, 3]
    assert server.requests[-1].headers["Last-Event-ID"] == "2"
    assert run.state == "succeeded"


async def test_all_attempts_are_followed(server: Server, client: aio.Client) -> None:
    server.on("GET", "/executions", {"data": [execution()], "next_cursor": None})
    line = f"event: log\ndata: {json.dumps(entry(1))}\n\n"
    end = f"event: end\ndata: {json.dumps(execution())}\n\n"
    server.on("GET", "/executions/exec_1/logs", stream(line, end))
    submitted = aio.ExecutorJob(client, job())
    assert [each.seq async for each in submitted.logs(follow=True)] == [1]
    server.on("GET", "/executions/exec_1/logs", {"data": [entry(1)], "next_cursor": None})
    assert [each.message for each in await submitted.logs()] == ["line 1"]


async def test_many_wait_at_once(server: Server, greeter: aio.Agent) -> None:
    server.on("POST", EXECUTE, job())
    results = await asyncio.gather(*(greeter.execute(n) for n in range(20)))
    assert len(results) == 20
    assert len(server.requests) == 20


async def test_settings_and_statistics(server: Server, client: aio.Client) -> None:
    server.on("GET", "/settings", {"data": []})
    assert await client.settings() == ()
    server.on(
        "POST", "/login-links", {"url": "/login?token=t", "expires_at": execution()["started_at"]}
    )
    assert (await client.login_link()).url.endswith(":8080/login?token=t")


async def test_history(server: Server, greeter: aio.Agent) -> None:
    revision = {**agent(), "agent_id": "agent_1", "builder_job_id": "bjob_1"}
    server.on("GET", "/agents/agent_1/revisions", {"data": [revision], "next_cursor": None})
    server.on("GET", "/agents/agent_1/revisions/1", revision)
    server.on("POST", "/agents/agent_1/roll-back", agent(revision=2))
    found = [each async for each in greeter.revisions()]
    assert found == [await greeter.revision_at(1)]
    assert isinstance(found[0], roost.AgentRevision)
    assert (await greeter.roll_back(1)).revision == 2


def test_the_default_client_is_one_for_each_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    from roost._async import _client

    monkeypatch.setenv("ROOST_API_KEY", "key")
    made: list[aio.Client] = []

    async def use() -> None:
        first = _client.default_client()
        assert _client.default_client() is first
        monkeypatch.setattr(roost, "base_url", f"http://host-{len(made)}")
        assert _client.default_client() is not first
        made.extend([first, _client.default_client()])

    asyncio.run(use())
    asyncio.run(use())
    assert len({id(each) for each in made}) == 4
    assert all(each._transport._http.is_closed for each in made), "they end with their loops"
    assert not _client._default._clients
    with pytest.raises(RuntimeError):
        aio.Agent.list()
