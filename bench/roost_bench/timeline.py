"""When what happened to an executor, from the order to the return value."""

import datetime
import time
from typing import Any, Optional

from roost_bench.kubernetes import Object

LATE_SECONDS = 5
DIGITS = "0123456789abcdefghjkmnpqrstvwxyz"
STARTED_FOR = "roost/started-for"
JOB_NAME = "batch.kubernetes.io/job-name"

# In this order; each step goes from the moment before.
STEPS = {
    "ordering": "sent by the client → the order has its time",
    "deciding": "→ the executor has its identifier: the order is stored, the reconciler has come to it",
    "Job": "→ the Job is there",
    "pod": "→ the Job controller has made the pod",
    "scheduling": "→ the pod has a node",
    "volumes and sandbox": "→ the first container has its image: before, volumes are mounted, the pod gets a network",
    "first container": "→ the first container of the pod has started",
    "second container": "→ the second one has started",
    "first poll": "→ the sidecar's first poll gets the work: Python, sidecar, runner, HTTP, claim",
    "main": "→ main is called: work to the runner, script compiled, fork",
    "running": "→ main has returned, its end is written down by the runner",
    "answering": "→ the client has the return value: to the sidecar, to the control plane, stored, answered",
}

WARM_STEPS = {
    "ordering": STEPS["ordering"],
    "queued": "→ an executor gets it: the order is stored, then claimed",
    "starting": "→ main is called: to the sidecar, to the runner, fork, import",
    "running": STEPS["running"],
    "answering": STEPS["answering"],
}


class Timeline:
    """Notes what the watches show of executors. Times are those of the arrival here."""

    def __init__(self) -> None:
        self.jobs: dict[str, tuple[str, float]] = {}
        self.pods: dict[str, str] = {}
        self.moments: dict[tuple[str, str], float] = {}

    def note(self, kind: str, one: Object, now: float) -> None:
        """Takes a change of a Job, a pod or an event."""
        metadata = one["metadata"]
        if kind == "Job":
            started_for = metadata.get("annotations", {}).get(STARTED_FOR)
            if started_for:
                self.jobs.setdefault(started_for, (metadata["name"], now))
        elif kind == "Pod":
            job = metadata.get("labels", {}).get(JOB_NAME)
            if job:
                self.pods.setdefault(job, metadata["name"])
                self._first(metadata["name"], "pod", now)
                if one["spec"].get("nodeName"):
                    self._first(metadata["name"], "scheduling", now)
        elif one["involvedObject"]["kind"] == "Pod":
            pod = one["involvedObject"]["name"]
            if one.get("reason") == "Pulled":
                self._first(pod, "volumes and sandbox", now)
            elif one.get("reason") == "Started":
                started = "second container" if (pod, "first container") in self.moments else "first container"
                self._first(pod, started, now)

    def _first(self, pod: str, what: str, now: float) -> None:
        self.moments.setdefault((pod, what), now)

    def steps(self, job: Any, sent: float, received: float) -> "Optional[dict[str, float]]":
        """Seconds of each step of a cold execution; None when its objects were not seen in time."""
        end = time.monotonic() + LATE_SECONDS
        while time.monotonic() < end:
            name, made = self.jobs.get(job["id"], ("", 0.0))
            pod = self.pods.get(name, "")
            if (pod, "second container") in self.moments:
                break
            time.sleep(0.01)
        else:
            return None
        execution = job["execution"]
        moments = {step: self.moments.get((pod, step)) for step in STEPS}
        moments["ordering"] = seconds_of(job["created_at"])
        moments["deciding"] = made_at(name.partition("-")[2])
        moments["Job"] = made
        moments["first poll"] = seconds_of(execution["started_at"])
        moments["main"] = moments["first poll"] + execution["timings"]["starting"]
        moments["running"] = seconds_of(execution["finished_at"])
        moments["answering"] = received
        steps, before = {}, sent
        for step, moment in moments.items():
            if moment is None:
                return None
            # What is seen by a watch can be seen a little later than what follows from it.
            steps[step] = moment - before
            before = moment
        return steps


def warm_steps(job: Any, sent: float, received: float) -> "dict[str, float]":
    """Seconds of each step of an execution whose executor was there."""
    execution = job["execution"]
    return {
        "ordering": seconds_of(job["created_at"]) - sent,
        **{step: execution["timings"][step] for step in ("queued", "starting", "running")},
        "answering": received - seconds_of(execution["finished_at"]),
    }


def made_at(identifier: str) -> float:
    """The Unix time in an identifier's 26 digits, a UUIDv7."""
    number = 0
    for digit in identifier:
        number = number * 32 + DIGITS.index(digit)
    return (number >> 80) / 1000


def seconds_of(text: str) -> float:
    """The seconds of an RFC 3339 time, which may have nine digits after the point."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    moment = datetime.datetime.fromisoformat(whole).replace(tzinfo=datetime.timezone.utc)
    return moment.timestamp() + float(f"0.{fraction or 0}")
