"""The Kubernetes API over HTTP: requests, watches, and what they have shown when."""

import base64
import contextlib
import http.client
import json
import ssl
import subprocess
import threading
import time
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable, Optional

REQUEST_SECONDS = 60
WATCH_SECONDS = 3600
Object = dict[str, Any]

COLLECTIONS = {
    "Pod": "/api/v1/namespaces/{}/pods",
    "Event": "/api/v1/namespaces/{}/events",
    "Secret": "/api/v1/namespaces/{}/secrets",
    "ServiceAccount": "/api/v1/namespaces/{}/serviceaccounts",
    "Job": "/apis/batch/v1/namespaces/{}/jobs",
    "Role": "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/roles",
    "RoleBinding": "/apis/rbac.authorization.k8s.io/v1/namespaces/{}/rolebindings",
    "Namespace": "/api/v1/namespaces",
    "FlowSchema": "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
}


class ApiError(Exception):
    """The API server refused a request."""

    def __init__(self, method: str, path: str, status: int, content: bytes) -> None:
        super().__init__(f"{method} {path}: {status} {content[:500]!r}")
        self.status = status


class Api:
    """The API server that kubectl talks to, as the same user. A connection for each thread, which is kept."""

    def __init__(self, directory: Path) -> None:
        """`directory` holds the user's certificate as long as this runs; nobody else may read it."""
        command = ["kubectl", "config", "view", "--raw", "--flatten", "--minify", "--output", "json"]
        config = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
        self.cluster = config["clusters"][0]["cluster"]
        user = config["users"][0]["user"]
        if not {"client-certificate-data", "token"} & user.keys():
            raise SystemExit("the kubeconfig must hold a client certificate or a token")
        self.address = urllib.parse.urlsplit(self.cluster["server"])
        self.headers = {"Content-Type": "application/json"}
        if "token" in user:
            self.headers["Authorization"] = f"Bearer {user['token']}"
        self.tls = ssl.create_default_context()
        if "certificate-authority-data" in self.cluster:
            authority = base64.b64decode(self.cluster["certificate-authority-data"]).decode()
            self.tls = ssl.create_default_context(cadata=authority)
        if self.cluster.get("insecure-skip-tls-verify"):
            self.tls.check_hostname = False
            self.tls.verify_mode = ssl.CERT_NONE
        if "client-certificate-data" in user:
            pair = directory / "client.pem"
            pair.touch(mode=0o600)
            parts = (user["client-certificate-data"], user["client-key-data"])
            pair.write_bytes(b"\n".join(base64.b64decode(part) for part in parts))
            self.tls.load_cert_chain(pair)
        self.own = threading.local()

    def connect(self, timeout: float) -> http.client.HTTPConnection:
        """A fresh connection."""
        host, port = self.address.hostname or "", self.address.port
        if self.address.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=timeout, context=self.tls)
        return http.client.HTTPConnection(host, port, timeout=timeout)

    def request(self, method: str, path: str, body: "Optional[Object]" = None) -> bytes:
        """The answer's body; raises ApiError when its status isn't 2xx."""
        for attempt in (1, 2):
            connection = getattr(self.own, "connection", None) or self.connect(REQUEST_SECONDS)
            self.own.connection = connection
            try:
                content = json.dumps(body).encode() if body is not None else None
                connection.request(method, path, content, self.headers)
                answer = connection.getresponse()
                text: bytes = answer.read()
                break
            except (http.client.HTTPException, OSError):
                # The server may have closed a connection that was kept; a fresh one tells more.
                connection.close()
                self.own.connection = None
                if attempt == 2 or method == "POST":
                    raise
        if answer.status // 100 != 2:
            raise ApiError(method, path, answer.status, text)
        return text

    def get(self, path: str) -> Any:
        """The resource there."""
        return json.loads(self.request("GET", path))

    def create(self, body: Object) -> Object:
        """Makes an object, in its namespace if it has one."""
        place = COLLECTIONS[body["kind"]].format(body["metadata"].get("namespace"))
        made: Object = json.loads(self.request("POST", place, body))
        return made

    def delete(self, kind: str, namespace: str, name: str) -> None:
        """Removes an object at once and what belongs to it soon; nothing when it isn't there."""
        options = {"propagationPolicy": "Background"}
        if kind == "Pod":
            options["gracePeriodSeconds"] = 0  # type: ignore[assignment]
        with contextlib.suppress(ApiError):
            self.request("DELETE", f"{COLLECTIONS[kind].format(namespace)}/{name}", options)

    def list(self, kind: str, namespace: str, selector: str = "") -> "list[Object]":
        """The objects of a namespace whose labels fit."""
        query = "?labelSelector=" + urllib.parse.quote(selector) if selector else ""
        items: list[Object] = self.get(COLLECTIONS[kind].format(namespace) + query)["items"]
        return items

    def log(self, namespace: str, pod: str, container: str) -> Optional[str]:
        """What a container has printed; None when it has not started."""
        try:
            path = f"{COLLECTIONS['Pod'].format(namespace)}/{pod}/log?container={container}"
            return self.request("GET", path).decode()
        except ApiError as error:
            if error.status in (400, 404):
                return None
            raise

    def metrics(self) -> "Iterator[tuple[str, dict[str, str], float]]":
        """The API server's counters: name, labels, value."""
        for line in self.request("GET", "/metrics").decode().splitlines():
            if line.startswith("apiserver_"):
                name, brace, rest = line.partition("{")
                labels, _, value = rest.rpartition("} ")
                if brace:
                    pairs = (pair.partition("=") for pair in labels.split('",'))
                    yield name, {key: text.strip('"') for key, _, text in pairs}, float(value)


