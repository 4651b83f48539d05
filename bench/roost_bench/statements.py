"""The SQL of an execution alone, on the server's own PostgreSQL, in a scratch schema with the same tables.

The statements have the shape of those in `ImmediateJobs`, `FrameIntake`, `Execution` and `ExecutorJob`: a job that is
created for a waiting executor, and the transaction that finishes it. What the server does besides isn't here: this is a
floor.
"""

import contextlib
import hashlib
import itertools
import os
import re
import time
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path

import psycopg

from roost_bench.environment import ROOT

SCHEMA = "roost_bench"
MIGRATIONS = ROOT / "src/main/resources/db/migration"

CREATE = """
with alive as (
  select id, build_id from executor where id = %(executor)s and state in ('starting', 'ready') for share),
target as (
  select a.id, a.revision, (
    select count(*) from executor_job q where q.agent_id = a.id and q.state = 'queued') as waiting
  from agent a where a.id = %(agent)s and a.deleted_at is null),
created as (
  insert into executor_job (id, agent_id, agent_revision, payload, state, attempts, latest_execution_id,
    idempotency_key, request_sha256, created_at)
  select %(id)s, t.id, t.revision, cast(%(payload)s as text), 'running', 1, %(execution)s, cast(null as text),
    %(digest)s, %(now)s
  from target t
  where t.waiting = 0 and t.revision = 1 and exists (select 1 from alive)
  on conflict (agent_id, idempotency_key) where idempotency_key is not null do nothing
  returning *),
started as (
  insert into execution (id, executor_job_id, agent_id, agent_revision, build_id, executor_id, attempt, state,
    started_at, cold_start, queued_seconds)
  select c.latest_execution_id, c.id, c.agent_id, c.agent_revision, e.build_id, e.id, c.attempts, 'running',
    %(now)s, false, 0
  from created c cross join alive e)
select c.id, c.attempts, c.scheduled_time, a.timeout_seconds, a.memory_mib, c.payload,
  (select coalesce(json_agg(json_build_object('name', d.name, 'id', d.id) order by s.position), '[]')
   from agent_store s join datastore d on d.id = s.store_id where s.agent_id = a.id) as stores
from created c join agent a on a.id = c.agent_id"""

FINISH = [
    """
select e.executor_id, e.state, e.acknowledged, e.log_entries, e.executor_job_id, j.cancel_requested, e.agent_id,
  e.agent_revision
from execution e join executor_job j on j.id = e.executor_job_id
where e.id = %(execution)s for update of e""",
    """
with ended as (
  update execution set state = 'succeeded', reason = null, message = null, error = null, return_value = %(value)s,
    logs_truncated = false, cpu_seconds = 0.001, max_memory_bytes = 9437184, finished_at = %(now)s,
    acknowledged = 2, log_entries = 0, entered_at = coalesce(%(now)s, entered_at)
  where id = %(execution)s and state = 'running' returning executor_job_id)
update executor_job j set state = 'succeeded', finished_at = %(now)s
from ended where j.id = ended.executor_job_id and j.state = 'running'""",
]

AGENT = """
insert into agent values ('agent_1', 'bench', 1, 900, 256, 1, 32, 1, 1, 60, 'process', now(), now(), null);
insert into datastore values ('store_1', 'bench', now(), now());
insert into agent_store values ('agent_1', 'store_1', 0);
"""

EXECUTOR = """
insert into executor (id, agent_id, agent_revision, build_id, state, lease_expires_at, created_at)
values (%s, 'agent_1', 1, 'build_1', 'ready', now() + interval '1 day', now())"""


def connect(data: Path) -> "psycopg.Connection[tuple[object, ...]]":
    """A connection of the scratch schema, in the database of the server with that data directory."""
    return psycopg.connect(
        host="127.0.0.1",
        port=int((data / "database.port").read_text(encoding="ascii")),
        password=(data / "database.password").read_text(encoding="ascii").strip(),
        user="roost",
        dbname="postgres",
        options=f"-c search_path={SCHEMA}",
        autocommit=True,
    )


def version(migration: Path) -> "tuple[int, ...]":
    """The numbers in `V1_2__name.sql`, by which Flyway orders."""
    return tuple(int(number) for number in re.findall(r"\d+", migration.name.partition("__")[0]))


@contextlib.contextmanager
def scratch(data: Path) -> "Iterator[None]":
    """Makes the tables and what a job needs, and drops all in the end."""
    with connect(data) as connection:
        connection.execute(f"create schema {SCHEMA}")
        try:
            for migration in sorted(MIGRATIONS.glob("V*.sql"), key=version):
                connection.execute(migration.read_text(encoding="utf-8"))
            connection.execute(AGENT)
            yield
        finally:
            connection.execute(f"drop schema {SCHEMA} cascade")


class Executions:
    """Does the SQL of one execution after another, as one executor."""

    def __init__(self, data: Path) -> None:
        self.connection = connect(data)
        self.name = f"{os.getpid()}_{id(self)}"
        self.connection.execute(EXECUTOR, [f"executor_{self.name}"])
        self.counter = itertools.count()

    def once(self) -> None:
        """A job that begins, and its end."""
        number = next(self.counter)
        payload = '{"n": 41}'
        values = {
            "id": f"xjob_{time.time_ns():020d}_{self.name}",
            "agent": "agent_1",
            "executor": f"executor_{self.name}",
            "execution": f"exec_{number:09d}_{self.name}",
            "payload": payload,
            "digest": hashlib.sha256(payload.encode()).digest(),
            "value": '{"n": 42}',
            "now": datetime.now(timezone.utc),
        }
        if self.connection.execute(CREATE, values).fetchone() is None:
            raise SystemExit("the job was not created")
        with self.connection.transaction():
            row = self.connection.execute(FINISH[0], values).fetchone()
            if row is None or row[1] != "running":
                raise SystemExit("the claimed execution does not run")
            for statement in FINISH[1:]:
                if self.connection.execute(statement, values).rowcount != 1:
                    raise SystemExit(f"changed nothing: {statement}")

    def close(self) -> None:
        """Closes the connection."""
        self.connection.close()


def latencies(data: Path, rounds: int) -> "list[float]":
    """Seconds of both, one after another."""
    seconds = []
    with scratch(data):
        executions = Executions(data)
        try:
            for number in range(rounds + 20):
                began = time.perf_counter()
                executions.once()
                if number >= 20:  # Before, statements are not prepared yet.
                    seconds.append(time.perf_counter() - began)
        finally:
            executions.close()
    return seconds
