"""Runs `floor.py` and other floors as processes."""

import json
import subprocess
import time
from pathlib import Path
from typing import Any

from roost_bench.api import check_sum

PROGRAM = Path(__file__).with_name("floor.py")
ONE_LINER = 'import json, sys; n = json.loads(sys.argv[1])["n"]; print(json.dumps({"n": n + 1}))'


def run(python: Path, what: str, size: float) -> Any:
    """What `floor.py` prints."""
    command = [str(python), "-I", "-B", str(PROGRAM), what, str(size)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def forks_a_minute(python: Path, side_by_side: int, seconds: float) -> float:
    """How many forks with import and call so many processes manage together."""
    command = [str(python), "-I", "-B", str(PROGRAM), "forks", str(seconds)]
    started = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(side_by_side)]
    results = [json.loads(process.communicate()[0]) for process in started]
    return 60 * sum(result["count"] / result["seconds"] for result in results)


def new_interpreter(python: Path, rounds: int) -> "list[float]":
    """Seconds of `python -c` with the same work as the sample script."""
    seconds = []
    for number in range(rounds):
        began = time.perf_counter()
        command = [str(python), "-c", ONE_LINER, json.dumps({"n": number})]
        text = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
        seconds.append(time.perf_counter() - began)
        check_sum(number, json.loads(text))
    return seconds
