"""How much memory the processes hold while nothing happens."""

import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from roost_bench import processes
from roost_bench.context import Context
from roost_bench.latency import HOUR, through_http
from roost_bench.report import Row

EXECUTIONS = 100
REST_SECONDS = 2
IDLE = "import sys; print(flush=True); sys.stdin.read()"


def parts(context: Context) -> "dict[str, list[int]]":
    """The numbers of the server's processes, by what they are."""
    main = int((context.server.data / "database/postmaster.pid").read_text(encoding="utf-8").split()[0])
    found = {"control plane": [context.server.process.pid], "PostgreSQL": list(processes.with_descendants(main))}
    for seen in processes.using(context.server.data / "executors"):
        if "roost_executor" in seen.command:
            kind = "sidecar" if " sidecar " in f"{seen.command} " else "runner"
            found.setdefault(kind, []).append(seen.pid)
    return found


def counted(pids: Iterable[int]) -> "tuple[int, str]":
    """Their memory together, and how it was counted."""
    sizes = [processes.memory_bytes(pid) for pid in pids]
    return sum(size for size, _ in sizes), sizes[0][1]


def bare_python(python: Path) -> int:
    """The memory of an interpreter that has done nothing."""
    with subprocess.Popen([python, "-I", "-c", IDLE], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        return processes.memory_bytes(process.pid)[0]


def measure(context: Context) -> "list[Row]":
    """Executors that have worked, at rest."""
    rows = []
    with context.agent(keep_warm=HOUR) as agent:
        for number in range(EXECUTIONS):
            through_http(context, agent, number)
        time.sleep(REST_SECONDS)
        found = parts(context)
        missing = {"sidecar", "runner"} - found.keys()
        if missing:
            raise SystemExit(f"no process was found of: {', '.join(sorted(missing))}")
        floor = bare_python(context.interpreter(agent))
        for kind, pids in found.items():
            size, how = counted(pids)
            if kind in ("sidecar", "runner"):
                executors_there = len(found["sidecar"])  # a runner has forked the process of the next execution
                mean = size / executors_there
                row = Row(f"{kind} ({how})", "B", mean, rounds=executors_there, floor=floor, floor_name="idle python")
                rows.append(row)
            else:
                name = f"{kind} ({how})" if len(pids) == 1 else f"{kind} ({how} of {len(pids)} processes)"
                rows.append(Row(name, "B", size, rounds=1))
        executors = f"{len(found['sidecar'])} executor(s) were there after {EXECUTIONS} executions, one after another"
    return [*rows, Row("together, with one executor", "B", sum(row.value for row in rows), note=executors)]
