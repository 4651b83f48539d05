"""Roost's REST API, as far as the dashboard's tests prepare and look at things by it."""

import hashlib
import time
from typing import Any, Callable, TypeVar
from urllib.parse import urlsplit

import httpx

TIMEOUT_SECONDS = 180
Found = TypeVar("Found")


def until(what: str, find: "Callable[[], Found]", seconds: float = TIMEOUT_SECONDS) -> Found:
    """What `find` answers as soon as that is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = find()
        if found:
            return found
        time.sleep(0.1)
    raise AssertionError(f"{what}: not within {seconds} s")


class Roost:
    """One Roost, called with one key."""

    def __init__(self, url: str, key: str) -> None:
        self.url = url
        self.key = key
        self._http = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=60)

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """What the API answers, as JSON; anything but success is an error that has the answer's text."""
        answer = self._http.request(method, "/v1" + path, json=body, headers=headers)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json() if answer.content else None

    def get(self, path: str) -> Any:
        return self.call("GET", path)

    def post(self, path: str, body: Any = None) -> Any:
        return self.call("POST", path, {} if body is None else body)

    def delete(self, path: str) -> None:
        self.call("DELETE", path)

    def link(self) -> str:
        """The address that signs a browser in, once."""
        return self.url + self.post("/login-links")["url"]

    def session(self) -> Any:
        """A new session, as the storage state of a browser context."""
        answer = httpx.post(self.url + "/v1/session", json={"key": self.key})
        assert answer.is_success, answer.text
        ((name, value),) = answer.cookies.items()
        cookie = {"name": name, "value": value, "domain": urlsplit(self.url).hostname, "path": "/", "httpOnly": True}
        token = {"name": "roost-page-token", "value": answer.json()["page_token"]}
        return {
            "cookies": [{**cookie, "expires": -1, "secure": False, "sameSite": "Strict"}],
            "origins": [{"origin": self.url, "localStorage": [token]}],
        }

    def agent(self, name: str, script: str, **settings: Any) -> Any:
        return self.post("/agents", {"name": name, "script": script, **settings})

    def bundle(self, files: "dict[str, bytes]", base: "str | None" = None) -> Any:
        """A bundle with these files besides those of its base."""
        pack = b"".join(files.values())
        file = self.post("/files", {"name": "pack"})
        answer = self._http.put(f"/v1/files/{file['id']}/parts/0", content=pack)
        assert answer.is_success, answer.text
        self.post(f"/files/{file['id']}/complete", {"size_bytes": len(pack)})
        entries = [
            {"path": path, "size_bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            for path, content in files.items()
        ]
        return self.post("/bundles", {"base": base, "pack": file["id"], "files": entries})

    def built(self, agent: Any) -> Any:
        """The agent's newest BuilderJob when that has ended, whichever way."""

        def ended() -> Any:
            job = self.get(f"/builder-jobs/{self.get('/agents/' + agent['id'])['latest_builder_job_id']}")
            return job if job["finished_at"] else None

        return until(f"the build of {agent['name']}", ended)

    def issue_of(self, execution: Any) -> Any:
        """The issue of a failed execution, as soon as it is grouped."""
        path = f"/issues?execution_id={execution['id']}"
        found = until(f"the issue of {execution['id']}", lambda: self.get(path)["data"])
        return self.get(f"/issues/{found[0]['id']}")

    def rolled_out(self, rollout: Any) -> Any:
        """The rollout when it is completed."""

        def completed() -> Any:
            found = self.get(f"/rollouts/{rollout['id']}")
            return found if found["state"] == "completed" else None

        return until(f"the end of {rollout['id']}", completed)

    def submit(self, agent: Any, payload: Any = None) -> Any:
        """An ExecutorJob that nobody waits for."""
        return self.post(f"/agents/{agent['id']}/execute", {"payload": payload})

    def run(self, agent: Any, payload: Any = None) -> Any:
        """The Execution of a new ExecutorJob when both have ended."""
        return self.ended(self.submit(agent, payload))

    def ended(self, job: Any) -> Any:
        """The last Execution of an ExecutorJob when both have ended."""
        return until("the end of " + job["id"], lambda: self._ended(job["id"]))["execution"]

    def started(self, job: Any) -> Any:
        """The Execution of an ExecutorJob as soon as there is one."""
        return until("the start of " + job["id"], lambda: self.get("/executor-jobs/" + job["id"])["execution"])

    def asked(self, job: Any) -> Any:
        """The pending approval that a job waits for."""
        path = f"/approvals?executor_job_id={job['id']}&state=pending"
        return until("the question of " + job["id"], lambda: self.get(path)["data"])[0]

    def _ended(self, job_id: str) -> Any:
        job = self.get("/executor-jobs/" + job_id)
        return job if job["finished_at"] else None
