"""How long a durable step takes that does nothing, beside the SQL of storing it alone."""

import itertools
import json
import os
import time
from pathlib import Path
from typing import Any

from psycopg.types.numeric import Int8

from roost_bench import statements, store_statements
from roost_bench.context import Context
from roost_bench.latency import HOUR, WARM_UP
from roost_bench.report import Row, latency, percentile

STEPS = 200
RESULT = {"number": 41, "name": "user 41", "text": "all work and no play makes a dull entry, it is said"}
# The first step of an execution connects, or reads those that are stored.
SCRIPT = f"""\
import time

RESULT = {RESULT!r}


def main(request):
    seconds = []
    for _ in range({STEPS + 1}):
        began = time.perf_counter()
        request.step("step", lambda: RESULT)
        seconds.append(time.perf_counter() - began)
    if request.attempt == 1 and request.payload == "replay":
        raise RuntimeError("now replay them")
    return seconds
"""
# A copy of the statement in `JobSteps`: when that changes, change this, too.
SAVE = """
with owner as materialized (
  select x.executor_job_id as job from execution x
  where x.id = %(execution)s and x.executor_id = %(executor)s and x.state = 'running' for share),
place as (
  select o.job, coalesce(b.total_bytes, 0) + %(bytes)s as total_bytes
  from owner o left join executor_job_step b on b.executor_job_id = o.job and b.seq = %(seq)s - 1
  where (%(seq)s = 1 or b.seq is not null) and coalesce(b.total_bytes, 0) + %(bytes)s <= %(mostBytes)s),
saved as (
  insert into executor_job_step (executor_job_id, seq, path, name, execution_id, result, error_type,
    error_message, error_traceback, error_arguments, attempts, seconds, finished_at, total_bytes, emitted)
  select p.job, %(seq)s, %(path)s, 'step', %(execution)s, cast(%(result)s as text), cast(null as text),
    cast(null as text), cast(null as text), cast(null as text), 1, 0.0001, statement_timestamp(), p.total_bytes, 0
  from place p on conflict do nothing returning seq)
select exists (select from saved) as saved, exists (select from owner) as granted"""
NAMES = itertools.count()


class Floor:
    """Stores steps as the server does, on a connection of its own."""

    def __init__(self, data: Path) -> None:
        self.connection: Any = statements.connect(data)
        self.connection.prepare_threshold = 0

    def job(self) -> "list[float]":
        """Seconds of each step of a new job."""
        name = f"steps_{os.getpid()}_{next(NAMES)}"
        access = {"execution": name, "executor": name}
        with self.connection.transaction():
            for statement in store_statements.EXECUTION.split(";"):
                self.connection.execute(statement, access)
        result = json.dumps(RESULT)
        values = {**access, "result": result, "bytes": Int8(len(result) + 8), "mostBytes": Int8(1 << 24)}

        def save(seq: int) -> None:
            row = self.connection.execute(SAVE, {**values, "seq": seq, "path": str(seq)}).fetchone()
            if row != (True, True):
                raise SystemExit("the SQL of a step stored nothing")

        seconds = []
        for seq in range(1, STEPS + 1):
            began = time.perf_counter()
            save(seq)
            seconds.append(time.perf_counter() - began)
        return seconds


def measure(context: Context) -> "list[Row]":
    """Jobs and their SQL alternate, so that a noisy moment hits both alike."""
    script: list[float] = []
    first: list[float] = []
    replayed: list[float] = []
    alone: list[float] = []
    settings = {"keep_warm": HOUR, "max_attempts": 2, "retry_delay": 0, "max_concurrency": 1}
    with context.agent(SCRIPT, **settings) as agent, statements.scratch(context.server.data):
        floor = Floor(context.server.data)
        rounds = context.sizes.store_rounds
        for number in range(rounds + WARM_UP // 10):
            seconds = context.http.execute(agent.id, None)["execution"]["return_value"]
            replay = context.http.execute(agent.id, "replay")["execution"]["return_value"]
            saved = floor.job()
            if number >= WARM_UP // 10:  # Before, Java compiles what it runs.
                first.append(seconds[0])
                script += seconds[1:]
                replayed.append(sum(replay))
                alone += saved
        floor.connection.close()
    below = latency("step: alone, insert", alone)
    compared = {"floor": below.value, "floor_name": "insert"}
    return [
        latency("step", script, **compared),
        latency("step: the first", first, **compared),
        below,
        Row(f"replay of {STEPS + 1} steps", "s", percentile(replayed, 50), rounds=len(replayed)),
    ]
