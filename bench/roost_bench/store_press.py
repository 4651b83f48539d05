"""How many operations of DataStores there are in a second when several executions do them without a pause."""

import json
import time
from typing import Any

import roost

from roost_bench.api import WrongResultError
from roost_bench.clients import load
from roost_bench.context import Context
from roost_bench.report import Row
from roost_bench.store_floor import Floor

SIDE_BY_SIDE = 8
TURNS = 3
START_SECONDS = 3
KINDS = {"increment": "of one counter", "set": "of keys of their own"}


def measure(context: Context, agent: roost.Agent, kinds: "list[str]") -> "list[Row]":
    """Executions and bare connections in turns."""
    seconds = context.sizes.seconds / TURNS
    together(context, agent, "set", 1.0)  # Not counted: executors start.
    rows = []
    for kind in kinds:
        counted, alone = [], []
        for _ in range(TURNS):
            counted.append(together(context, agent, kind, seconds))
            alone.append(connections(context, kind, seconds))
        floor = sum(alone) / TURNS
        name = f"{kind}s {KINDS[kind]}: {SIDE_BY_SIDE} executions"
        bare = f"{SIDE_BY_SIDE} connections"
        rows.append(
            Row(name, "a second", sum(counted) / TURNS, rounds=TURNS, floor=floor, floor_name=f"the SQL, {bare}")
        )
    return rows


def together(context: Context, agent: roost.Agent, kind: str, seconds: float) -> float:
    """Operations a second of executions that begin at one moment."""
    before = counter(context, agent)
    order: dict[str, Any] = {"operation": "press", "kind": kind, "seconds": seconds}
    order["begin"] = time.time() + START_SECONDS
    jobs = []
    for place in range(SIDE_BY_SIDE):
        body = json.dumps({"payload": {**order, "place": place}}).encode()
        jobs.append(json.loads(context.http.request("POST", f"/agents/{agent.id}/execute", body)))
    count = a_second = 0
    for job in jobs:
        while job["finished_at"] is None:
            job = context.http.get(f"/executor-jobs/{job['id']}?wait=60")
        if job["state"] != "succeeded":
            raise WrongResultError(f"{job['id']} ended as {job['state']}: {job['message']}")
        done = job["execution"]["return_value"]
        count += done["count"]
        a_second += done["count"] / done["seconds"]
    if kind == "increment" and counter(context, agent) != before + count:
        raise WrongResultError(f"{count} increments have made {before} {counter(context, agent)}")
    return a_second


def counter(context: Context, agent: roost.Agent) -> int:
    """What the increments have come to."""
    found = context.http.get(f"/datastore/{agent.store_ids[0]}/entries?start=count/all&limit=1")["data"]
    return int(found[0]["value"]) if found and found[0]["key"] == "count/all" else 0


def connections(context: Context, kind: str, seconds: float) -> float:
    """The same of as many connections to the database."""
    data = context.server.data
    floor = Floor(data)
    try:
        before = int(floor.get("count/all") or 0)
        done = load({"kind": "store", "operation": kind, "data": str(data)}, SIDE_BY_SIDE, seconds)
        if kind == "increment" and int(floor.get("count/all") or 0) != before + done.count:
            raise WrongResultError(f"{done.count} increments by SQL are not what the counter has")
    finally:
        floor.close()
    return done.a_minute / 60
