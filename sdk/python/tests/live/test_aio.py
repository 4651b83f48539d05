"""`roost.aio` against a server: every resource, and all that comes bit by bit."""

from __future__ import annotations

import asyncio
import io
import os
from collections.abc import AsyncGenerator
from typing import Any, Callable

import pytest

import roost
from roost import aio

pytestmark = pytest.mark.anyio
TIMEOUT = 180.0
SQUARE = "def main(request):\n    print(request.payload)\n    return request.payload ** 2\n"
SLEEP = "import time\n\ndef main():\n    print('asleep', flush=True)\n    time.sleep(600)\n"


@pytest.fixture
async def aclient(client: roost.Client) -> AsyncGenerator[aio.Client, None]:
    async with aio.Client(os.environ["ROOST_TEST_API_KEY"], client.base_url) as aclient:
        yield aclient


@pytest.fixture
async def make(aclient: aio.Client) -> AsyncGenerator[Callable[..., Any], None]:
    made: list[aio.Agent] = []

    async def make(**settings: Any) -> aio.Agent:
        settings.setdefault("store_ids", [])
        made.append(await aclient.agents.create(**settings))
        return made[-1]

    yield make
    for agent in made:
        await agent.delete()


async def test_from_creation_to_result_and_logs(
    make: Callable[..., Any], aclient: aio.Client
) -> None:
    agent: aio.Agent = await make(script=SQUARE, requirements=["six==1.16.0"])
    await agent.wait_until_built(TIMEOUT)
    assert agent.build_id is not None
    build = await aio.Build.retrieve(agent.build_id, client=aclient)
    assert "six" in {package.name for package in build.packages}
    builder_job = await aclient.builder_jobs.retrieve(agent.latest_builder_job_id)
    assert [entry async for entry in builder_job.logs(follow=True)] == await builder_job.logs()
    assert builder_job in [each async for each in aclient.builder_jobs.list(agent_id=agent.id)]

    execution = await agent.execute(12, timeout=TIMEOUT, check=True)
    assert execution.return_value == 144
    assert [entry.message for entry in await execution.logs() if entry.stream == "stdout"] == ["12"]
    assert "12" in await execution.text_logs()
    assert execution in [each async for each in aio.Execution.list(limit=50, client=aclient)]
    again = await aclient.agents.retrieve(name=agent.name)
    assert again == agent
    assert (await agent.update(timeout=7)).timeout == 7
    with pytest.raises(roost.NotFound):
        await aclient.agents.retrieve("agent_missing")


async def test_a_run_is_followed_and_cancelled(make: Callable[..., Any]) -> None:
    agent: aio.Agent = await make(script=SLEEP)
    job = await agent.submit(priority=1)
    async with job.logs(follow=True) as entries:
        async for entry in entries:
            if "asleep" in entry.message:
                await job.cancel()
    assert (await job.wait(TIMEOUT)).state == "cancelled"
    with pytest.raises(roost.APITimeout):
        await agent.execute(timeout=0.5)
    async for left in aio.ExecutorJob.list(agent_id=agent.id, client=agent._client):
        await left.cancel()


async def test_map_and_batches(make: Callable[..., Any]) -> None:
    agent: aio.Agent = await make(script=SQUARE, max_concurrency=4)

    async def numbers() -> AsyncGenerator[int, None]:
        for n in range(10):
            yield n

    async with agent.map(numbers(), timeout=TIMEOUT) as results:
        assert [each async for each in results] == [n**2 for n in range(10)]
    unordered = agent.map(range(5), ordered=False, timeout=TIMEOUT)
    assert sorted([each async for each in unordered]) == [n**2 for n in range(5)]
    batch = await agent.execute_batch([1, "x"])
    first, failure = [each async for each in batch.results(return_exceptions=True)]
    assert first == 1
    assert isinstance(failure, roost.ExecutionFailed)
    assert len([job async for job in batch.jobs()]) == 2


async def test_events_are_followed_while_others_work(
    make: Callable[..., Any], aclient: aio.Client
) -> None:
    agent: aio.Agent = await make(script=SQUARE)
    async with aclient.events(types="execution.*", agent_id=agent.id) as events:
        running = asyncio.create_task(agent.execute(3, timeout=TIMEOUT))
        types = []
        async for event in events:
            types.append(event.type)
            if event.type == "execution.succeeded":
                break
    assert types == ["execution.running", "execution.succeeded"]
    assert (await running).return_value == 9


