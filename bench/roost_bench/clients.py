"""Clients that order without a pause, in processes of their own."""

import contextlib
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CLIENT_PROCESSES = 4


@dataclass(frozen=True)
class Done:
    """What a load has come to."""

    a_minute: float
    count: int
    cold: int
    client_cores: float


def load(order: "dict[str, Any]", concurrency: int, seconds: float) -> Done:
    """Has client processes make load side by side."""
    number = min(concurrency, CLIENT_PROCESSES)
    with contextlib.ExitStack() as stack:
        clients = []
        for place in range(number):
            threads = concurrency // number + (place < concurrency % number)
            argument = json.dumps({**order, "threads": threads, "seconds": seconds})
            client = subprocess.Popen(
                [sys.executable, "-m", "roost_bench.load", argument],
                cwd=Path(__file__).parents[1],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            stack.enter_context(client)
            stack.callback(client.kill)
            clients.append(client)
        for client in clients:
            assert client.stdout is not None
            client.stdout.readline()
        for client in clients:
            assert client.stdin is not None
            client.stdin.write("go\n")
            client.stdin.flush()
        outputs = [client.communicate()[0] for client in clients]
    if any(client.returncode for client in clients):
        raise SystemExit("a client has failed")
    results = [json.loads(output) for output in outputs]
    longest = max(result["seconds"] for result in results)
    count = sum(result["count"] for result in results)
    cpu = sum(result["cpu_seconds"] for result in results)
    return Done(60 * count / longest, count, sum(result["cold"] for result in results), cpu / longest)
