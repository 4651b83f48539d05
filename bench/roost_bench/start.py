"""How long the server takes from the start of its process until it is ready."""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from roost_bench import server
from roost_bench.context import Context
from roost_bench.report import Row, percentile


def measure(context: Context) -> "list[Row]":
    """First starts, on empty data directories, and second starts on the same ones."""
    rows = []
    with_uv = os.environ["PATH"]
    if not shutil.which("uv"):
        rows.append(Row("first, fetching uv as well", "s", context.server.start_seconds, rounds=1))
        with_uv += os.pathsep + str(context.server.uv.parent)
    measured: dict[str, list[tuple[float, float]]] = {"first": [], "second": []}
    for _ in range(context.sizes.starts):
        with tempfile.TemporaryDirectory(dir=context.directory) as directory:
            data = Path(directory, "data")
            for times in measured.values():
                with server.running(data, with_uv) as started:
                    times.append((started.start_seconds, started.start_cpu_seconds))
    floor = percentile([bare() for _ in range(5)], 50)
    for name, times in measured.items():
        seconds = percentile([wall for wall, _ in times], 50)
        note = f"{percentile([cpu for _, cpu in times], 50):.1f} s of processor time, without PostgreSQL's"
        rows.append(Row(name, "s", seconds, rounds=len(times), floor=floor, floor_name="java -version", note=note))
    return rows


def bare() -> float:
    """Seconds of a virtual machine that does nothing."""
    began = time.perf_counter()
    subprocess.run([server.java(), "-version"], stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began
