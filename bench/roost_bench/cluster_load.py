"""Warm executions, many executions, and many executors at once on a cluster."""

import contextlib
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from roost_bench import floors
from roost_bench.api import Connection, WrongResultError
from roost_bench.calls import EVERYBODYS_LOGS
from roost_bench.clients import load
from roost_bench.cluster_context import ClusterContext
from roost_bench.pods import at_once
from roost_bench.report import Row, latency
from roost_bench.timeline import WARM_STEPS, warm_steps

CONCURRENCIES = [1, 8, 32]
HOUR = 3600
WARM_UP = 50
LOOK_SECONDS = 0.05
FORK = "fork, import, call"
POD = "as many bare pods: create → first line"
GOAL_WARM_SECONDS = 0.030
GOAL_A_MINUTE = 3000


def warm(context: ClusterContext) -> "dict[str, list[Row]]":
    """One client, one execution after another."""
    seconds, steps, colds = [], [], 0
    rounds = context.options.warm
    with context.agent(keep_warm=HOUR) as agent:
        for number in range(WARM_UP if not context.options.quick else 5):
            context.execute(agent, number)
        for number in range(rounds):
            job, sent, received = context.execute(agent, number)
            seconds.append(received - sent)
            steps.append(warm_steps(job, sent, received))
            colds += job["execution"]["cold_start"]
        fork = latency(f"alone: {FORK}", floors.run(Path(sys.executable), "fork", rounds)["seconds"])
    row = latency("execute and wait, through HTTP", seconds, floor=fork.value, floor_name=FORK)
    met = "met" if row.value < GOAL_WARM_SECONDS else "missed"
    note = f"the goal for p50 is less than {GOAL_WARM_SECONDS * 1000:.0f} ms: {met}; {colds} cold"
    return {
        "warm": [latency(row.name, seconds, floor=fork.value, floor_name=FORK, note=note), fork],
        "warm, where the time goes": [
            latency(step, [one[step] for one in steps], note=meaning) for step, meaning in WARM_STEPS.items()
        ],
    }


def throughput(context: ClusterContext) -> "dict[str, list[Row]]":
    """Executions with executors that are there, and Jobs one for each execution."""
    rows = []
    seconds = context.options.seconds
    with context.agent(keep_warm=HOUR, max_concurrency=max(CONCURRENCIES)) as agent:
        order = {"kind": "http", "url": context.url, "key": context.key, "agent": agent}
        measured = {}
        for concurrency in CONCURRENCIES:
            load(order, concurrency, max(5.0, seconds / 2))
            measured[concurrency] = (load(order, concurrency, seconds), len(context.executors()))
    for concurrency, (done, executors) in measured.items():
        forks = floors.forks_a_minute(Path(sys.executable), concurrency, seconds / 3)
        note = f"{executors} executors, {done.cold} cold starts, the client used {done.client_cores:.2f} cores"
        if concurrency == max(CONCURRENCIES):
            met = "met" if done.a_minute >= GOAL_A_MINUTE else "missed"
            note += f"; the goal is {GOAL_A_MINUTE:,} a minute: {met}"
        name = f"{FORK}: {concurrency} side by side"
        row = Row(
            f"{concurrency} at a time", "a minute", done.a_minute, rounds=done.count, floor=forks, floor_name=name
        )
        rows.append(Row(**{**row.__dict__, "note": note}))
    for concurrency, (done, _) in measured.items():
        count, took = jobs_for(context, concurrency, seconds)
        name = f"Roost, {concurrency} at a time"
        rows.append(
            Row(
                f"  plain Jobs, {concurrency} at a time",
                "a minute",
                60 * count / took,
                rounds=count,
                floor=done.a_minute,
                floor_name=name,
            )
        )
    return {"throughput": rows}


def jobs_for(context: ClusterContext, concurrency: int, seconds: float) -> "tuple[int, float]":
    """How many Jobs come to an end, each followed by the next, and how long that took."""
    began = time.monotonic()
    end = began + seconds

    def work() -> int:
        count = 0
        while time.monotonic() < end:
            context.cluster.job(count)
            count += 1
        return count

    counts = at_once([work] * concurrency)
    took = time.monotonic() - began
    context.cluster.await_no_pods("bench=floor")
    return sum(counts), took


