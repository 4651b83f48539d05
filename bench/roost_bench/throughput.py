"""How many executions there are in a minute when several clients order without a pause."""

import contextlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import roost

from roost_bench import floors, statements
from roost_bench.context import Context
from roost_bench.latency import FORK, HOUR, SQL
from roost_bench.report import Row

CONCURRENCIES = [1, 8, 32]
CLIENT_PROCESSES = 4
MOST_SQL_CONNECTIONS = 20  # PostgreSQL takes 50, and the server has up to 20.


class Done(NamedTuple):
    """What a load has come to."""

    a_minute: float
    count: int
    cold: int
    client_cores: float


def load(order: "dict[str, Any]", concurrency: int, seconds: float) -> Done:
    """Has client processes make load side by side."""
    number = min(concurrency, CLIENT_PROCESSES)
    with contextlib.ExitStack() as stack:
        clients = []
        for place in range(number):
            threads = concurrency // number + (place < concurrency % number)
            argument = json.dumps({**order, "threads": threads, "seconds": seconds})
            client = subprocess.Popen(
                [sys.executable, "-m", "roost_bench.load", argument],
                cwd=Path(__file__).parents[1],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            stack.enter_context(client)
            stack.callback(client.kill)
            clients.append(client)
        for client in clients:
            client.stdout.readline()
        for client in clients:
            client.stdin.write("go\n")
            client.stdin.flush()
        outputs = [client.communicate()[0] for client in clients]
    if any(client.returncode for client in clients):
        raise SystemExit("a client has failed")
    results = [json.loads(output) for output in outputs]
    longest = max(result["seconds"] for result in results)
    count = sum(result["count"] for result in results)
    cpu = sum(result["cpu_seconds"] for result in results)
    return Done(60 * count / longest, count, sum(result["cold"] for result in results), cpu / longest)


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


def roost_load(context: Context, agent: roost.Agent, concurrency: int, seconds: float) -> "tuple[Done, int]":
    """Makes load after some that isn't counted, in which executors start; with the number of those."""
    order = {"kind": "http", "port": context.server.port, "key": context.server.key, "agent": agent.id}
    load(order, concurrency, max(2.0, seconds / 3))
    done = load(order, concurrency, seconds)
    return done, len(context.executors())
