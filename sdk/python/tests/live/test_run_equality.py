"""`roost run` and a server make the same of the same scripts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import roost

ROOT = Path(__file__).resolve().parents[4]
CONTRACT = ROOT / "src/test/resources/contract"
SECONDS = 300
AT_ONCE = 4

STORES = """
def errors(*functions):
    for function in functions:
        try:
            yield function()
        except Exception as error:
            yield [type(error).__name__, str(error)]


def transaction(store, before, change):
    with store.transaction() as tx:
        before(tx)
        change()
        tx["written"] = True
    return "committed"


def main(request, store):
    store.update({"a": 1, "b": [1, 2], "u/1": "x", "u/2": "é", "\\U0001f680": None})
    store.set("gone", 1, ttl=0.001)
    store["number"] = 0.1
    with store.lock("report", timeout=1) as lock:
        held = lock.held
    with store.transaction() as tx:
        tx["a"] += 1
        tx.increment("number", 0.2)
        del tx["u/2"]
    return [
        list(errors(
            lambda: store["none"],
            lambda: store.set("x" * 513, 1),
            lambda: store.set("", 1),
            lambda: store.set("x", {1}),
            lambda: store.set("x", float("nan")),
            lambda: store.set("x", "x" * 1_100_000),
            lambda: store.set("x", 1, ttl=-1),
            lambda: store.increment("b"),
            lambda: store.increment("a", 10**30),
            lambda: store.increment("new", -2.5),
            lambda: transaction(store, lambda tx: tx["a"], lambda: store.set("a", 2)),
            lambda: transaction(store, lambda tx: tx.get("c"), lambda: store.set("c", 2)),
            lambda: transaction(store, lambda tx: tx["c"], lambda: store.pop("c")),
            lambda: transaction(store, lambda tx: list(tx.keys("u/")), lambda: store.set("u/3", 1)),
            lambda: transaction(store, lambda tx: len(tx), lambda: store.set("d", 1)),
            lambda: transaction(store, lambda tx: tx["b"], lambda: store.set("d", 2)),
        )),
        held,
        "gone" in store,
        list(store.items()),
        list(store.keys(prefix="u/")),
        len(store),
        store.pop("a"),
        store.popitem(),
        store.setdefault("d", 3),
        len(request.stores),
        store.clear(),
        len(store),
    ]
"""


SURROUNDINGS = """
import os, sys, time

def main(request):
    return {
        "names": sorted(os.environ),
        "B": os.environ["B"],
        "files": os.listdir(),
        "input": sys.stdin.read(),
        "module": [__name__, os.path.basename(__file__)],
        "arguments": [os.path.basename(argument) for argument in sys.argv],
        "time left": 3000 < request.deadline.timestamp() - time.time() <= 3600,
        "request": [request.attempt, request.scheduled, request.scheduled_time, request.payload],
        "version": list(sys.version_info),
    }
"""


@dataclass(frozen=True)
class Case:
    name: str
    script: str
    payload: str | None = None
    env_vars: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    requirements: str = ""


def contract() -> Iterator[Case]:
    """Every case. Both run the first attempt of an order by hand, with the usual limits.

    So `attempt`, `scheduled_time` and `limits` of its work play no part: what comes of them is
    compared in tests/run/test_contract.py.
    """
    for path in sorted(path for path in CONTRACT.iterdir() if path.is_dir()):
        work = json.loads((path / "work.json").read_text(encoding="utf-8"))
        yield Case(
            path.name,
            (path / "script.py").read_text(encoding="utf-8"),
            work.get("payload"),
            {"GREETING": "hello", **work.get("agent", {}).get("env_vars", {})},
            {"timeout": work.get("timeout_seconds", 60)},
        )


CASES = [
    *contract(),
    Case("stores", STORES),
    Case(
        "surroundings",
        SURROUNDINGS,
        env_vars={"B": 'quoted "é" = $HOME'},
        settings={"timeout": 3600},
    ),
    Case(
        "too_much_memory",
        "import time\ndef main():\n    text = 'x' * (90 << 20)\n    time.sleep(60)\n",
        settings={"memory": 40},
    ),
    Case(
        "packages",
        "import humanize\ndef main(): return humanize.intcomma(12345)\n",
        requirements="humanize==4.9.0\n",
    ),
    Case("no_such_package", "def main(): pass\n", requirements="roost-has-no-such-package==1.0\n"),
]


def normalised(execution: Mapping[str, Any], value: str | None, logs: list[Any]) -> dict[str, Any]:
    """What has to be the same. All else (ids, times, usage) is each run's own."""
    return {
        "state": execution["state"],
        "reason": execution["reason"],
        "message": without_numbers_of_memory(execution["message"]),
        "error": execution["error"],
        "return_value": value,
        "logs_truncated": execution["logs_truncated"],
        "log": [
            [entry["stream"], entry["level"], entry["logger"], entry["message"], entry["continued"]]
            for entry in logs
        ],
    }


