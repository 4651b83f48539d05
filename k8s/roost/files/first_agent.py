"""Creates an agent with a requirement, executes it, checks what it returns, deletes it. Standard library only."""

import json
import os
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

URL = os.environ["ROOST_URL"]
KEY = Path("/etc/roost/api-key").read_text(encoding="ascii").strip()
REQUIREMENTS = os.environ["ROOST_REQUIREMENTS"]
PYTHON_VERSION = os.environ.get("ROOST_PYTHON_VERSION")
SCRIPT = """
import importlib.metadata
import platform

def main(request):
    print("Hello from Python", platform.python_version())
    packages = sorted(d.name for d in importlib.metadata.distributions())
    return {"doubled": 2 * request.payload["n"], "packages": packages}
"""
PATIENCE_SECONDS = 480
RETRY_SECONDS = 2


def say(*words):
    """A line of what is there to say."""
    print(*(word for word in words if word is not None), flush=True)


def call(method, path, body=None):
    """The API's answer; what goes away by itself (a replica that ends, a start) is tried again."""
    end = time.monotonic() + 60
    while True:
        request = urllib.request.Request(
            URL + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": "Bearer " + KEY, "Content-Type": "application/json"},
        )
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                text = answer.read()
                return json.loads(text) if text else None
        except urllib.error.HTTPError as e:
            if e.code != 503 or time.monotonic() > end:
                raise SystemExit(f"{method} {path}: status {e.code}: {e.read().decode()}") from e
        except OSError as e:
            if time.monotonic() > end:
                raise SystemExit(f"{method} {URL}{path}: {e}") from e
        time.sleep(RETRY_SECONDS)


def ended(path):
    """What is at that path, when it has ended."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        job = call("GET", path + "?wait=30")
        if job["state"] in ("succeeded", "failed", "cancelled"):
            return job
        say(" ", job["state"], job.get("waiting_on"), job.get("message"))
    raise SystemExit(f"{path} has not ended within {PATIENCE_SECONDS} s")


def main():
    """Says what it does; status 1 when something isn't as it should be."""
    fields = {"name": "helm-test", "script": SCRIPT, "requirements": REQUIREMENTS}
    if PYTHON_VERSION:
        fields["python_version"] = PYTHON_VERSION
    agent = call("POST", "/v1/agents", fields)
    say("Created", agent["id"], "Python", agent["python_version"], "requirements", REQUIREMENTS)
    try:
        build = ended("/v1/builder-jobs/" + agent["latest_builder_job_id"])
        say("Build", build["state"], "(reused)" if build["reused"] else None, build["message"])
        if build["state"] != "succeeded":
            return 1
        order = call("POST", f"/v1/agents/{agent['id']}/execute?wait=30", {"payload": {"n": 21}})
        order = ended("/v1/executor-jobs/" + order["id"])
        execution = order["execution"] or {}
        say("Execution", order["state"], order["message"])
        say("Returned", execution.get("return_value"), "timings", execution.get("timings"))
        return 0 if (execution.get("return_value") or {}).get("doubled") == 42 else 1
    finally:
        call("DELETE", f"/v1/agents/{agent['id']}")
        say("Deleted it again")


if __name__ == "__main__":
    sys.exit(main())
