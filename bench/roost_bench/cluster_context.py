"""What the measurements on a cluster share: the API, a namespace, Roost, the watches."""

import contextlib
import json
import os
import socket
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

from roost_bench import server
from roost_bench.api import Connection, WrongResultError, check_sum
from roost_bench.calls import RIGHTS, Calls
from roost_bench.interrupts import clean_up_on_signals
from roost_bench.kubernetes import Api, ApiError, Object, Observed
from roost_bench.pods import Cluster
from roost_bench.timeline import Timeline

SCRIPT = """\
def main(request):
    return {"n": request.payload["n"] + 1}
"""
EXECUTORS = "app.kubernetes.io/name=roost,app.kubernetes.io/component=executor"
ACCOUNT = "control-plane"
BUILD_SECONDS = 600
GONE_SECONDS = 120
TOKEN_SECONDS = 6 * 3600
PASSED_ON = "ROOST_KUBERNETES_"


@dataclass(frozen=True)
class Options:
    """What the command line says."""

    quick: bool
    cold: int
    shapes: int
    jobs: int
    warm: int
    seconds: float
    burst: int
    registry: str
    repository: Optional[str]
    base_image: Optional[str]
    builder_image: Optional[str]
    executor_image: Optional[str]
    executor_url: Optional[str]
    requirement: str
    namespace: Optional[str]
    agents_namespace: Optional[str]
    account: Optional[str]
    calls: bool
    url: Optional[str]
    key: Optional[str]
    pool: int = 0


@dataclass
class ClusterContext:
    """A Roost on a cluster, and a namespace for what it is compared with.

    `server` is None when Roost runs elsewhere, `timeline` when the namespace of its executors isn't known, `calls` when
    they aren't counted.
    """

    options: Options
    api: Api
    http: Connection
    url: str
    key: str
    cluster: Cluster
    server: Optional[server.Server]
    agents_namespace: Optional[str]
    timeline: Optional[Timeline]
    calls: Optional[Calls]

    @classmethod
    @contextlib.contextmanager
    def started(cls, options: Options) -> "Iterator[ClusterContext]":
        """Makes all of it, and removes all in the end, also by a signal."""
        clean_up_on_signals()
        with contextlib.ExitStack() as stack:
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="roost-bench-")))
            api = Api(directory)
            namespace = options.namespace or f"roost-bench-{uuid.uuid4().hex[:6]}"
            stack.enter_context(own_namespace(api, namespace))
            if options.url is None:
                agents_namespace: Optional[str] = namespace
                started = stack.enter_context(control_plane(api, namespace, directory, options))
                url, key, account = started.url, started.key, (namespace, ACCOUNT)
            else:
                agents_namespace, started = options.agents_namespace, None
                url, key = options.url, options.key or ""
                parts = (options.account or "").partition("/")
                account = (parts[0], parts[2])
            calls = None
            if options.calls and account[1]:
                calls = stack.enter_context(Calls.counted(api, namespace, account))
            timeline = None
            if agents_namespace:
                timeline = Timeline()
                watched = Observed(api, agents_namespace, timeline.note)
                stack.callback(watched.close)
            if agents_namespace != namespace:
                watched = Observed(api, namespace, lambda kind, one, now: None)
                stack.callback(watched.close)
            http = Connection(url, key)
            stack.callback(http.close)
            cluster = Cluster(api, namespace, "", watched)
            cluster.make_secret()
            context = cls(options, api, http, url, key, cluster, started, agents_namespace, timeline, calls)
            with context.agent() as agent:
                cluster.image = context.image(agent)
            yield context

    def make_agent(self, **settings: Any) -> str:
        """The identifier of a new agent, with the sample script."""
        body = json.dumps({"script": SCRIPT, **settings}).encode()
        agent = json.loads(self.http.request("POST", "/agents", body))
        return str(agent["id"])

    def await_built(self, agent: str) -> str:
        """The identifier of the agent's Build, once that is there."""
        end = time.monotonic() + BUILD_SECONDS
        while time.monotonic() < end:
            job = self.http.get(f"/builder-jobs/{self.http.get(f'/agents/{agent}')['latest_builder_job_id']}")
            if job["finished_at"] is not None:
                if job["state"] != "succeeded":
                    raise WrongResultError(f"{job['id']} ended as {job['state']}: {job['message']}")
                return str(job["build_id"])
            time.sleep(0.1)
        raise SystemExit(f"a build took more than {BUILD_SECONDS} s")

    def image(self, agent: str) -> str:
        """What the agent's container runs."""
        return str(self.http.get(f"/builds/{self.await_built(agent)}")["image"])

    @contextlib.contextmanager
    def agent(self, *, pools: bool = False, **settings: Any) -> "Iterator[str]":
        """A built agent; deleted in the end, and all executors are gone then, unless there are `pools`."""
        agent = self.make_agent(**settings)
        try:
            self.await_built(agent)
            yield agent
        finally:
            self.http.request("DELETE", f"/agents/{agent}")
        if not pools:
            self.await_no_executor()

    def executors(self) -> "list[Object]":
        """Their pods."""
        if self.agents_namespace is None:
            return []
        return self.api.list("Pod", self.agents_namespace, EXECUTORS)

    def await_no_executor(self) -> None:
        """Returns when no executor's pod is there any more."""
        if self.agents_namespace is not None:
            self.cluster.await_no_pods(EXECUTORS, self.agents_namespace)

    def execute(self, agent: str, number: int, http: "Optional[Connection]" = None) -> "tuple[Any, float, float]":
        """An execution through HTTP, checked: the ExecutorJob, when it was sent and when it was back."""
        sent = time.time()
        job = (http or self.http).execute(agent, {"n": number})
        received = time.time()
        check_sum(number, job["execution"]["return_value"])
        return job, sent, received


