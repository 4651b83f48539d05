"""How long an execution takes: submitted, run, and its return value received by the client."""

import time
from typing import Callable

import roost

from roost_bench import floors, statements
from roost_bench.api import WrongResultError, check_sum
from roost_bench.context import Context
from roost_bench.report import Row, latency

WARM_UP = 50
HOUR = 3600.0
FORK = "fork, import, call"
SQL = "create, finish"


def through_http(context: Context, agent: roost.Agent, number: int) -> "tuple[float, bool]":
    """Seconds, and whether an executor had to be started."""
    began = time.perf_counter()
    job = context.http.execute(agent.id, {"n": number})
    seconds = time.perf_counter() - began
    check_sum(number, job["execution"]["return_value"])
    return seconds, job["execution"]["cold_start"]


def through_sdk(context: Context, agent: roost.Agent, number: int) -> "tuple[float, bool]":
    """The same, with the SDK."""
    began = time.perf_counter()
    execution = agent.execute(payload={"n": number}, check=True)
    seconds = time.perf_counter() - began
    check_sum(number, execution.return_value)
    return seconds, bool(execution.cold_start)


WAYS: "dict[str, Callable[[Context, roost.Agent, int], tuple[float, bool]]]" = {
    "through HTTP": through_http,
    "through the SDK": through_sdk,
}


def cold(context: Context) -> "list[Row]":
    """No executor is there: one has to be started, with a new Python."""
    measured: dict[str, list[float]] = {name: [] for name in WAYS}
    with context.agent(keep_warm=0) as agent:
        for number in range(context.sizes.cold):
            for name, execute in WAYS.items():
                context.await_no_executor()
                seconds, was_cold = execute(context, agent, number)
                if not was_cold:
                    raise WrongResultError("an execution with no executor there was warm")
                measured[name].append(seconds)
        context.await_no_executor()
        floor = latency("alone: python -c", floors.new_interpreter(context.interpreter(agent), context.sizes.cold))
    rows = [latency(name, seconds, floor=floor.value, floor_name="python -c") for name, seconds in measured.items()]
    return [*rows, floor]


def warm(context: Context) -> "list[Row]":
    """An executor waits for work."""
    rounds = context.sizes.warm
    rows = []
    with context.agent(keep_warm=HOUR) as agent:
        for number in range(WARM_UP):
            for execute in WAYS.values():
                execute(context, agent, number)
        measured, colds = {}, {}
        for name, execute in WAYS.items():
            results = [execute(context, agent, number) for number in range(rounds)]
            measured[name] = [seconds for seconds, _ in results]
            colds[name] = sum(was_cold for _, was_cold in results)
        forked = latency(f"alone: {FORK}", floors.run(context.interpreter(agent), "fork", rounds)["seconds"])
        stored = latency(f"alone: {SQL}", statements.latencies(context.server.data, rounds))
    for name, seconds in measured.items():
        # One client alone can get another executor: when it orders again before the first one has asked for work.
        note = f"{colds[name]} of {rounds} went to an executor that was just started" if colds[name] else None
        rows.append(latency(name, seconds, floor=forked.value, floor_name=FORK, note=note))
    best = measured["through HTTP"]
    rows.append(latency("  beside the SQL", best, floor=stored.value, floor_name=SQL))
    rows.append(latency("  beside both", best, floor=forked.value + stored.value, floor_name="the sum of the two"))
    return [*rows, forked, stored]