async def test_a_cancelled_map_cancels_what_waits(
    make: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A task that is cancelled does not wait long for a server that is slow.
    monkeypatch.setattr("roost._async._concurrency._CLEANUP_SECONDS", TIMEOUT)
    agent: aio.Agent = await make(script=SLEEP, max_concurrency=1)
    submitted = asyncio.Event()

    async def collect() -> None:
        async for _ in agent.map(payloads()):
            pass

    async def payloads() -> AsyncGenerator[int, None]:
        for n in range(3):
            yield n
        submitted.set()

    task = asyncio.create_task(collect())
    await asyncio.wait_for(submitted.wait(), TIMEOUT)
    async with agent._client.events(types="executor_job.*", agent_id=agent.id, after=0) as events:
        queued = 0
        async for event in events:
            queued += event.type == "executor_job.queued"
            if queued == 3:
                break
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    jobs = [job async for job in aio.ExecutorJob.list(agent_id=agent.id, client=agent._client)]
    assert len(jobs) == 3
    assert "queued" not in {job.state for job in jobs}
    for job in jobs:
        await job.cancel()


async def test_a_store(aclient: aio.Client, unique: str) -> None:
    store = await aio.DataStore.create(unique, client=aclient)
    await store.update({f"k{n}": n for n in range(5)}, other=None)
    assert await store.get("k3") == 3
    assert await store.set("k3", [3], ttl=3600) == (await store.entry("k3")).version
    assert [key async for key in store.keys("k")] == [f"k{n}" for n in range(5)]
    assert (await store.count(), await store.contains("other")) == (6, True)
    async with store.transaction() as tx:
        await tx.set("sum", await tx.get("k1") + await tx.get("k2"))
    assert await store.get("sum") == 3

    async def count(tx: aio.Transaction) -> None:
        await tx.set("n", await tx.get("n", 0) + 1)

    await asyncio.gather(*(store.transact(count) for _ in range(4)))
    assert await store.get("n") == 4
    file = io.BytesIO()
    assert await store.export(file) == 8
    file.seek(0)
    await store.clear()
    assert await store.import_(file) == 8
    await store.delete("n")
    with pytest.raises(KeyError):
        await store.pop("n")
    assert (await aclient.datastores.retrieve(name=unique)) == store
    await store.delete()
    with pytest.raises(roost.NotFound):
        await store.refresh()


async def test_schedules_webhooks_keys_and_the_rest(
    make: Callable[..., Any], aclient: aio.Client, unique: str
) -> None:
    agent: aio.Agent = await make(script=SQUARE)
    schedule = await agent.schedule("0 9 * * *", payload=2)
    assert len(await schedule.next(3)) == 3
    assert (await schedule.pause()).state == "paused"
    job = await schedule.trigger()
    assert (await job.wait(TIMEOUT)).return_value == 4
    assert [each async for each in aio.Schedule.list(agent_id=agent.id, client=aclient)] == [
        schedule
    ]
    assert (await aio.Schedule.preview("@hourly", client=aclient)).description
    await schedule.delete()

    hook = await aio.Webhook.create(
        "http://127.0.0.1:9/", agent_id=agent.id, description=unique, client=aclient
    )
    assert hook.secret != await hook.rotate_secret()
    assert (await hook.test()).status is None
    assert "webhook.test" in [each.event_type async for each in hook.deliveries()]
    assert hook in [each async for each in aio.Webhook.list(client=aclient)]
    await hook.delete()

    key = await aclient.keys.create(name=unique, role="read")
    async with aio.Client(key.key, aclient.base_url) as reader:
        assert (await reader.runtime()).python_versions
        with pytest.raises(roost.PermissionDenied):
            await reader.keys.create(name="no", role="read")
    await key.delete()


async def test_the_default_client(client: roost.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roost, "base_url", client.base_url)
    monkeypatch.setenv("ROOST_API_KEY", os.environ["ROOST_TEST_API_KEY"])
    assert len([each async for each in aio.Agent.list(limit=1)]) <= 1


async def test_values_come_while_the_script_runs(make: Callable[..., Any]) -> None:
    agent: aio.Agent = await make(
        script="async def main(request):\n"
        "    for n in range(request.payload):\n"
        "        request.progress(n / request.payload, 'counting')\n"
        "        yield n\n"
    )
    seen: list[roost.Progress] = []
    values = [value async for value in agent.stream(3, on_progress=seen.append)]
    assert values == [0, 1, 2]
    assert seen[-1] == roost.Progress(2 / 3, "counting")
    with pytest.raises(roost.ExecutionFailed, match="TypeError"):
        [value async for value in agent.stream("three")]
    job = await agent.submit(2)
    assert [value async for value in job.stream()] == [0, 1]
    assert job.state == "succeeded"