@contextlib.contextmanager
def own_namespace(api: Api, name: str) -> "Iterator[None]":
    """A namespace with the strictest Pod Security, which must not have been there; removed in the end."""
    labels = {"pod-security.kubernetes.io/enforce": "restricted", "app.kubernetes.io/managed-by": "roost-bench"}
    try:
        api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
    except ApiError as error:
        raise SystemExit(f"namespace {name} can't be made: {error}") from error
    try:
        yield
    finally:
        print(f"… removing namespace {name}", file=sys.stderr, flush=True)
        for kind in ("Job", "Pod"):
            with contextlib.suppress(ApiError, OSError):
                for one in api.list(kind, name):
                    api.delete(kind, name, one["metadata"]["name"])
        api.delete("Namespace", "", name)
        end = time.monotonic() + GONE_SECONDS
        with contextlib.suppress(ApiError):  # not found: it has gone
            while time.monotonic() < end:
                api.get(f"/api/v1/namespaces/{name}")
                time.sleep(0.2)
            print(f"namespace {name} is still being removed", file=sys.stderr)


@contextlib.contextmanager
def control_plane(api: Api, namespace: str, directory: Path, options: Options) -> "Iterator[server.Server]":
    """The packaged control plane, as a service account with no more rights than it needs, beside the cluster."""
    config = directory / "kubeconfig"
    config.touch(mode=0o600)
    config.write_text(json.dumps(kubeconfig(api, namespace)), encoding="utf-8")
    host = reachable_address(api)
    settings = {name: value for name, value in os.environ.items() if name.startswith(PASSED_ON)}
    given = {
        "NAMESPACE": namespace,
        "EXECUTOR_URL": options.executor_url or f"http://{host}:{server.PORT}",
        "REPOSITORY": options.repository or f"{options.registry}/{namespace}/agents",
        "BASE_IMAGE": options.base_image,
        "BUILDER_IMAGE": options.builder_image,
        "EXECUTOR_IMAGE": options.executor_image,
    }
    settings.update({PASSED_ON + name: value for name, value in given.items() if value})
    # So that the burst has capacity: it measures time, not the scheduling of reservations.
    settings.setdefault(PASSED_ON + "CPU_REQUEST_RATIO", "0.01")
    settings.setdefault(PASSED_ON + "MEMORY_REQUEST_RATIO", "0.25")
    settings.setdefault(PASSED_ON + "MAX_EXECUTORS", str(max(100, options.burst) + 20))
    settings |= {"ROOST_RUNTIME": "kubernetes", "KUBECONFIG": str(config), "ROOST_EXECUTORS_POOL": str(options.pool)}
    data = directory / "data"
    data.mkdir(mode=0o700)
    print("… starting the control plane", file=sys.stderr, flush=True)
    with server.running(data, host=host, more=settings) as started:
        yield started


def kubeconfig(api: Api, namespace: str) -> Object:
    """That of a service account that may do what the control plane does, in this namespace."""
    metadata = {"name": ACCOUNT, "namespace": namespace}
    rules = [{"apiGroups": [group], "resources": [resource], "verbs": verbs} for group, resource, verbs in RIGHTS]
    rbac = "rbac.authorization.k8s.io"
    reference = {"apiGroup": rbac, "kind": "Role", "name": ACCOUNT}
    subjects = [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": namespace}]
    api.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata})
    api.create({"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": metadata, "rules": rules})
    binding = {"apiVersion": f"{rbac}/v1", "kind": "RoleBinding", "metadata": metadata, "roleRef": reference}
    api.create({**binding, "subjects": subjects})
    question = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{ACCOUNT}/token"
    answer = api.request("POST", path, {**question, "spec": {"expirationSeconds": TOKEN_SECONDS}})
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "bench",
        "clusters": [{"name": "bench", "cluster": api.cluster}],
        "users": [{"name": "bench", "user": {"token": json.loads(answer)["status"]["token"]}}],
        "contexts": [{"name": "bench", "context": {"cluster": "bench", "user": "bench", "namespace": namespace}}],
    }


def reachable_address(api: Api) -> str:
    """This machine's address on the way to the first node, under which pods reach it, by default."""
    addresses = api.get("/api/v1/nodes?limit=1")["items"][0]["status"]["addresses"]
    internal = next(address["address"] for address in addresses if address["type"] == "InternalIP")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((internal, 9))  # sends nothing
        return str(probe.getsockname()[0])
