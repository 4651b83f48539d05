from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import anyio
import httpx
import pytest
from run_server import RunServer
from support import agent, aio_client

import roost
from roost import aio

pytestmark = pytest.mark.anyio


@pytest.fixture
def runs() -> RunServer:
    return RunServer()


@pytest.fixture
def square(runs: RunServer) -> aio.Agent:
    runs.main = lambda n: n * n
    return aio.Agent(aio_client(runs._handle, runs.clock), agent())


async def test_results_come_in_the_order_of_the_payloads(
    runs: RunServer, square: aio.Agent
) -> None:
    runs.order = lambda ids: list(reversed(ids))
    assert [each async for each in square.map(range(500))] == [n * n for n in range(500)]
    assert runs.open_streams == 0


async def test_results_come_as_they_end(runs: RunServer, square: aio.Agent) -> None:
    runs.order = lambda ids: list(reversed(ids))
    found = [each async for each in square.map(range(50), ordered=False)]
    assert sorted(found) == [n * n for n in range(50)]
    assert found != sorted(found)


async def test_payloads_may_come_slowly_and_without_end(runs: RunServer, square: aio.Agent) -> None:
    taken = 0

    async def numbers() -> AsyncIterator[int]:
        nonlocal taken
        while True:
            yield taken
            taken += 1
            await anyio.lowlevel.checkpoint()

    found: list[Any] = []
    async with square.map(numbers()) as results:
        async for result in results:
            found.append(result)
            assert taken - len(found) <= 1000, "no more than that is submitted ahead"
            if len(found) == 300:
                break
    assert found == [n * n for n in range(300)]
    assert "queued" not in runs.states(), "what waits is cancelled"
    assert runs.open_streams == 0


async def test_a_failure_is_raised_or_yielded(runs: RunServer, square: aio.Agent) -> None:
    runs.main = lambda n: 1 // n
    results = square.map([1, 0, 1], return_exceptions=True)
    first, failure, last = [each async for each in results]
    assert (first, last) == (1, 1)
    assert isinstance(failure, roost.ExecutionFailed)
    with pytest.raises(roost.ExecutionFailed):
        [each async for each in square.map([1, 0, 1])]


async def test_a_timeout_ends_it(runs: RunServer, square: aio.Agent) -> None:
    runs.concurrency = 0
    with pytest.raises(roost.APITimeout, match="had not ended"):
        [each async for each in square.map(range(3), timeout=30)]
    assert {*runs.states()} == {"cancelled"}


async def test_broken_connections_lose_nothing(runs: RunServer, square: aio.Agent) -> None:
    runs.lost = 2
    failures = iter([True, False] * 4)

    def before(request: httpx.Request) -> None:
        if request.url.path.endswith("/events") and next(failures, False):
            raise httpx.ReadError("reset")

    runs.before = before
    assert [each async for each in square.map(range(120))] == [n * n for n in range(120)]
    assert len(runs.jobs) == 120, "none is submitted twice"


async def test_a_batch_is_submitted_and_fetched(runs: RunServer, square: aio.Agent) -> None:
    batch = await square.execute_batch(range(30))
    assert [each async for each in batch] == [n * n for n in range(30)]
    assert [each.id async for each in batch.jobs()] == batch.ids
    await batch.cancel()
    assert len(batch) == 30
    assert repr(batch).startswith("<roost.aio.Batch of 30")


async def test_cancelling_the_task_cancels_what_waits_and_closes_the_stream(
    runs: RunServer, square: aio.Agent
) -> None:
    runs.concurrency = 0
    waiting = asyncio.Event()
    runs.before_step = waiting.set

    async def collect() -> list[Any]:
        return [each async for each in square.map(range(50))]

    task = asyncio.create_task(collect())
    await waiting.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert {*runs.states()} == {"cancelled"}
    assert runs.open_streams == 0


async def test_a_cancelled_scope_cancels_what_waits_as_well(
    runs: RunServer, square: aio.Agent
) -> None:
    runs.concurrency = 0
    with anyio.CancelScope() as scope:
        runs.before_step = scope.cancel
        async with square.map(range(50)) as results:
            async for _ in results:
                raise AssertionError
    assert {*runs.states()} == {"cancelled"}
    assert runs.open_streams == 0


async def test_events_begin_with_the_block(runs: RunServer, square: aio.Agent) -> None:
    runs.note("executor_job.queued", "before")
    async with square._client.events(types="executor_job.queued") as events:
        runs.note("executor_job.queued", "after")
        async for event in events:
            assert event.subject == "after"
            break
    assert runs.open_streams == 0
    kept = aio.events(follow=False, client=square._client)
    assert [event.subject async for event in kept] == ["before", "after"]
