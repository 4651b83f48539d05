"""How many executions there are in a minute when several clients order without a pause."""

import roost

from roost_bench import floors, statements
from roost_bench.clients import Done, load
from roost_bench.context import Context
from roost_bench.latency import FORK, HOUR, SQL
from roost_bench.report import Row

CONCURRENCIES = [1, 8, 32]
# As many as Java's optimising compiler needs for nearly all that an execution runs.
WARM_UP = 30_000
MOST_SQL_CONNECTIONS = 20  # PostgreSQL takes 50, and the server has up to 20.


def measure(context: Context) -> "list[Row]":
    """The sample script, then its floors, at each concurrency."""
    rows = []
    seconds = context.sizes.seconds
    with context.agent(keep_warm=HOUR, max_concurrency=max(CONCURRENCIES)) as agent:
        python = context.interpreter(agent)
        measured = {}
        for concurrency in CONCURRENCIES:
            measured[concurrency] = roost_load(context, agent, concurrency, seconds)
    for concurrency, (done, executors) in measured.items():
        rows.append(
            Row(
                f"{concurrency} at a time",
                "a minute",
                done.a_minute,
                rounds=done.count,
                floor=floors.forks_a_minute(python, concurrency, seconds / 3),
                floor_name=f"{FORK}: {concurrency} side by side",
                note=f"{executors} executors, {done.cold} cold starts, the client used {done.client_cores:.2f} cores",
            )
        )
    with statements.scratch(context.server.data):
        for concurrency, (done, _) in measured.items():
            connections = min(concurrency, MOST_SQL_CONNECTIONS)
            alone = load({"kind": "sql", "data": str(context.server.data)}, connections, seconds / 3)
            name = f"{SQL}: {connections} connections"
            rows.append(
                Row(
                    f"  {concurrency}, beside the SQL", "a minute", done.a_minute, floor=alone.a_minute, floor_name=name
                )
            )
    return rows


def warm_up(context: Context) -> None:
    """Executes the sample script until there have been enough for Java's optimising compiler."""
    with context.agent(keep_warm=HOUR, max_concurrency=8) as agent:
        executed = 0
        while executed < (context.sizes.warm if context.quick else WARM_UP):
            executed += load(_orders(context, agent), 8, context.sizes.seconds).count


def _orders(context: Context, agent: roost.Agent) -> "dict[str, str]":
    return {"kind": "http", "url": context.server.url, "key": context.server.key, "agent": agent.id}


def roost_load(context: Context, agent: roost.Agent, concurrency: int, seconds: float) -> "tuple[Done, int]":
    """Makes load after some that isn't counted, in which executors start; with the number of those."""
    order = _orders(context, agent)
    load(order, concurrency, max(2.0, seconds / 3))
    done = load(order, concurrency, seconds)
    return done, len(context.executors())
