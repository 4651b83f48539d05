"""Pods and Jobs without Roost that do the same work: the floor, and what else one would do."""

import json
import threading
import time
import uuid
from typing import Any, NamedTuple, Optional

from roost_bench.api import WrongResultError, check_sum
from roost_bench.kubernetes import Api, Object, Observed

LOOK_SECONDS = 0.025
START_SECONDS = 300
# Its own time is the first that Python does: nothing else is imported, nobody waits for the log.
FIRST_LINE = 'import time; print(time.time(), flush=True); print("done")'
ADD_ONE = 'import json, os; print(json.dumps({"n": json.loads(os.environ["PAYLOAD"])["n"] + 1}))'
ONE = ["agent"]
TWO = ["agent", "sidecar"]


def container(name: str, image: str, program: str, variables: "dict[str, str]", mounts: "list[Object]") -> Object:
    """A container that passes Pod Security's level "restricted", as those of executors do."""
    return {
        "name": name,
        "image": image,
        "command": ["python3", "-I", "-B", "-c", program],
        "env": [{"name": key, "value": value} for key, value in variables.items()],
        "volumeMounts": mounts,
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"cpu": "1", "memory": "304Mi"}},
        "securityContext": {
            "runAsUser": 10001,
            "runAsGroup": 10001,
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }


def pod_spec(containers: "list[Object]", volumes: "list[Object]") -> Object:
    """As in executors' pods."""
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": 1,
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": containers,
        "volumes": volumes,
    }


class Shape(NamedTuple):
    """What a pod consists of besides its Python."""

    containers: "list[str]"
    volumes: "list[Object]"


BARE = Shape(ONE, [])
SECRET = "roost-bench"
# From a bare pod to an executor's, one step after another.
SHAPES = {
    "one container": BARE,
    "two containers": Shape(TWO, []),
    "two, an emptyDir": Shape(TWO, [{"name": "work", "emptyDir": {}}]),
    "two, an emptyDir, a Secret": Shape(
        TWO, [{"name": "work", "emptyDir": {}}, {"name": "token", "secret": {"secretName": SECRET}}]
    ),
    "two, two emptyDirs, one in memory, a Secret": Shape(
        TWO,
        [
            {"name": "work", "emptyDir": {}},
            {"name": "sidecar", "emptyDir": {}},
            {"name": "link", "emptyDir": {"medium": "Memory"}},
            {"name": "token", "secret": {"secretName": SECRET}},
        ],
    ),
}


class Ran(NamedTuple):
    """A pod that has run, seconds from the request that created it on.

    `entered`: until the first line of Python, by the node's clock. `seen`: until that was read from the log.
    """

    entered: float
    seen: float


class Cluster:
    """Runs pods and Jobs in the benchmark's namespace, with the agents' base image."""

    def __init__(self, api: Api, namespace: str, image: str, observed: Observed) -> None:
        self.api = api
        self.namespace = namespace
        self.image = image
        self.observed = observed

    def metadata(self) -> Object:
        """Of an object that Roost must not take for its own."""
        return {"name": f"bench-{uuid.uuid4().hex[:12]}", "namespace": self.namespace, "labels": {"bench": "floor"}}

    def pod(self, shape: Shape = BARE) -> Ran:
        """A pod from its creation until its last container's first line was read from the log; then removes it."""
        mounts = [{"name": one["name"], "mountPath": f"/mnt/{one['name']}"} for one in shape.volumes]
        containers = [container(name, self.image, FIRST_LINE, {}, mounts) for name in shape.containers]
        body = {"apiVersion": "v1", "kind": "Pod", "metadata": self.metadata()}
        name = body["metadata"]["name"]  # type: ignore[index]
        began = time.time()
        self.api.create({**body, "spec": pod_spec(containers, shape.volumes)})
        try:
            text, end = None, began + START_SECONDS
            while not text:
                text = self.api.log(self.namespace, name, shape.containers[-1])
                if not text:
                    if time.time() > end:
                        raise SystemExit(f"pod {name} printed nothing within {START_SECONDS} s")
                    time.sleep(LOOK_SECONDS)
            seen = time.time() - began
            return Ran(float(text.split()[0]) - began, seen)
        finally:
            self.api.delete("Pod", self.namespace, name)

    def watched_pod(self) -> Ran:
        """A bare pod; `seen` is when the watch shows its end, which costs fewer requests than looking for its log."""
        metadata = self.metadata()
        name = metadata["name"]
        spec = pod_spec([container("agent", self.image, FIRST_LINE, {}, [])], [])
        began = time.time()
        self.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
        try:
            seen = self.observed.until(
                "Pod", name, lambda pod: pod["status"].get("phase") == "Succeeded", START_SECONDS
            )
            text = self.api.log(self.namespace, name, "agent") or ""
            return Ran(float(text.split()[0]) - began, seen - began)
        finally:
            self.api.delete("Pod", self.namespace, name)

    def job(self, number: int) -> "tuple[float, float]":
        """The sample script as a Job: seconds until its end is visible, and until its result is read from the log."""
        variables = {"PAYLOAD": json.dumps({"n": number})}
        pod = pod_spec([container("agent", self.image, ADD_ONE, variables, [])], [])
        metadata = self.metadata()
        spec = {"backoffLimit": 0, "template": {"metadata": {"labels": metadata["labels"]}, "spec": pod}}
        began = time.time()
        self.api.create({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec})
        name = metadata["name"]
        try:
            ended = self.observed.until("Job", name, has_ended, START_SECONDS)
            text = self.api.log(self.namespace, self.pod_of(name), "agent")
            if not text:
                raise WrongResultError(f"Job {name} printed nothing")
            check_sum(number, json.loads(text))
            return ended - began, time.time() - began
        finally:
            self.api.delete("Job", self.namespace, name)

    def pod_of(self, job: str) -> str:
        """The name of a Job's pod, which the watch has shown."""
        with self.observed.changed:
            for (kind, name), one in self.observed.objects.items():
                if kind == "Pod" and one["metadata"]["labels"].get("batch.kubernetes.io/job-name") == job:
                    return name
        raise WrongResultError(f"Job {job} has no pod")

    def await_no_pods(self, selector: str, namespace: "Optional[str]" = None) -> None:
        """Returns when no pods with such labels are there any more, so that they disturb nothing that follows."""
        end = time.monotonic() + START_SECONDS
        while left := self.api.list("Pod", namespace or self.namespace, selector):
            if time.monotonic() > end:
                raise SystemExit(f"{len(left)} pods were still there after {START_SECONDS} s")
            time.sleep(4 * LOOK_SECONDS)

    def make_secret(self) -> None:
        """The Secret of the shapes that mount one."""
        metadata = {**self.metadata(), "name": SECRET}
        self.api.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"token": "x"}})


def has_ended(job: Object) -> bool:
    """Whether a Job is complete; raises WrongResultError when it has failed."""
    for condition in job.get("status", {}).get("conditions", []):
        if condition["status"] == "True" and condition["type"] == "Failed":
            raise WrongResultError(f"Job {job['metadata']['name']} failed: {condition.get('message')}")
        if condition["status"] == "True" and condition["type"] == "Complete":
            return True
    return False


def at_once(calls: "list[Any]") -> "list[Any]":
    """Calls all of them at the same time, each in a thread; their answers in the same order."""
    start = threading.Barrier(len(calls))
    answers: list[Any] = [None] * len(calls)
    failures: list[BaseException] = []

    def work(place: int) -> None:
        try:
            start.wait()
            answers[place] = calls[place]()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=[place], daemon=True) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return answers