def without_numbers_of_memory(message: str | None) -> str | None:
    """How much it was when that was noticed is chance."""
    if message is not None and message.startswith("the script used "):
        return "the script used … " + message.partition(";")[2]
    return message


def exact_value(document: str) -> str | None:
    """The JSON text of `return_value`, as it stands in an Execution's."""
    start = document.index('"return_value":') + len('"return_value":')
    start += len(document[start:]) - len(document[start:].lstrip())
    value, end = json.JSONDecoder().raw_decode(document, start)
    succeeded = json.loads(document)["state"] == "succeeded"
    return document[start:end] if value is not None or succeeded else None


class Deployed:
    """Runs cases on the server, side by side."""

    def __init__(self, client: roost.Client, unique: str, python: str) -> None:
        self._client, self._unique, self._python = client, unique, python
        self._made: list[str] = []

    def submit(self, case: Case) -> str:
        """Create the agent and submit a job; return the job's id."""
        # Not by `Agent.create`, which looks at the script first and refuses what can't run.
        body = {
            "name": f"{self._unique}-{case.name}",
            "script": case.script,
            "env_vars": "\n".join(f"{name}={value}" for name, value in case.env_vars.items()),
            "requirements": case.requirements,
            "python_version": self._python,
            **case.settings,
        }
        transport = self._client._transport
        agent = transport.parse(
            transport.request("POST", "/agents", body=json.dumps(body).encode())
        )
        self._made.append(agent["id"])
        given = {} if case.payload is None else {"payload": json.loads(case.payload)}
        return self._client.agents.retrieve(agent["id"]).submit(**given).id

    def result(self, job_id: str) -> dict[str, Any]:
        job = self._client.executor_jobs.retrieve(job_id)
        try:
            execution = job.wait(SECONDS)
        except roost.ExecutionFailed:  # no build, so no Execution
            job = self._client.executor_jobs.retrieve(job_id)
            facts = {"error": None, "logs_truncated": False}
            failed = {"state": job.state, "reason": job.reason, "message": job.message, **facts}
            return normalised(failed, None, [])
        text = self._client._transport.request("GET", f"/executions/{execution.id}").text
        logs = [vars_of(entry) for entry in execution.logs()]
        return normalised(json.loads(text), exact_value(text), logs)

    def delete(self) -> None:
        for agent_id in self._made:
            agent = self._client.agents.retrieve(agent_id)
            store_ids = agent.store_ids
            agent.delete()
            for store_id in store_ids:
                self._client.datastores.delete(store_id, force=True)


def vars_of(entry: roost.LogEntry) -> dict[str, Any]:
    names = ("stream", "level", "logger", "message", "continued")
    return {name: getattr(entry, name) for name in names}


def run_here(case: Case, directory: Path, cache: Path, python: str) -> dict[str, Any]:
    """What `roost run --json` says of a case."""
    directory.mkdir()
    settings = "".join(f"{name} = {value}\n" for name, value in case.settings.items())
    toml = f"[agents.case]\nscript = 'script.py'\nrequirements = 'packages.txt'\n{settings}"
    (directory / "roost.toml").write_text(toml, encoding="utf-8")
    (directory / "script.py").write_text(case.script, encoding="utf-8")
    (directory / "packages.txt").write_text(case.requirements, encoding="utf-8")
    command = [sys.executable, "-c", "from roost._cli import main; main()", "run", "--json"]
    command += [str(directory), "--python", python]
    for name, value in case.env_vars.items():
        command += ["--env", f"{name}={value}"]
    if case.payload is not None:
        command += ["--payload", case.payload]
    own = {"XDG_CACHE_HOME": str(cache), "PYTHONPATH": str(ROOT / "sdk/python/src")}
    done = subprocess.run(
        command,
        env={**os.environ, **own},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=SECONDS,
        check=False,
    )
    assert done.stdout, done.stderr
    document = json.loads(done.stdout)
    return normalised(document, exact_value(done.stdout), document["logs"])


@pytest.fixture(scope="module")
def results(
    client: roost.Client, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, tuple[dict[str, Any], dict[str, Any]]]]:
    """By the case's name: what came of it here, and on the server."""
    python = client.runtime().default
    assert python is not None
    directory = tmp_path_factory.mktemp("cases")
    deployed = Deployed(client, f"equality-{os.urandom(4).hex()}", python)
    try:
        jobs = {case.name: deployed.submit(case) for case in CASES}
        with ThreadPoolExecutor(AT_ONCE) as pool:
            # One first: the others find the environment that it has made.
            run_here(CASES[0], directory / "first", directory / "cache", python)
            here = {
                case.name: pool.submit(
                    run_here, case, directory / case.name, directory / "cache", python
                )
                for case in CASES
            }
            there = {name: deployed.result(job) for name, job in jobs.items()}
            yield {name: (here[name].result(), there[name]) for name in jobs}
    finally:
        deployed.delete()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_run_here_is_the_same_as_on_a_server(
    results: dict[str, tuple[dict[str, Any], dict[str, Any]]], case: Case
) -> None:
    here, there = results[case.name]
    assert here == there