class Memory:
    """The resident memory of a process, looked at all the time."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.peak = self.first = self._read()
        self.ended = False

    def _read(self) -> int:
        for line in Path(f"/proc/{self.pid}/status").read_text(encoding="utf-8").splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        return 0

    @contextlib.contextmanager
    def watched(self) -> "Iterator[None]":
        """Looks while the block runs."""

        def look() -> None:
            while not self.ended:
                self.peak = max(self.peak, self._read())
                time.sleep(LOOK_SECONDS)

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self.ended = True
            thread.join()


def burst(context: ClusterContext) -> "dict[str, list[Row]]":
    """So many agents, none of which has an executor, all submitted at once."""
    number = context.options.burst
    agents = [context.make_agent(name=f"burst-{place}") for place in range(number)]
    connections = [Connection(context.url, context.key) for _ in agents]
    try:
        for agent in agents:
            context.await_built(agent)
        before = context.calls.read() if context.calls else Counter()
        memory = Memory(context.server.process.pid) if context.server else None
        with memory.watched() if memory else contextlib.nullcontext():
            orders = zip(agents, connections)
            done = at_once([partial(context.execute, agent, place, http) for place, (agent, http) in enumerate(orders)])
            started = context.calls.read() if context.calls else Counter()
    finally:
        for connection in connections:
            connection.close()
        for agent in agents:
            context.http.request("DELETE", f"/agents/{agent}")
    context.await_no_executor()
    removed = context.calls.read() if context.calls else Counter()
    pods = at_once([context.cluster.watched_pod for _ in range(number)])
    context.cluster.await_no_pods("bench=floor")
    began = time.time()
    jobs = at_once([partial(context.cluster.job, place) for place in range(number)])
    last_job = time.time() - began
    context.cluster.await_no_pods("bench=floor")
    rows = returned(done, [pod.entered for pod in pods], [result for _, result in jobs], last_job)
    if memory:
        grown = f"{(memory.peak - memory.first) / number / 2**20:.2f} MiB more for each executor"
        rows.append(Row("control plane (RSS) before", "B", memory.first))
        rows.append(Row("control plane (RSS), peak", "B", memory.peak, note=grown))
    sections = {f"{number} at once": rows}
    if context.calls:
        first, last = started - before, removed - started
        sections["  API calls until the last has returned"] = counts(first, number)
        sections["  API calls from then until all executors are removed"] = counts(last, number)
    return sections


def returned(
    done: "list[tuple[Any, float, float]]", pods: "list[float]", jobs: "list[float]", last_job: float
) -> "list[Row]":
    """The rows of times. Orders are sent within some milliseconds: "all" counts from the first one."""
    for job, _, _ in done:
        if not job["execution"]["cold_start"]:
            raise WrongResultError("an execution of a new agent was warm")
    last = max(received for _, _, received in done) - min(sent for _, sent, _ in done)
    return [
        Row("until the last has returned", "s", last, floor=max(pods), floor_name=POD),
        latency("each", [back - sent for _, sent, back in done], floor=middle(pods), floor_name=POD),
        Row("plain Jobs: until the last result is read", "s", last_job, floor=max(pods), floor_name=POD),
        latency("plain Jobs: each", jobs, floor=middle(pods), floor_name=POD),
        latency(f"alone: {POD}", pods),
    ]


def middle(values: "list[float]") -> float:
    """The median."""
    return latency("", values).value


def counts(calls: "Counter[str]", number: int) -> "list[Row]":
    """How often the API server was asked for what, most first; beside each, how often for an executor."""
    total = sum(count for what, count in calls.items() if what != EVERYBODYS_LOGS)
    asked = [(what, count) for what, count in calls.most_common() if count > 0]
    return [Row(f"{count:,} × {what}", "an executor", count / number) for what, count in [("all", total), *asked]]
