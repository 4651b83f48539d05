#!/usr/bin/env python3
"""Measures the search over ten million lines of logs, and what its index costs. See bench/README.md.

    python3 bench/search.py [--lines N] [--rounds N]

Needs Python 3.9 or later, Java 17 or later, and 8 GB of disk for ten million lines.
"""

import argparse
import datetime
import random
import statistics
import tempfile
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from roost_bench import environment

LINES_PER_EXECUTION = 100
DAYS = 20

# One line of each 100,000 has the rare word; the words of the last two phrases are common, but seldom neighbours.
QUERIES = {
    "rare word": "disk_quota_exceeded",
    "rare identifier": "req_{rare:012x}",
    "common word": "request",
    "common words": "request batch",
    "common word, of one level": "retrying&level=WARNING",
    "common word, of one agent": "request&agent_id=agent_7",
    "common word, of an old day": "request&since={old}&until={old_end}",
    "rare phrase": '"connection reset by peer"',
    "phrase of common words": '"cache miss for key"',
    "common words that never follow each other": '"key request batch"',
    "prefix": "quota_exc*",
    "no match": "nowhere_to_be_found",
}


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lines", type=int, default=10_000_000, metavar="N", help="how many lines (10,000,000)")
    parser.add_argument("--rounds", type=int, default=20, metavar="N", help="requests of each kind (20)")
    return parser.parse_args()


def messages(generator: random.Random, count: int) -> "Iterator[tuple[str, str, Any]]":
    """Stream, message and level, as services print them: about 80 characters, with an identifier each."""
    for number in range(count):
        kind = generator.random()
        identifier = f"req_{number:012x}"
        if number % 100_000 == 77:
            yield "logging", f"{identifier} disk_quota_exceeded on /var/lib/data/{number % 97}", "ERROR"
        elif kind < 0.0005:
            address = f"10.0.{generator.randrange(256)}.{generator.randrange(256)}"
            yield "stderr", f"{identifier} connection reset by peer while reading from {address}:5432", None
        elif kind < 0.4:
            order, took = generator.randrange(1_000_000), generator.randrange(900)
            yield "logging", f"{identifier} request GET /api/v1/orders/{order} status=200 took {took} ms", "INFO"
        elif kind < 0.7:
            yield "stdout", f"{identifier} processed batch {generator.randrange(5000)} of 5000 rows", None
        elif kind < 0.95:
            yield "logging", f"{identifier} cache miss for key user:{generator.randrange(200_000)}:profile", "DEBUG"
        else:
            yield "logging", f"{identifier} retrying attempt {generator.randrange(5)} after timeout", "WARNING"


def fill(connection: Any, lines: int) -> None:
    """Copies executions of the last days and their lines, as from before the index."""
    generator = random.Random(7)
    now = datetime.datetime.now(datetime.timezone.utc)
    executions = lines // LINES_PER_EXECUTION
    begin = now - datetime.timedelta(days=DAYS)
    step = datetime.timedelta(days=DAYS, minutes=-30) / executions
    with connection.cursor() as cursor:
        cursor.execute("set session_replication_role = replica")  # no events of what has never happened
        with cursor.copy(
            "copy executor_job (id, agent_id, agent_revision, state, created_at, finished_at) from stdin"
        ) as rows:
            for number in range(executions):
                at = begin + number * step
                rows.write_row((f"xjob_{number:026d}", f"agent_{number % 50}", 1, "succeeded", at, at))
        with cursor.copy(
            "copy execution (id, executor_job_id, agent_id, agent_revision, build_id, executor_id, attempt, state,"
            " started_at, finished_at, cold_start, queued_seconds, log_entries) from stdin"
        ) as rows:
            for number in range(executions):
                at = begin + number * step
                job, agent = f"xjob_{number:026d}", f"agent_{number % 50}"
                own = (f"exec_{number:026d}", job, agent, 1, "", str(number), 1, "succeeded")
                rows.write_row((*own, at, at, False, 0, LINES_PER_EXECUTION))
        with cursor.copy("copy log_entry (owner_id, seq, time, stream, level, message, continued) from stdin") as rows:
            for number, (stream, message, level) in enumerate(messages(generator, executions * LINES_PER_EXECUTION)):
                execution, place = divmod(number, LINES_PER_EXECUTION)
                at = begin + execution * step
                rows.write_row((f"exec_{execution:026d}", place + 1, at, stream, level, message, False))
        cursor.execute("update search_progress set past_time = now(), past_id = '', begun_at = now()")
    connection.commit()


def size(connection: Any, pattern: str) -> int:
    """Bytes on disk of the tables with such names, their indexes included."""
    row = connection.execute(
        "select sum(pg_total_relation_size(oid)) from pg_class where relkind = 'r' and relname ~ %s", (pattern,)
    ).fetchone()
    return int(row[0] or 0)


def measure(server: Any, query: str, rounds: int) -> "tuple[float, float, float, int, bool]":
    """Milliseconds of the first request, the median and the 95th percentile, the matches, whether it timed out."""
    q, _, rest = query.partition("&")
    path = f"/search?q={urllib.parse.quote(q)}" + (f"&{rest}" if rest else "")
    times, answer = [], {}
    for _ in range(rounds):
        began = time.perf_counter()
        answer = server.get(path)
        times.append((time.perf_counter() - began) * 1000)
    found = answer["data"]
    return times[0], statistics.median(times), sorted(times)[int(0.95 * (rounds - 1))], len(found), answer["timed_out"]


def main() -> None:
    """Fills, indexes and searches."""
    options = arguments()
    environment.enter(Path(__file__))
    # What follows needs the environment's packages.
    from roost_bench import server as servers
    from roost_bench import statements
    from roost_bench.api import Connection

    with tempfile.TemporaryDirectory(prefix="roost-search-") as directory:
        data = Path(directory)
        with servers.running(data) as server:
            http = Connection(server.url, server.key)
            with statements.connect(data) as connection:
                connection.execute("set search_path = public")
                connection.autocommit = False
                began = time.perf_counter()
                fill(connection, options.lines)
                print(f"{options.lines:,} lines copied in {time.perf_counter() - began:.0f} s", flush=True)
                began = time.perf_counter()
                while http.get("/search?q=no.where&level=NONE")["indexed_from"]:
                    time.sleep(5)
                print(f"indexed in {time.perf_counter() - began:.0f} s", flush=True)
                report_sizes(connection, options.lines)
                connection.rollback()
            old = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=DAYS - 2)
            texts = {
                "rare": options.lines // 2,
                "old": f"{old:%Y-%m-%dT%H:%M:%SZ}",
                "old_end": f"{old + datetime.timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}",
            }
            print(f"{'':45}{'first':>8}{'p50':>8}{'p95':>8}  matches", flush=True)
            for name, query in QUERIES.items():
                first, median, high, found, timed_out = measure(http, query.format(**texts), options.rounds)
                note = " (timed out)" if timed_out else ""
                print(f"{name:45}{first:8.0f}{median:8.0f}{high:8.0f}  {found}{note}", flush=True)


def report_sizes(connection: Any, lines: int) -> None:
    """Bytes per line of the logs and of the index."""
    connection.rollback()
    for name, pattern in {"logs": "^log_entry$", "index": "^search_chunk_"}.items():
        total = size(connection, pattern)
        print(f"{name}: {total / 1e6:,.0f} MB, {total / lines:.0f} bytes per line", flush=True)


if __name__ == "__main__":
    main()
