"""Suspended jobs: what they cost while they wait, and how late they continue when many are due in one second."""

import datetime
import json
import time

import psycopg
import roost

from roost_bench import processes, statements
from roost_bench.api import WrongResultError
from roost_bench.context import Context
from roost_bench.latency import HOUR
from roost_bench.memory import counted, parts
from roost_bench.report import Row, latency
from roost_bench.schedules import latest, seconds, start_of

SCRIPT = """\
from datetime import datetime


def main(request):
    request.step("before", lambda: "the result of a step")
    request.sleep(until=datetime.fromisoformat(request.payload))
    return 2
"""
CONCURRENCY = 16
REST_SECONDS = 10
# Until what follows so many suspensions is over: the log of events, the search index, checkpoints.
QUIET_SECONDS = 40
END_SECONDS = 300
FAR = datetime.datetime(2100, 1, 1, tzinfo=datetime.timezone.utc)
# More of them, as the real ones are: only the database knows them.
COPY = """
insert into {table}
select (jsonb_populate_record(t, jsonb_build_object('{key}', t.{key} || '-' || n))).*
from {table} t cross join generate_series(1, %s) n where {which}"""


def measure(context: Context) -> "list[Row]":
    """Jobs that sleep until 2100, and then others that are due together."""
    real, wanted = context.sizes.schedules * 2, context.sizes.suspended
    with context.agent(SCRIPT, keep_warm=HOUR, max_concurrency=CONCURRENCY) as agent:
        suspend(context, agent, 4 * CONCURRENCY, FAR)  # not counted: executors start
        alone, empty = at_rest(context)
        before = database_bytes(context)
        suspend(context, agent, real, FAR)
        size = (database_bytes(context) - before) / real
        copy(context, agent, wanted)
        with_them, full = at_rest(context)
        # How long it takes to suspend so many: the others must be suspended before they are due.
        began = time.monotonic()
        suspend(context, agent, real, FAR)
        due = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(
            seconds=15 + 1.5 * (time.monotonic() - began)
        )
        suspend(context, agent, real, due)
        if datetime.datetime.now(datetime.timezone.utc) > due - datetime.timedelta(seconds=1):
            raise WrongResultError("suspending the jobs took until their time")
        late = [start_of(job) - due.timestamp() for job in ended(context, agent, real, due)]
    name = f"{wanted:,} suspended jobs"
    rest = f"processor time in {REST_SECONDS} s"
    rows = [
        Row(f"{name}: {rest}", "s", with_them, floor=alone, floor_name="without them"),
        Row(f"{name}: memory of control plane and PostgreSQL", "B", full, floor=empty, floor_name="without them"),
        Row("database, for each suspended job", "B", size, note=f"{size / 1024:.1f} KiB, with all that led to it"),
    ]
    title = f"{real:,} due at once, among {name}: started"
    return [*rows, latency(title, late, note=f"at most {max(late):.2f} s late")]


def suspend(context: Context, agent: roost.Agent, number: int, until: datetime.datetime) -> None:
    """Submits jobs, and waits until they are suspended."""
    before = statistics(context, agent)["suspended"]
    for first in range(0, number, 1000):
        body = json.dumps({"payloads": [until.isoformat()] * min(1000, number - first)})
        context.http.request("POST", f"/agents/{agent.id}/execute-batch", body.encode())
    end = time.monotonic() + END_SECONDS
    while statistics(context, agent)["suspended"] < before + number:
        if time.monotonic() > end:
            raise WrongResultError(f"the jobs were not suspended within {END_SECONDS} s")
        time.sleep(0.2)


def statistics(context: Context, agent: roost.Agent) -> "dict[str, int]":
    """The numbers of the agent's jobs."""
    found: dict[str, int] = context.http.get(f"/statistics?hours=1&agent_id={agent.id}")
    return found


def at_rest(context: Context) -> "tuple[float, int]":
    """The processor time of control plane and database while nothing happens, and their memory."""
    time.sleep(QUIET_SECONDS)
    found = parts(context)
    pids = [*found["control plane"], *found["PostgreSQL"]]
    before = sum(processes.cpu_seconds(pid) for pid in pids)
    time.sleep(REST_SECONDS)
    return sum(processes.cpu_seconds(pid) for pid in pids) - before, counted(pids)[0]


def connect(context: Context) -> "psycopg.Connection[tuple[object, ...]]":
    """A connection to the server's own tables."""
    connection = statements.connect(context.server.data)
    connection.execute("set search_path to public")
    return connection


def database_bytes(context: Context) -> int:
    """The size of all tables and indexes."""
    with connect(context) as connection:
        row = connection.execute("select pg_database_size(current_database())").fetchone()
    assert row is not None
    return int(str(row[0]))


def copy(context: Context, agent: roost.Agent, wanted: int) -> None:
    """Copies suspended jobs with their histories until there are so many."""
    there = statistics(context, agent)["suspended"]
    times = max(0, (wanted - there) // there)
    with connect(context) as connection:
        of_agent = f"(select id from executor_job where agent_id = '{agent.id}' and state = 'suspended')"
        histories = COPY.format(
            table="executor_job_step", key="executor_job_id", which=f"executor_job_id in {of_agent}"
        )
        jobs = COPY.format(table="executor_job", key="id", which=f"t.agent_id = '{agent.id}' and t.state = 'suspended'")
        connection.execute(histories.encode(), (times,))
        connection.execute(jobs.encode(), (times,))
        connection.execute("vacuum analyze")


def ended(context: Context, agent: roost.Agent, number: int, due: datetime.datetime) -> "list[dict[str, object]]":
    """The agent's latest jobs, when they all have ended."""
    time.sleep(max(0.0, due.timestamp() - time.time()))
    end = time.monotonic() + END_SECONDS
    while time.monotonic() < end:
        numbers = statistics(context, agent)
        if numbers["queued"] == numbers["running"] == 0:
            jobs = latest(context, agent, number)
            if all(job["finished_at"] and seconds(job["finished_at"]) > due.timestamp() for job in jobs):
                if any(job["execution"]["return_value"] != 2 for job in jobs):
                    raise WrongResultError("a job has not continued")
                return jobs
        time.sleep(0.5)
    raise WrongResultError(f"the jobs had not ended within {END_SECONDS} s")
