"""A Prometheus that reads a Roost: the dashboard's queries, and some alerts of real causes."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import pytest
import yaml
from helm_chart import CHART

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from server import free_port, server

PROMETHEUS = shutil.which("prometheus")
JAR = os.environ.get("ROOST_TEST_JAR")
LIMIT_SECONDS = 90
# Panels that show something only of failures, or on a schedule.
MAY_BE_EMPTY = {"Failures by reason", "Rejected requests", "Failed passes of loops", "Lateness of schedules"}

pytestmark = [
    pytest.mark.skipif(PROMETHEUS is None, reason="there is no prometheus"),
    pytest.mark.skipif(JAR is None, reason="there is no packaged server"),
]


def until(what, look):
    end = time.monotonic() + LIMIT_SECONDS
    while time.monotonic() < end:
        with contextlib.suppress(urllib.error.URLError, ConnectionError):
            if found := look():
                return found
        time.sleep(0.3)
    raise AssertionError(f"not within {LIMIT_SECONDS} s: {what}")


class Prometheus:
    """One that reads a Roost each second."""

    def __init__(self, directory, target):
        rules = yaml.safe_load((CHART / "files/alerts.yaml").read_text(encoding="utf-8"))
        for rule in rules["groups"][0]["rules"]:
            rule.pop("for", None)  # The alert comes at once; promtool's tests are about its time.
        (directory / "alerts.yaml").write_text(json.dumps(rules), encoding="utf-8")
        settings = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(directory / "alerts.yaml")],
            "scrape_configs": [
                {"job_name": "roost", "static_configs": [{"targets": [target], "labels": {"namespace": "test"}}]}
            ],
        }
        (directory / "prometheus.yml").write_text(json.dumps(settings), encoding="utf-8")
        port = free_port()
        self.url = f"http://127.0.0.1:{port}/api/v1/"
        self.process = subprocess.Popen(
            [
                PROMETHEUS,
                f"--config.file={directory}/prometheus.yml",
                f"--storage.tsdb.path={directory}/data",
                f"--web.listen-address=127.0.0.1:{port}",
                "--log.level=error",
            ]
        )

    def query(self, expression):
        with urllib.request.urlopen(f"{self.url}query?{urllib.parse.urlencode({'query': expression})}") as answer:
            return json.load(answer)["data"]["result"]

    def firing(self):
        return {one["metric"]["alertname"] for one in self.query('ALERTS{alertstate="firing"}')}


@pytest.fixture
def prometheus(tmp_path):
    target = f"127.0.0.1:{free_port()}"
    made = Prometheus(tmp_path, target)
    made.target = target
    try:
        yield made
    finally:
        made.process.terminate()
        made.process.wait(30)


class Api:
    def __init__(self, url, key):
        self.url, self.key = url, key

    def post(self, path, body):
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + path, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=90) as answer:
            return json.load(answer)


def test_panels_have_values_and_alerts_have_causes(prometheus):
    settings = {
        "ROOST_METRICS_PORT": prometheus.target.split(":")[1],
        "ROOST_STORAGE_PAYLOAD_BYTES": "2000000",
        "ROOST_BUILDS_INDEX_URL": "http://127.0.0.1:1/simple",
    }
    with server(Path(JAR), **settings) as (url, key):
        roost = Api(url, key)
        until("Prometheus reads", lambda: prometheus.query("roost_leader == 1"))
        until("no alert", lambda: prometheus.firing() == set())
        for number in range(3):
            roost.post("/v1/agents", {"script": "", "requirements": f"nowhere{number}==1"})
        until("builds fail", lambda: "RoostBuildsFail" in prometheus.firing())
        agent = roost.post("/v1/agents", {"script": "def main(request):\n    return len(request.payload)"})["id"]
        for _ in range(3):
            job = roost.post(f"/v1/agents/{agent}/execute?wait=60", {"payload": "small"})
            assert job["state"] == "succeeded"
        until("a build has succeeded", lambda: prometheus.firing() == set())
        panels_have_values(prometheus)
        fill(roost, agent)
        until("storage is full", lambda: "RoostStorageFull" in prometheus.firing())
        assert prometheus.firing() <= {"RoostStorageFull", "RoostStorageNearlyFull"}
    until("Roost is missing", lambda: "RoostMissing" in prometheus.firing())


def panels_have_values(prometheus):
    dashboard = json.loads((CHART / "files/dashboard.json").read_text(encoding="utf-8"))
    for panel in dashboard["panels"]:
        for target in panel.get("targets", []):
            expression = target["expr"].replace("$namespace", ".*").replace("$__rate_interval", "1m")
            if panel["title"] in MAY_BE_EMPTY:
                prometheus.query(expression)  # Refuses what it doesn't understand.
            else:
                until(f"{panel['title']}: {expression}", lambda expression=expression: prometheus.query(expression))


def fill(roost, agent):
    """Random text, since the database compresses, in payloads that aren't stored as files."""
    with contextlib.suppress(urllib.error.HTTPError):
        for _ in range(20):
            roost.post(f"/v1/agents/{agent}/execute?wait=60", {"payload": os.urandom(100_000).hex()})
