"""How fast a script can print."""

import time

import roost

from roost_bench import floors
from roost_bench.api import WrongResultError
from roost_bench.context import Context
from roost_bench.latency import HOUR
from roost_bench.report import Row, percentile

PRINT = """\
def main(request):
    for number in range(request.payload["lines"]):
        print("line", number)
    return request.payload["lines"]
"""


def measure(context: Context) -> "list[Row]":
    """From the order until every line is stored; then all of them read back."""
    lines = context.sizes.lines
    wrote, read = [], []
    with context.agent(PRINT, keep_warm=HOUR) as agent:
        context.http.execute(agent.id, {"lines": 100})
        for _ in range(context.sizes.logs):
            began = time.perf_counter()
            job = context.http.execute(agent.id, {"lines": lines})
            wrote.append(time.perf_counter() - began)
            began = time.perf_counter()
            check(context, job["execution"], lines)
            read.append(time.perf_counter() - began)
        alone = [piped(context, agent, lines) for _ in range(context.sizes.logs)]
    rounds = len(wrote)
    floor = lines / percentile(alone, 50)
    return [
        Row(
            f"printed and stored, {lines:,} lines",
            "lines/s",
            lines / percentile(wrote, 50),
            rounds=rounds,
            floor=floor,
            floor_name="the same through a pipe",
        ),
        Row("read back as text", "lines/s", lines / percentile(read, 50), rounds=rounds),
    ]


def check(context: Context, execution: "dict[str, object]", lines: int) -> None:
    """Raises WrongResultError unless every line is there, in order."""
    if execution["log_entries"] != lines or execution["logs_truncated"]:
        raise WrongResultError(f"printed {lines} lines, the log has {execution['log_entries']}")
    text = context.http.request("GET", f"/executions/{execution['id']}/logs", accept="text/plain")
    if text.decode("ascii").splitlines() != [f"line {number}" for number in range(lines)]:
        raise WrongResultError(f"the log of {execution['id']} is not what was printed")


def piped(context: Context, agent: roost.Agent, lines: int) -> float:
    """Seconds for the same lines from one process to another."""
    return float(floors.run(context.interpreter(agent), "pipe", lines)["seconds"])
