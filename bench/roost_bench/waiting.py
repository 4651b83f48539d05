"""Executions that wait, as for a model: a process for each of them, and 25 in each process."""

import time
from concurrent.futures import ThreadPoolExecutor

from roost_bench import processes
from roost_bench.api import WrongResultError
from roost_bench.context import Context
from roost_bench.latency import HOUR
from roost_bench.report import Row

SCRIPT = """\
import asyncio


async def main(request):
    await asyncio.sleep(request.payload)
    return request.payload
"""
AT_ONCE = 50
WAIT_SECONDS = 3.0
REQUESTS = (1, 25)
LIMIT_SECONDS = 300


def measure(context: Context) -> "list[Row]":
    """The time until all have ended, from cold executors on and with warm ones, and the executors' memory meanwhile."""
    rows = []
    for requests in REQUESTS:
        with context.agent(SCRIPT, keep_warm=HOUR, max_concurrency=AT_ONCE, requests_per_process=requests) as agent:
            for which in ("cold", "warm"):
                with ThreadPoolExecutor(AT_ONCE) as threads:
                    began = time.monotonic()
                    waiting = [
                        threads.submit(agent.execute, payload=WAIT_SECONDS, timeout=LIMIT_SECONDS, check=True)
                        for _ in range(AT_ONCE)
                    ]
                    time.sleep(WAIT_SECONDS * 0.8)
                    memory, runners = memory_of_executors(context)
                    if any(job.result().return_value != WAIT_SECONDS for job in waiting):
                        raise WrongResultError("an execution returned something else")
                    took = time.monotonic() - began
                name = f"{AT_ONCE} that wait {WAIT_SECONDS:g} s, {requests} in a process, {which}"
                rows.append(Row(name, "s", took, floor=WAIT_SECONDS, floor_name="the wait"))
            rows.append(Row(f"{requests} in a process: memory", "B", memory, note=f"{runners} executors"))
    return rows


def memory_of_executors(context: Context) -> "tuple[int, int]":
    """Of all processes of executors, and how many executors there are."""
    found = processes.using(context.server.data / "executors")
    runners = {seen.command for seen in found if " sidecar " in seen.command}
    return sum(processes.memory_bytes(seen.pid)[0] for seen in found), len(runners)
