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
    first, second = [], []
    for _ in range(context.sizes.starts):
        with tempfile.TemporaryDirectory(dir=context.directory) as directory:
            data = Path(directory, "data")
            for measured in (first, second):
                with server.running(data, with_uv) as started:
                    measured.append(started.start_seconds)
    floor = percentile([bare() for _ in range(5)], 50)
    for name, measured in (("first", first), ("second", second)):
        value = percentile(measured, 50)
        rows.append(Row(name, "s", value, rounds=len(measured), floor=floor, floor_name="java -version"))
    return rows


def bare() -> float:
    """Seconds of a virtual machine that does nothing."""
    began = time.perf_counter()
    subprocess.run([server.java(), "-version"], stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began
