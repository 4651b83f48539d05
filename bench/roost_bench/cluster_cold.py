"""Executions for which an executor must be started, beside pods and Jobs that do the same."""

import contextlib
from dataclasses import replace
from typing import Optional

from roost_bench.api import POOL, WrongResultError, await_pool
from roost_bench.cluster_context import ClusterContext
from roost_bench.pods import BARE, SHAPES, Ran
from roost_bench.report import Row, latency, percentile, shown
from roost_bench.timeline import STEPS

GOAL_SECONDS = 0.9

# Java compiles code that has run some hundred times; until then, a control plane takes many times as long.
WARM_UP = 300
POD = "bare pod: create → first line"
LOG = "bare pod: create → line read"


def cold(context: ClusterContext) -> "dict[str, list[Row]]":
    """One round after another: an execution without and with requirements, a bare pod, a Job."""
    kinds = {"no requirements": "", "one requirement": context.options.requirement}
    entered: dict[str, list[float]] = {kind: [] for kind in kinds}
    returned: dict[str, list[float]] = {kind: [] for kind in kinds}
    steps: dict[str, list[dict[str, float]]] = {kind: [] for kind in kinds}
    pods: list[Ran] = []
    jobs: list[tuple[float, float]] = []
    with contextlib.ExitStack() as stack:
        agents = {
            kind: stack.enter_context(context.agent(requirements=requirements, keep_warm=0))
            for kind, requirements in kinds.items()
        }
        for number in range(
            -1, context.options.cold
        ):  # The first round isn't counted: images are pulled, classes loaded.
            for kind, agent in agents.items():
                was_entered, was_returned, parts = execution(context, agent, number)
                if number >= 0:
                    entered[kind].append(was_entered)
                    returned[kind].append(was_returned)
                    if parts:
                        steps[kind].append(parts)
            pod = context.cluster.pod(BARE)
            context.cluster.await_no_pods("bench=floor")
            if number >= 0:
                pods.append(pod)
            if 0 <= number < context.options.jobs:
                jobs.append(context.cluster.job(number))
                context.cluster.await_no_pods("bench=floor")
    floor = latency(f"alone: {POD}", [pod.entered for pod in pods])
    log = latency(f"alone: {LOG}", [pod.seen for pod in pods])
    rows = []
    for kind in kinds:
        rows.append(latency(f"{kind}: → main", entered[kind], floor=floor.value, floor_name=POD))
        rows.append(
            latency(f"{kind}: → value", returned[kind], floor=log.value, floor_name=LOG, note=goal(returned[kind]))
        )
    rows.append(latency("plain Job: → condition Complete", [one for one, _ in jobs], floor=floor.value, floor_name=POD))
    rows.append(latency("plain Job: → result from its log", [one for _, one in jobs], floor=log.value, floor_name=LOG))
    sections = {"cold": [*rows, floor, log]}
    for kind, seen in steps.items():
        if seen:
            sections[f"cold, where the time goes: {kind}"] = breakdown(seen, with_meanings=len(sections) == 1)
    return sections


def execution(context: ClusterContext, agent: str, number: int) -> "tuple[float, float, Optional[dict[str, float]]]":
    """Seconds until main was called and until the value was there, and the steps where they can be seen."""
    context.await_no_executor()
    job, sent, received = context.execute(agent, number)
    if not job["execution"]["cold_start"]:
        raise WrongResultError("an execution with no executor there was warm")
    timings = job["execution"]["timings"]
    parts = context.timeline.steps(job, sent, received) if context.timeline else None
    return timings["queued"] + timings["starting"], received - sent, parts


def pools(context: ClusterContext) -> "dict[str, list[Row]]":
    """Cold starts that find an executor in a pool, and warm executions; beside a bare pod.

    A control plane of its own has the pool. One that runs already is measured as it is.
    """
    options = replace(context.options, pool=POOL, namespace=None)
    with contextlib.ExitStack() as stack:
        filled = context if options.url else stack.enter_context(ClusterContext.started(options))
        cold_agent = stack.enter_context(filled.agent(pools=True, keep_warm=0))
        kept = stack.enter_context(filled.agent(pools=True, keep_warm=3600))
        cold_starts, warm, pods = [], [], []
        for number in range(WARM_UP):
            filled.execute(kept, number)
        for number in range(-1, options.cold):  # The first round isn't counted: its executors fill the pool.
            if number >= 0:
                await_pool(filled.http, cold_agent)
            job, sent, received = filled.execute(cold_agent, number)
            if not job["execution"]["cold_start"]:
                raise WrongResultError("an execution with an executor of a pool was warm")
            _, sent_again, received_again = filled.execute(kept, number)
            pod = context.cluster.pod(BARE)
            context.cluster.await_no_pods("bench=floor")
            if number >= 0:
                cold_starts.append(received - sent)
                warm.append(received_again - sent_again)
                pods.append(pod.seen)
    floor = latency("alone: a warm execution", warm)
    bare = latency(f"alone: {LOG}", pods)
    return {
        "pools": [
            latency(
                "with an executor of a pool: → value", cold_starts, floor=floor.value, floor_name="a warm execution"
            ),
            latency("  beside a bare pod", cold_starts, floor=bare.value, floor_name=LOG),
            floor,
            bare,
        ]
    }


def goal(seconds: "list[float]") -> str:
    """Whether the median is below what Roost aims at."""
    met = "met" if percentile(seconds, 50) < GOAL_SECONDS else "missed"
    return f"the goal for p50 is less than {shown(GOAL_SECONDS, 's')}: {met}"


def breakdown(steps: "list[dict[str, float]]", *, with_meanings: bool) -> "list[Row]":
    """The steps of executions, each as percentiles of its own."""
    return [
        latency(step, [one[step] for one in steps], note=meaning if with_meanings else None)
        for step, meaning in STEPS.items()
    ]


def shapes(context: ClusterContext) -> "dict[str, list[Row]]":
    """Pods without Roost, from a bare one to the shape of an executor's."""
    measured: dict[str, list[float]] = {name: [] for name in SHAPES}
    for number in range(-1, context.options.shapes):
        for name, shape in SHAPES.items():
            ran = context.cluster.pod(shape)
            context.cluster.await_no_pods("bench=floor")
            if number >= 0:
                measured[name].append(ran.entered)
    floor = percentile(measured["one container"], 50)
    rows = [latency(name, seconds, floor=floor, floor_name="one container") for name, seconds in measured.items()]
    return {"shapes": rows}
