"""What preloaded imports save: warm executions of scripts that import packages, and the memory that they take."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import roost

from roost_bench import processes
from roost_bench.api import WrongResultError, check_sum
from roost_bench.context import ADD_ONE, Context
from roost_bench.latency import HOUR, through_http
from roost_bench.report import Row, latency

# Name, requirement, what the script imports.
PACKAGES = (
    ("requests", "requests==2.32.5", "requests"),
    ("pydantic", "pydantic==2.12.3", "pydantic"),
    ("numpy", "numpy==2.2.6", "numpy"),
    ("pandas", "pandas==2.3.3", "pandas"),
    ("openai", "openai==1.109.1", "openai"),
    ("langchain", "langchain==0.3.27", "langchain.agents"),
)
WARM_UP = 10
MEMORY_MIB = 1024
REPORT_SECONDS = 120
AT_A_TIME = 10
PAUSE_SECONDS = 8
SLEEP = """\
import time

def main(request):
    time.sleep(request.payload["seconds"])
    return 1
"""


def measure(context: Context) -> "list[Row]":
    """Executions one after another, with `preload` off and auto; the floor of the latter is an empty script."""
    rounds = context.sizes.imports
    empty = warm(context, "", [], "auto", rounds)
    rows = [latency("empty", empty)]
    floor = rows[0].value
    for name, requirement, module in PACKAGES:
        for preload in ("off", "auto"):
            seconds = warm(context, f"import {module}\n", [requirement], preload, rounds)
            rows.append(latency(f"{name}, preload {preload}", seconds, floor=floor, floor_name="an empty script"))
    return rows + [memory(context, preload) for preload in ("off", "auto")]


def warm(context: Context, imports: str, requirements: "list[str]", preload: str, rounds: int) -> "list[float]":
    """Seconds of each execution, by an executor that is there and, with `auto`, has its template."""
    with agent_with(context, imports + ADD_ONE, requirements, preload) as agent:
        through_http(context, agent, 0)
        await_template(agent, preload)
        for number in range(WARM_UP):
            through_http(context, agent, number)
        return [through_http(context, agent, number)[0] for number in range(rounds)]


def agent_with(context: Context, script: str, requirements: "list[str]", preload: str, **more: Any) -> Any:
    """An agent that is built."""
    settings = {"requirements": requirements, "memory": MEMORY_MIB, "keep_warm": HOUR, **more}
    return context.agent(script=script, preload=preload, **settings)


def await_template(agent: roost.Agent, preload: str) -> None:
    """Returns when an executor has reported what it has imported in advance, unless that is off."""
    end = time.monotonic() + REPORT_SECONDS
    while preload == "auto" and agent.refresh().preloaded is None:
        if time.monotonic() > end:
            raise WrongResultError("no executor has reported what it has imported in advance")
        time.sleep(0.1)


def memory(context: Context, preload: str) -> Row:
    """What the runners of ten concurrent executions with pandas take, their templates and executions included."""
    _, requirement, module = PACKAGES[3]
    with agent_with(context, f"import {module}\n" + SLEEP, [requirement], preload, max_concurrency=AT_A_TIME) as agent:

        def together(seconds: float, threads: ThreadPoolExecutor) -> "list[Any]":
            return [
                threads.submit(agent.execute, payload={"seconds": seconds}, timeout=120, check=True)
                for _ in range(AT_A_TIME)
            ]

        with ThreadPoolExecutor(AT_A_TIME) as threads:
            for future in together(1, threads):
                check_sum(0, {"n": future.result().return_value})
            await_template(agent, preload)
            time.sleep(PAUSE_SECONDS)  # ten templates are loaded one beside the other
            running = together(PAUSE_SECONDS, threads)
            time.sleep(PAUSE_SECONDS / 2)
            found = [seen for seen in processes.using(context.server.data / "executors") if " runner " in seen.command]
            sizes = [processes.memory_bytes(seen.pid) for seen in found]
            for future in running:
                check_sum(0, {"n": future.result().return_value})
    how = sizes[0][1]
    note = f"{len(found)} processes"
    total = sum(size for size, _ in sizes)
    return Row(f"{AT_A_TIME} with pandas at a time, preload {preload} ({how})", "B", total, note=note)
