"""How soon an emitted value is at a client that follows, and how many can be stored."""

import time

from roost_bench import floors
from roost_bench.api import WrongResultError
from roost_bench.context import Context
from roost_bench.latency import HOUR, WARM_UP
from roost_bench.report import Row, latency, percentile

PAUSE = 0.02
# What the script emits is when it did so: both processes read the same clock.
TIMES = f"""\
import time


def main(request):
    for _ in range(request.payload):
        time.sleep({PAUSE})
        yield time.time()
"""
MANY = """\
import time


def main(request):
    text = "x" * 98
    began = time.perf_counter()
    for _ in range(request.payload):
        request.emit(text)
    return time.perf_counter() - began
"""


def measure(context: Context) -> "list[Row]":
    """One after another; then as many as can be stored."""
    return [latency("value: yield to client", arrivals(context)), *throughput(context)]


def arrivals(context: Context) -> "list[float]":
    """Seconds from a yield until the client has the value."""
    with context.agent(TIMES, keep_warm=HOUR) as agent:
        seconds = [time.time() - value for value in agent.stream(WARM_UP + context.sizes.warm)]
    return seconds[WARM_UP:]


def throughput(context: Context) -> "list[Row]":
    """Values of 100 bytes of JSON, from the first emit until the execution has ended; then read back by a client."""
    many = context.sizes.lines
    wrote, read, alone = [], [], []
    with context.agent(MANY, keep_warm=HOUR) as agent:
        context.http.execute(agent.id, 1_000)
        for _ in range(context.sizes.logs):
            job = agent.submit(many)
            began = time.perf_counter()
            job.wait(check=True)
            wrote.append(time.perf_counter() - began)
            began = time.perf_counter()
            if sum(1 for _ in job.stream()) != many:
                raise WrongResultError(f"{many} values were emitted, others are stored")
            read.append(time.perf_counter() - began)
            alone.append(float(floors.run(context.interpreter(agent), "pipe", many)["seconds"]))
    return [
        Row(
            f"emitted and stored, {many:,} values of 100 bytes",
            "values/s",
            many / percentile(wrote, 50),
            rounds=len(wrote),
            floor=many / percentile(alone, 50),
            floor_name="lines through a pipe",
        ),
        Row("read back as events", "values/s", many / percentile(read, 50), rounds=len(read)),
    ]
