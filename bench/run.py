#!/usr/bin/env python3
"""Measures Roost on this machine, beside the least that the same work can cost. See bench/README.md.

    python3 bench/run.py [--quick] [--busy] [--only NAME ...] [--json FILE]

Needs Python 3.9 or later, Java 17 or later, Maven when nothing has been built yet, and a package index.
"""

import argparse
import datetime
import json
import sys
from pathlib import Path

from roost_bench import environment

MEASUREMENTS = [
    "start",
    "first",
    "builds",
    "cold",
    "pools",
    "warm",
    "imports",
    "projects",
    "memory",
    "throughput",
    "logs",
    "stores",
    "steps",
    "suspended",
    "streams",
    "waiting",
    "schedules",
]


def arguments() -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="few rounds: does it work, not how fast is it")
    parser.add_argument("--only", action="append", choices=MEASUREMENTS, metavar="NAME", help=", ".join(MEASUREMENTS))
    parser.add_argument(
        "--busy",
        action="store_true",
        help="a server that has executed for long: with Java's optimising compiler, after 30,000 executions",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    return parser.parse_args()


def main() -> int:
    """Runs the measurements and prints them as they come."""
    options = arguments()
    environment.enter(Path(__file__))
    # What follows needs the environment's packages.
    from roost_bench import (
        builds,
        first,
        imports,
        latency,
        logs,
        machine,
        memory,
        pools,
        projects,
        report,
        schedules,
        server,
        start,
        steps,
        stores,
        streams,
        suspended,
        throughput,
        waiting,
    )
    from roost_bench.context import Context

    measure = {
        "start": start.measure,
        "first": first.measure,
        "builds": builds.measure,
        "cold": latency.cold,
        "pools": pools.measure,
        "warm": latency.warm,
        "imports": imports.measure,
        "projects": projects.measure,
        "memory": memory.measure,
        "throughput": throughput.measure,
        "logs": logs.measure,
        "stores": stores.measure,
        "steps": steps.measure,
        "suspended": suspended.measure,
        "streams": streams.measure,
        "waiting": waiting.measure,
        "schedules": schedules.measure,
    }
    environment.build_application()
    began = datetime.datetime.now(datetime.timezone.utc)
    about = machine.describe()
    print(machine.text(about), flush=True)
    names = [name for name in MEASUREMENTS if not options.only or name in options.only]
    sections: dict[str, list[report.Row]] = {}
    if options.busy:
        server.JAVA_OPTIONS.remove(server.QUICK_COMPILER)
    try:
        with Context.started(quick=options.quick) as context:
            if options.busy:
                print("… executions until Java has compiled its code", file=sys.stderr, flush=True)
                throughput.warm_up(context)
            for name in names:
                print(f"… {name}", file=sys.stderr, flush=True)
                sections[name] = measure[name](context)
                print(report.table(name, sections[name]), flush=True)
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130
    finally:
        if options.json and sections:
            document = {
                "date": began.isoformat(timespec="seconds"),
                "quick": options.quick,
                "busy": options.busy,
                "machine": about,
                "sections": {name: [row.as_json() for row in rows] for name, rows in sections.items()},
            }
            options.json.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
