"""Many agents, executions and issues, copied into the database of the Roost under test.

They are rows as real ones leave them: copies of an agent that was built, and of its executions, with names, times and
payloads of their own.
"""

import os
import random
import time
from pathlib import Path
from typing import Any

import psycopg
import pytest
from roost_client import Roost

SCRIPT = '''\
"""Reads a page of a feed."""


def main(request):
    if request.payload == "broken":
        raise ValueError("the feed is not readable")
    return {"read": request.payload}
'''

TEAMS = ("crawlers", "billing", "reports", "imports", "mail", "search")
DOING = ("fetch", "sync", "export", "reconcile", "index", "notify", "clean", "archive", "score", "convert")
WHAT = ("invoices", "orders", "news", "images", "prices", "customers", "returns", "stock", "ratings", "newsletters")
WHERE = ("de", "fr", "es", "it", "pl", "nl", "se", "uk", "us", "jp")

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"

AGENTS = """
insert into builder_job select (jsonb_populate_record(j, jsonb_build_object(
  'id', c.job, 'agent_id', c.agent))).* from crowd_agent c, builder_job j where j.id = %(job)s;
insert into agent select (jsonb_populate_record(a, jsonb_build_object(
  'id', c.agent, 'name', c.name, 'created_at', c.created, 'updated_at', c.created))).*
  from crowd_agent c, agent a where a.id = %(agent)s;
insert into agent_revision select (jsonb_populate_record(r, jsonb_build_object(
  'agent_id', c.agent, 'builder_job_id', c.job))).*
  from crowd_agent c, agent_revision r where r.agent_id = %(agent)s and r.revision = 1;
insert into agent_tag select c.agent, tag from crowd_agent c, unnest(c.tags) tag;
analyze agent, agent_tag, agent_revision, builder_job;
"""

EXECUTIONS = """
insert into executor_job select (jsonb_populate_record(j, jsonb_build_object(
  'id', c.job, 'agent_id', c.agent, 'payload', c.payload, 'created_at', c.started, 'finished_at', c.finished,
  'latest_execution_id', c.execution))).*
  from crowd_execution c, executor_job j where j.id = case when c.failed then %(failed_job)s else %(job)s end;
insert into execution select (jsonb_populate_record(e, jsonb_build_object(
  'id', c.execution, 'executor_job_id', c.job, 'agent_id', c.agent, 'executor_id', c.execution,
  'started_at', c.started, 'entered_at', c.started, 'finished_at', c.finished))).*
  from crowd_execution c, execution e where e.id = case when c.failed then %(failed)s else %(execution)s end;
analyze executor_job, execution;
"""

LOG = """
insert into log_entry (owner_id, seq, time, stream, level, logger, message, continued)
select %s, n, now(), 'stdout', null, null, lpad(n::text, 6, '0') || ' the quick brown fox', false
from generate_series(%s, %s) n
"""


def identifier(prefix: str, seconds: float, number: int) -> str:
    """An identifier of that time, as Roost makes them: a UUIDv7 in base32."""
    value = (int(seconds * 1000) << 80) | (7 << 76) | ((number & 0xFFF) << 64) | (2 << 62) | number
    digits = ""
    for _ in range(26):
        digits = ALPHABET[value & 31] + digits
        value >>= 5
    return f"{prefix}_{digits}"


def database() -> "psycopg.Connection[Any]":
    """A connection to the database of the Roost under test; its data directory is in ROOST_TEST_DATA."""
    directory = os.environ.get("ROOST_TEST_DATA")
    if not directory or not (Path(directory) / "database.port").exists():
        pytest.skip("needs the embedded database of the Roost under test: ROOST_TEST_DATA not set")
    data = Path(directory)
    return psycopg.connect(
        host="127.0.0.1",
        port=int((data / "database.port").read_text(encoding="ascii")),
        password=(data / "database.password").read_text(encoding="ascii").strip(),
        user="roost",
        dbname="postgres",
        autocommit=True,
    )


