"""What the figures were taken on."""

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

from roost_bench.server import java

NOISY_LOAD = 0.5


def describe() -> "dict[str, Any]":
    """Size and load of the machine, without its name."""
    cores = len(os.sched_getaffinity(0))
    load = os.getloadavg()[0]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    version = subprocess.run([java(), "-version"], stderr=subprocess.PIPE, text=True, check=True).stderr
    return {
        "cores": cores,
        "cpu": cpu_model(),
        "memory_gib": round(memory / 2**30, 1),
        "load_average": round(load, 2),
        "noisy": load > NOISY_LOAD * cores,
        "java": version.splitlines()[0],
        "client_python": platform.python_version(),
    }


def cpu_model() -> str:
    """What the processor calls itself."""
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def text(about: "dict[str, Any]") -> str:
    """The same for a person."""
    lines = [
        "{cores} cores ({cpu}), {memory_gib} GiB, load average {load_average} at the start".format(**about),
        "{java}; client: Python {client_python}".format(**about),
    ]
    if about["noisy"]:
        lines.append(f"Note: the load is over {NOISY_LOAD} per core, so other work disturbs these figures.")
    return "\n".join(lines)
