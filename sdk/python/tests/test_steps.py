from __future__ import annotations

import asyncio
from typing import Any

import pytest
from support import TIME, Server, aio_client, job

import roost
import roost.aio

PATH = "/executor-jobs/xjob_1"


def step(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "number": number,
        "path": str(number),
        "name": f"step {number}",
        "execution_id": "exec_1",
        "state": "succeeded",
        "result": {"n": None},
        "error": None,
        "attempts": 2,
        "duration_seconds": 1.5,
        "finished_at": TIME,
        **fields,
    }


@pytest.fixture
def with_steps(server: Server) -> Server:
    server.on("GET", PATH, job())
    failure = {"type": "KeyError", "message": "'a'", "traceback": None, "unknown": 1}
    server.on(
        "GET",
        PATH + "/steps",
        {"data": [step(1)], "next_cursor": "step_1"},
        {"data": [step(2, state="failed", result=None, error=failure)], "next_cursor": None},
    )
    return server


def test_the_steps_of_a_job(with_steps: Server) -> None:
    first, second = with_steps.client.executor_jobs.retrieve("xjob_1").steps()
    assert with_steps.sent("GET", PATH + "/steps")[1].url.params["cursor"] == "step_1"
    assert isinstance(first, roost.Step)
    assert (first.path, first.name, first.state, first.result) == (
        "1",
        "step 1",
        "succeeded",
        {"n": None},
    )
    assert (first.attempts, first.duration, first.error) == (2, 1.5, None)
    assert first.finished_at.tzinfo is not None
    assert second.error == roost.StepFailure("KeyError", "'a'", None)
    assert str(second.error) == "KeyError: 'a'"


def test_the_same_for_asyncio(with_steps: Server) -> None:
    async def read() -> list[str]:
        async with aio_client(with_steps._handle, with_steps.clock) as client:
            found = await client.executor_jobs.retrieve("xjob_1")
            return [each.name async for each in found.steps()]

    assert asyncio.run(read()) == ["step 1", "step 2"]
    assert roost.aio.Step is roost.Step