class Observed:
    """Follows the Jobs, pods and events of a namespace, and notes when each change has arrived here.

    The API's own times have whole seconds.
    """

    def __init__(self, api: Api, namespace: str, note: "Callable[[str, Object, float], None]") -> None:
        """`note` gets each object with its kind and the time of its arrival."""
        self.api = api
        self.namespace = namespace
        self.note = note
        self.changed = threading.Condition()
        self.objects: dict[tuple[str, str], Object] = {}
        self.arrived: dict[tuple[str, str], float] = {}
        self.ended = False
        self.connections: list[http.client.HTTPConnection] = []
        self.failure: Optional[BaseException] = None
        following = [threading.Event() for _ in range(3)]
        for kind, ready in zip(("Job", "Pod", "Event"), following):
            threading.Thread(target=self._follow, args=[kind, ready], daemon=True).start()
        for ready in following:
            if not ready.wait(REQUEST_SECONDS):
                raise SystemExit(f"the API server answered no watch within {REQUEST_SECONDS} s")

    def _follow(self, kind: str, ready: threading.Event) -> None:
        version = ""
        while not self.ended:
            connection = self.api.connect(WATCH_SECONDS)
            self.connections.append(connection)
            query = f"?watch=1&timeoutSeconds={WATCH_SECONDS}" + (f"&resourceVersion={version}" if version else "")
            try:
                connection.request("GET", COLLECTIONS[kind].format(self.namespace) + query, headers=self.api.headers)
                answer = connection.getresponse()
                ready.set()
                while line := answer.readline():
                    version = self._take(kind, json.loads(line), time.time())
            except (http.client.HTTPException, OSError, ValueError, AttributeError):
                time.sleep(0 if self.ended else 0.2)  # Closed by us, or by the server: then follow on.
            finally:
                connection.close()

    def _take(self, kind: str, change: Object, now: float) -> str:
        """Notes a change; answers from where to follow on ("": from what is there then)."""
        if change["type"] == "ERROR":
            return ""
        one = change["object"]
        key = (kind, one["metadata"]["name"])
        with self.changed:
            if change["type"] == "DELETED":
                self.objects.pop(key, None)
            else:
                self.objects[key] = one
            self.arrived[key] = now
            self.note(kind, one, now)
            self.changed.notify_all()
        version: str = one["metadata"]["resourceVersion"]
        return version

    def until(self, kind: str, name: str, fits: "Callable[[Object], bool]", seconds: float) -> float:
        """The time at which the change arrived that makes the object fit."""
        end = time.monotonic() + seconds
        with self.changed:
            while not ((kind, name) in self.objects and fits(self.objects[kind, name])):
                left = end - time.monotonic()
                if left <= 0:
                    raise SystemExit(f"{kind} {name} was not as expected within {seconds} s")
                self.changed.wait(left)
            return self.arrived[kind, name]

    def close(self) -> None:
        """Ends the watches."""
        self.ended = True
        for connection in self.connections:
            if connection.sock is not None:
                with contextlib.suppress(OSError):
                    connection.sock.close()
