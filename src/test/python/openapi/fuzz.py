"""Schemathesis against every operation of a Roost: no answer that the OpenAPI document doesn't allow, and no 500.

    python3 src/test/python/tools.py --requirements src/test/python/openapi/requirements.txt \\
        src/test/python/openapi/fuzz.py --jar target/quarkus-app/quarkus-run.jar --seconds 3600

Deletes and changes whatever it finds there, so it wants a Roost of its own: it starts one (--jar), or takes that of
ROOST_TEST_URL and ROOST_TEST_API_KEY. Arguments that it doesn't know go to `schemathesis run`, for example
`--include-path /v1/agents`. The same seed makes the same requests, as long as the answers are the same. Ends with
status 1 when there is something to fix; each failure comes with the `curl` command that repeats it.
"""

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from server import server  # noqa: E402
from tools import ROOT  # noqa: E402

SECONDS = 60
SEED = 1
FULL_SECONDS = 600  # from which on there is time for the boundaries of every parameter, and to judge what is refused
MOST_EXAMPLES = 10
FIRST_JOB_SECONDS = 300
SCRIPT = "def main(request, store):\n    print('hello')\n    return request.payload\n"


def fuzz(url: str, key: str, seconds: int, seed: int, *more: str) -> int:
    """Runs for about that long and answers with the status of Schemathesis: 0 when all is well."""
    print(f"Fuzzing {url} for {seconds} s, seed {seed}", flush=True)
    environment = {
        "SCHEMATHESIS_HOOKS": str(HERE / "fuzz_hooks.py"),
        "ROOST_FUZZ_URL": url,
        "ROOST_FUZZ_KEY": key,
        "ROOST_FUZZ_SEED": str(seed),
        "ROOST_FUZZ_RESOURCES": json.dumps(resources(Requests(url, key))),
    }
    if seconds >= FULL_SECONDS:
        effort = ["--phases=examples,coverage,fuzzing"]
    else:
        effort = ["--phases=examples,fuzzing", "--exclude-checks=negative_data_rejection"]
    command = [
        Path(sys.executable).with_name("schemathesis"),
        f"--config-file={HERE / 'schemathesis.toml'}",
        "run",
        f"{url}/openapi?format=json",
        f"--url={url}",
        f"--header=Authorization: Bearer {key}",
        f"--max-time={seconds}",
        f"--seed={seed}",
        f"--max-examples={MOST_EXAMPLES}",
        "--no-color",
        *effort,
        *more,
    ]
    (ROOT / "target").mkdir(exist_ok=True)
    return subprocess.run(command, cwd=ROOT / "target", env={**os.environ, **environment}, check=False).returncode


class Requests:
    """The few that create what the fuzz begins with."""

    def __init__(self, url: str, key: str) -> None:
        self._url = url
        self._key = key

    def __call__(self, method: str, path: str, body: object = None) -> dict:
        """The JSON of the answer."""
        request = urllib.request.Request(
            self._url + path,
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self._key}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.loads(answer.read() or "{}")


def resources(request: Requests) -> "dict[str, dict[str, object]]":
    """One resource of each kind, as fuzz_hooks.py wants them: path parameters by the path's first segment."""
    agent = request("POST", "/v1/agents", {"script": SCRIPT})
    job = request("POST", f"/v1/agents/{agent['id']}/execute", {"payload": 1})
    end = time.monotonic() + FIRST_JOB_SECONDS
    while job["state"] in ("queued", "running"):
        if time.monotonic() > end:
            raise SystemExit(f"The first execution has not ended within {FIRST_JOB_SECONDS} s: {job}")
        job = request("GET", f"/v1/executor-jobs/{job['id']}?wait=30")
    if job["state"] != "succeeded":
        raise SystemExit(f"The first execution has failed: {job}")
    store = agent["store_ids"][0]
    for key in ("a", "b", "c"):
        request("PUT", f"/v1/datastore/{store}/entries/{key}", {"n": 1})
    schedule = request("POST", "/v1/schedules", {"agent_id": agent["id"], "cron": "0 0 1 1 *"})
    webhook = request("POST", "/v1/webhooks", {"url": "http://127.0.0.1:9/"})
    channel = {"name": "fuzz", "kind": "slack", "url": "http://127.0.0.1:9/"}
    channel = request("POST", "/v1/notification-channels", channel)
    request("POST", f"/v1/webhooks/{webhook['id']}/test")
    deliveries = request("GET", f"/v1/webhooks/{webhook['id']}/deliveries")["data"]
    own_key = request("GET", "/v1/keys")["data"][-1]  # the oldest, which the first start has made
    found = {
        "agents": {"id": agent["id"], "revision": 1},
        "builds": {"id": request("GET", "/v1/builds")["data"][0]["id"]},
        "builder-jobs": {"id": request("GET", "/v1/builder-jobs")["data"][0]["id"]},
        "executor-jobs": {"id": job["id"]},
        "executions": {"id": request("GET", "/v1/executions")["data"][0]["id"]},
        "datastore": {"id": store, "key": "a"},
        "schedules": {"id": schedule["id"]},
        "webhooks": {"id": webhook["id"]},
        "notification-channels": {"id": channel["id"]},
        "keys": {"id": own_key["id"]},
    }
    if deliveries:
        found["webhooks"]["delivery_id"] = deliveries[0]["id"]
    return found


@contextlib.contextmanager
def target(jar: "Path | None"):  # noqa: ANN201 - a generator of (url, key)
    """The Roost of the environment's variables, or one of its own."""
    if jar is None:
        yield os.environ["ROOST_TEST_URL"], os.environ["ROOST_TEST_API_KEY"]
    else:
        with server(jar.resolve(), ROOST_LOCAL_MAX_EXECUTORS="2") as (url, key):
            yield url, key


def main() -> int:
    """By hand; test_fuzz.py is what the checks run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jar", type=Path, help="a packaged server, which is started on an empty data directory")
    parser.add_argument("--seconds", type=int, default=int(os.environ.get("ROOST_FUZZ_SECONDS", SECONDS)))
    parser.add_argument("--seed", type=int, default=int(os.environ.get("ROOST_FUZZ_SEED", SEED)))
    arguments, more = parser.parse_known_args()
    with target(arguments.jar) as (url, key):
        return fuzz(url, key, arguments.seconds, arguments.seed, *more)


if __name__ == "__main__":
    sys.exit(main())
