#!/usr/bin/env python3
"""Shows where the time of a warm execution goes, and the processor time that it costs. See bench/README.md.

    python3 bench/breakdown.py [--rounds N]

Needs what `run.py` needs.
"""

import argparse
import datetime
import sys
import time
from pathlib import Path

from roost_bench import environment

STATISTICS_SECONDS = 11  # PostgreSQL's processes hand in what they have counted after 10 s of rest.


def main() -> int:
    """Executes so many times and prints two tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=300, metavar="N", help="executions, one after another")
    rounds = parser.parse_args().rounds
    environment.enter(Path(__file__))
    from roost_bench import latency, machine, memory, processes, report, statements
    from roost_bench.api import check_sum
    from roost_bench.context import Context

    environment.build_application()
    print(machine.text(machine.describe()), flush=True)

    def used(context: Context) -> "dict[str, float]":
        """Processor seconds so far, by process."""
        return {kind: sum(processes.cpu_seconds(pid) for pid in pids) for kind, pids in memory.parts(context).items()}

    def database(context: Context) -> "tuple[float, float, float]":
        """Transactions, seconds in statements and bytes of write-ahead log so far."""
        time.sleep(STATISTICS_SECONDS)
        with statements.connect(context.server.data) as connection:
            row = connection.execute(
                "select xact_commit, active_time / 1000, pg_current_wal_insert_lsn() - '0/0'::pg_lsn "
                "from pg_stat_database where datname = current_database()"
            ).fetchone()
        assert row is not None
        transactions, seconds, log_bytes = row
        return float(str(transactions)), float(str(seconds)), float(str(log_bytes))

    steps: dict[str, list[float]] = {name: [] for name in STEPS}
    with Context.started(quick=True) as context, context.agent(keep_warm=latency.HOUR) as agent:
        for number in range(rounds):  # Until then, Java compiles what it runs.
            latency.through_http(context, agent, number)
        database_before, used_before = database(context), used(context)
        for number in range(rounds):
            sent = time.time()
            job = context.http.execute(agent.id, {"n": number})
            received = time.time()
            execution = job["execution"]
            check_sum(number, execution["return_value"])
            timings = execution["timings"]
            steps["ordering"].append(seconds_of(job["created_at"]) - sent)
            for name in ("queued", "starting", "running"):
                steps[name].append(timings[name])
            steps["answering"].append(received - seconds_of(execution["finished_at"]))
            steps["all"].append(received - sent)
        used_after, database_after = used(context), database(context)
    rows = [report.latency(name, values, note=STEPS[name]) for name, values in steps.items()]
    print(report.table("one execution", rows))
    cpu = [report.Row(kind, "s", (seconds - used_before.get(kind, 0)) / rounds) for kind, seconds in used_after.items()]
    cpu.append(report.Row("together", "s", sum(row.value for row in cpu)))
    print(report.table("processor time of one execution", cpu))
    transactions, seconds, log_bytes = (
        (after - before) / rounds for before, after in zip(database_before, database_after)
    )
    print(
        f"\ndatabase, for one execution\n{transactions:.1f} transactions, {seconds * 1000:.2f} ms in statements, "
        f"{log_bytes / 1024:.1f} KiB of write-ahead log"
    )
    return 0


STEPS = {
    "ordering": "sent by the client → the order has its time",
    "queued": "→ an executor gets it: the order is stored, then claimed",
    "starting": "→ main is called: to the sidecar, to the runner, fork, import",
    "running": "→ main has returned",
    "answering": "→ the client has the return value: to the sidecar, to the control plane, stored, answered",
    "all": "as the client sees it",
}


def seconds_of(text: str) -> float:
    """The seconds of an RFC 3339 time, which may have nine digits after the point."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    moment = datetime.datetime.fromisoformat(whole).replace(tzinfo=datetime.timezone.utc)
    return moment.timestamp() + float(f"0.{fraction or 0}")


if __name__ == "__main__":
    sys.exit(main())