class Crowd:
    """Agents and executions beside those of other tests; all names have a word of its own."""

    def __init__(self, roost: Roost, word: str, seed: int = 1) -> None:
        self.roost = roost
        self.word = word
        self.random = random.Random(seed)
        self.template = roost.agent(f"{word}-template", SCRIPT)
        roost.built(self.template)
        self.succeeded = roost.run(self.template, "2026-01-14")
        self.failed = roost.run(self.template, "broken")
        self.agents: list[str] = []

    def add_agents(self, count: int) -> None:
        now = time.time()
        rows = []
        first = len(self.agents)
        for n in range(first, first + count):
            team = TEAMS[n % len(TEAMS)]
            name = "-".join((self.word, DOING[n // 100 % 10], WHAT[n // 10 % 10], WHERE[n % 10], f"{n:04}"))
            created = now - 30 * 86_400 - n
            tags = [f"{self.word}/{team}", *(["nightly"] if n % 5 == 0 else [])]
            agent, job = identifier("agent", created, n), identifier("bjob", created, n)
            rows.append((agent, job, name, created, tags))
        with database() as connection, connection.transaction():
            connection.execute(
                "create temporary table crowd_agent (agent text, job text, name text, created timestamptz,"
                " tags text[]) on commit drop"
            )
            with connection.cursor().copy("copy crowd_agent from stdin") as copy:
                for agent, job, name, created, tags in rows:
                    copy.write_row((agent, job, name, stamp(created), tags))
            run(connection, AGENTS, agent=self.template["id"], job=self.template["latest_builder_job_id"])
        self.agents += [row[0] for row in rows]

    def add_executions(self, count: int) -> None:
        """Spread over the last six days; every 20th has failed, and half of these with one agent in ten."""
        now = time.time()
        with database() as connection, connection.transaction():
            connection.execute(
                "create temporary table crowd_execution (execution text, job text, agent text, payload text,"
                " started timestamptz, finished timestamptz, failed boolean) on commit drop"
            )
            with connection.cursor().copy("copy crowd_execution from stdin") as copy:
                for n in range(count):
                    started = now - 60 - n * 6 * 86_400 / count
                    failed = n % 20 == 0
                    agent = self.agents[self.random.randrange(0, len(self.agents), 10 if failed else 1)]
                    seconds = 0.01 + self.random.expovariate(0.5)
                    copy.write_row(
                        (
                            identifier("exec", started, n),
                            identifier("xjob", started, n),
                            agent,
                            '"broken"' if failed else f'{{"page": {n}}}',
                            stamp(started),
                            stamp(started + seconds),
                            failed,
                        )
                    )
            run(
                connection,
                EXECUTIONS,
                execution=self.succeeded["id"],
                job=self.succeeded["executor_job_id"],
                failed=self.failed["id"],
                failed_job=self.failed["executor_job_id"],
            )

    def add_log(self, lines: int) -> None:
        """To the successful execution of the template."""
        with database() as connection, connection.transaction():
            execution = self.succeeded["id"]
            (last,) = connection.execute(
                "select coalesce(max(seq), 0) from log_entry where owner_id = %s", (execution,)
            ).fetchone() or (0,)
            connection.execute(LOG, (execution, last + 1, last + lines))
            connection.execute("update execution set log_entries = %s where id = %s", (last + lines, execution))


def stamp(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f"{seconds % 1:.6f}"[1:] + "Z"


def run(connection: "psycopg.Connection[Any]", statements: str, **values: str) -> None:
    for statement in statements.split(";\n"):
        if statement.strip():
            connection.execute(statement, values)


REMOVE = """
delete from issue where agent_id = any(%(agents)s);
delete from execution where agent_id = any(%(agents)s);
delete from executor_job where agent_id = any(%(agents)s);
delete from agent_preload where agent_id = any(%(agents)s);
delete from agent_revision where agent_id = any(%(agents)s);
delete from agent where id = any(%(agents)s);
delete from builder_job where agent_id = any(%(agents)s);
"""


def remove(crowd: Crowd) -> None:
    """Deletes everything again, so that other tests find the lists short."""
    with database() as connection, connection.transaction():
        run(connection, REMOVE, agents=crowd.agents)  # type: ignore[arg-type]
    crowd.roost.delete("/agents/" + crowd.template["id"])
