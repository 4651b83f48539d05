"""Cold starts that find an executor in a pool, beside those that don't, and warm executions."""

from roost_bench.api import POOL, WrongResultError, await_pool
from roost_bench.context import Context
from roost_bench.latency import HOUR, WARM_UP, through_http
from roost_bench.report import Row, latency


def measure(context: Context) -> "list[Row]":
    """One round after another, on a server without pools and on one with pools."""
    alone, pooled, warm = [], [], []
    with Context.started(quick=context.quick, more={"ROOST_EXECUTORS_POOL": str(POOL)}) as filled:
        with (
            context.agent(keep_warm=0) as own,
            filled.agent(pools=True, keep_warm=0) as cold,
            filled.agent(pools=True, keep_warm=HOUR) as kept,
        ):
            for number in range(WARM_UP):
                through_http(filled, kept, number)
            for number in range(-1, context.sizes.cold):  # The first round isn't counted: its executors fill the pool.
                context.await_no_executor()
                without, _ = through_http(context, own, number)
                if number >= 0:
                    await_pool(filled.http, cold.id)
                seconds, was_cold = through_http(filled, cold, number)
                if not was_cold:
                    raise WrongResultError("an execution with an executor of a pool was warm")
                again, _ = through_http(filled, kept, number)
                if number >= 0:
                    alone.append(without)
                    pooled.append(seconds)
                    warm.append(again)
    floor = latency("alone: a warm execution", warm)
    return [
        latency("with an executor of a pool", pooled, floor=floor.value, floor_name="a warm execution"),
        latency("without a pool", alone, floor=floor.value, floor_name="a warm execution"),
        floor,
    ]
