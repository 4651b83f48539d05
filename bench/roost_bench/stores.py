"""How long the operations of DataStores take, beside their SQL alone and beside other stores."""

import contextlib
import random
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Callable

import roost

from roost_bench import statements, store_press, store_work
from roost_bench.context import Context
from roost_bench.latency import HOUR
from roost_bench.report import Row, latency
from roost_bench.store_floor import Bare, Floor
from roost_bench.store_others import REDIS, SQLITE, Redis, Sqlite, redis_program, redis_server, redis_version
from roost_bench.store_rest import Rest

SCRIPT = "from a script"
REST = "over REST"
FLOOR = "alone"
BARE = "alone, without guard, lock and record"
OTHERS = [SQLITE, *REDIS]


@dataclass(frozen=True)
class Operation:
    """What is measured: with which clients, and beside which SQL."""

    key: str
    name: str
    clients: "list[str]"
    sql: str
    floor: str


OPERATIONS = [
    Operation("get", "get", [SCRIPT, REST, *OTHERS, BARE], "select by key", "get"),
    Operation("set", "set", [SCRIPT, REST, *OTHERS, BARE], "upsert by key", "set"),
    Operation("increment", "increment", [SCRIPT, *OTHERS], "upsert that adds", "increment"),
    Operation("transaction", "transaction", [SCRIPT, *OTHERS], "two selects, transaction", "transaction"),
    Operation("commit", "transaction", [REST], "transaction", "commit"),
    Operation("update", "update of 1,000", [SCRIPT, *OTHERS], "transaction of 1,000", "update"),
    Operation("iterate", "iteration, an entry", [SCRIPT, *OTHERS], "range scan, an entry", "iterate"),
    Operation("export", "export, an entry", [REST], "range scan, an entry", "iterate"),
    Operation("pages", "listing, a page of 200", [REST], "range scan, a page", "pages"),
    Operation("import", "import, an entry", [REST], "transactions of 1,000, an entry", "import"),
]

Order = dict[str, Any]
Run = Callable[[Order], "dict[str, Any]"]


@contextlib.contextmanager
def local(client: Any) -> "Iterator[Run]":
    """A client of this process; closed in the end."""
    try:
        yield lambda order: store_work.run(client, order)
    finally:
        client.close()


def script() -> str:
    """The agent's script: the same work, in an execution."""
    return Path(store_work.__file__).read_text(encoding="utf-8")


@contextlib.contextmanager
def clients(context: Context, agent: roost.Agent) -> "Iterator[dict[str, Run]]":
    """All that can be measured here, by name; the Redis is left out where there is none."""

    def execute(order: Order) -> "dict[str, Any]":
        result: dict[str, Any] = context.http.execute(agent.id, order)["execution"]["return_value"]
        return result

    rest = Rest(context.http, agent.store_ids[0])
    with contextlib.ExitStack() as stack:
        runs: dict[str, Run] = {SCRIPT: execute, REST: lambda order: store_work.run(rest, order)}
        runs[FLOOR] = stack.enter_context(local(Floor(context.server.data)))
        runs[BARE] = stack.enter_context(local(Bare(context.server.data)))
        runs[SQLITE] = stack.enter_context(local(Sqlite(context.directory / "sqlite")))
        program = redis_program()
        for place, (name, options) in enumerate(REDIS.items() if program else ()):
            assert program is not None
            socket = stack.enter_context(redis_server(program, context.directory / f"redis-{place}", options))
            runs[name] = stack.enter_context(local(Redis(socket)))
        yield runs


def batches(context: Context, runs: "dict[str, Run]") -> "tuple[dict[tuple[str, str], list[float]], list[float]]":
    """Seconds by client and operation, in an order of chance, so that a noisy moment hits all alike.

    And those of each execution's first operation.
    """
    sizes = context.sizes
    order = {"count": sizes.store_batch, "entries": sizes.entries, "seed": 0}
    for name in (SCRIPT, FLOOR, *OTHERS):
        if name in runs:
            runs[name]({**order, "operation": "fill"})
    tasks = {
        (name, operation)
        for each in OPERATIONS
        for name, operation in [(FLOOR, each.floor), *((client, each.key) for client in each.clients)]
        if name in runs
    }
    measured: dict[tuple[str, str], list[float]] = {task: [] for task in sorted(tasks)}
    first: list[float] = []
    for number in range(1 + sizes.store_rounds):
        for name, operation in random.sample(sorted(tasks), len(tasks)):
            result = runs[name]({**order, "operation": operation, "seed": number})
            if number:  # In the first one, Java compiles what it runs.
                measured[name, operation] += result["seconds"]
                first += [result["first"]] * (name == SCRIPT)
    return measured, first


def rows_of(operation: Operation, measured: "dict[tuple[str, str], list[float]]") -> "list[Row]":
    """The clients' rows, then the floor's."""
    floor = latency(f"{operation.name}: {FLOOR}, {operation.sql}", measured[FLOOR, operation.floor])
    rows = [
        latency(f"{operation.name}: {name}", seconds, floor=floor.value, floor_name=operation.sql)
        for name in operation.clients
        for seconds in [measured.get((name, operation.key))]
        if seconds
    ]
    return [*rows, floor]


def measure(context: Context) -> "list[Row]":
    """One operation after another, then many at once."""
    settings = {"keep_warm": HOUR, "max_concurrency": store_press.SIDE_BY_SIDE}
    with context.agent(script(), **settings) as agent, statements.scratch(context.server.data):
        with clients(context, agent) as runs:
            measured, first = batches(context, runs)
        rows = [row for operation in OPERATIONS for row in rows_of(operation, measured)]
        floor, floor_name = rows[0].floor, rows[0].floor_name
        rows.insert(1, latency(f"get: {SCRIPT}, the first", first, floor=floor, floor_name=floor_name))
        rows += store_press.measure(context, agent, list(store_press.KINDS))
    return [replace(row, note=versions()) if row.name == f"get: {SQLITE}" else row for row in rows]


def versions() -> str:
    """Of the other stores, or that one is left out."""
    program = redis_program()
    about = f"Redis {redis_version(program)}" if program else "Redis is left out: it can't be installed here"
    return f"version {sqlite3.sqlite_version}; {about}"
