"""Durable steps in a local run have a server's limits."""

from __future__ import annotations

import json
from pathlib import Path

from roost._run.local_run import Execution, Job, LocalRun
from roost._run.stores import Stores

WAIT_SECONDS = 60


def run(script: str, environment: Path, stores: Stores) -> Execution:
    with LocalRun(Job(script), environment, stores) as running:
        execution = running.wait(WAIT_SECONDS)
    assert execution is not None, "it didn't end"
    return execution


def test_results_and_steps_are_limited(environment: Path, stores: Stores) -> None:
    execution = run(
        "def main(request):\n"
        "    for i in range(17):\n"
        "        request.step('large', lambda: 'x' * 2**20)\n",
        environment,
        stores,
    )
    assert execution.outcome.reason == "exception"
    assert "roost.limits.step-bytes" in (execution.outcome.message or "")
    many = run(
        "def main(request):\n"
        "    for i in range(10_001):\n"
        "        request.step('small', lambda: i)\n",
        environment,
        stores,
    )
    assert "at most 10,000 steps" in (many.outcome.message or "")


def test_async_steps_and_those_of_threads(environment: Path, stores: Stores) -> None:
    execution = run(
        "import asyncio\n"
        "async def double(n):\n"
        "    await asyncio.sleep(0.01)\n"
        "    return 2 * n\n"
        "async def main(request):\n"
        "    each = [request.step(f'n {n}', double, n) for n in range(20)]\n"
        "    return await asyncio.gather(*each)\n",
        environment,
        stores,
    )
    assert json.loads(execution.outcome.return_value or "") == list(range(0, 40, 2))


def test_sleeps_are_waited_for(environment: Path, stores: Stores) -> None:
    execution = run(
        "import asyncio\n"
        "from datetime import datetime, timezone\n"
        "async def main(request):\n"
        "    await request.sleep(until=datetime(2001, 1, 1, tzinfo=timezone.utc))\n"
        "    sleeps = (request.sleep(0.1, name=f'sleep {n}') for n in range(3))\n"
        "    await asyncio.gather(*sleeps)\n"
        "    return await request.step('after', lambda: 'slept')\n",
        environment,
        stores,
    )
    assert execution.outcome.return_value == '"slept"'


def test_other_agents_and_events_are_refused(environment: Path, stores: Stores) -> None:
    for call in ("call('other')", "map('other', [1, 2])"):
        execution = run(f"def main(request):\n    request.{call}\n", environment, stores)
        assert execution.outcome.reason == "exception"
        message = execution.outcome.message or ""
        assert "the agent 'other' can't be called: A local run has no other agents" in message
    waits = run("def main(request):\n    request.wait_for_event('paid')\n", environment, stores)
    assert "A local run receives no events" in (waits.outcome.message or "")
    asks = run("def main(request):\n    request.approval('Pay?')\n", environment, stores)
    assert "A local run asks nobody" in (asks.outcome.message or "")
    caught = run(
        "def main(request):\n"
        "    try:\n"
        "        return request.call('other')\n"
        "    except request.StepError:\n"
        "        return 'nobody'\n",
        environment,
        stores,
    )
    assert caught.outcome.return_value == '"nobody"'
