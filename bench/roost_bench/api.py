"""A bare HTTP client: one connection that is kept, nothing between it and the API."""

import http.client
import json
import time
import urllib.parse
from typing import Any, Optional

# For measurements of pools: the budget, and how long its executors may take to start.
POOL = 2
# An executor that waits has just been started, and the processes and services that did so end later.
SETTLED_SECONDS = 1
FILLED_SECONDS = 120


class WrongResultError(Exception):
    """The server's answer isn't what it should be."""


class Connection:
    """One connection to the server."""

    def __init__(self, url: str, key: str) -> None:
        parts = urllib.parse.urlsplit(url)
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self.connection = kind(parts.hostname or "", parts.port, timeout=120)
        self.prefix = parts.path.rstrip("/") + "/v1"
        self.headers = {"Authorization": f"Bearer {key}"}

    def request(
        self,
        method: str,
        path: str,
        body: Optional[bytes] = None,
        accept: str = "application/json",
        content: str = "application/json",
    ) -> bytes:
        """The answer's body; raises WrongResultError when its status isn't 2xx."""
        headers = {**self.headers, "Accept": accept, "Content-Type": content}
        self.connection.request(method, self.prefix + path, body, headers)
        answer = self.connection.getresponse()
        received = answer.read()
        if answer.status // 100 != 2:
            raise WrongResultError(f"{method} {path}: {answer.status} {received[:500]!r}")
        return received

    def get(self, path: str) -> Any:
        """The resource there."""
        return json.loads(self.request("GET", path))

    def execute(self, agent_id: str, payload: Any) -> Any:
        """The ExecutorJob, when it has ended with success."""
        body = json.dumps({"payload": payload}).encode()
        job = json.loads(self.request("POST", f"/agents/{agent_id}/execute?wait=60", body))
        while job["finished_at"] is None:
            job = self.get(f"/executor-jobs/{job['id']}?wait=60")
        if job["state"] != "succeeded":
            raise WrongResultError(f"{job['id']} ended as {job['state']}: {job['message']}")
        return job

    def close(self) -> None:
        """Closes the connection."""
        self.connection.close()


def check_sum(sent: int, returned: Any) -> None:
    """Raises WrongResultError unless the sample script has returned what it should for that payload."""
    if returned != {"n": sent + 1}:
        raise WrongResultError(f"sent {{'n': {sent}}}, got {returned!r}")


def await_pool(http: Connection, agent: str) -> None:
    """Returns when the agent has no executor, one waits in a pool, and no other one is being started."""
    end = time.monotonic() + FILLED_SECONDS
    while True:
        own: dict[str, Any] = http.get(f"/statistics?agent_id={agent}")["executors"]
        every: dict[str, Any] = http.get("/statistics")["executors"]
        if own["starting"] + own["idle"] + own["working"] + every["starting"] == 0 and every["pooled"] > 0:
            time.sleep(SETTLED_SECONDS)
            return
        if time.monotonic() > end:
            raise SystemExit(f"no executor waited in a pool after {FILLED_SECONDS} s")
        time.sleep(0.05)
