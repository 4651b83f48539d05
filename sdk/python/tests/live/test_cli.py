"""The command line as a process of its own, against a server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Callable

import pytest

import roost

SOURCES = Path(__file__).resolve().parents[2] / "src"
TIMEOUT = 300
START = "from roost._cli import main; main()"
# A shell that has the tests run in the background makes them, and what they start, ignore Ctrl-C.
HEARING = f"import signal; signal.signal(signal.SIGINT, signal.default_int_handler); {START}"
# Completion gives up rather than make anybody wait; here it is what it finds that matters.
WITH_TIMEOUT = f"from roost._cli import connect; connect._HASTY_SECONDS = {TIMEOUT}; {START}"
SLEEP = "import time\n\n\ndef main():\n    print('asleep', flush=True)\n    time.sleep(600)\n"

Run = Callable[..., "subprocess.CompletedProcess[str]"]
MakeAgent = Callable[..., roost.Agent]


@pytest.fixture
def environment(client: roost.Client, tmp_path: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(SOURCES),
        "ROOST_URL": client.base_url,
        "ROOST_API_KEY": os.environ["ROOST_TEST_API_KEY"],
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
    }


@pytest.fixture
def run(environment: dict[str, str], tmp_path: Path) -> Run:
    """`roost` with arguments, and variables of the environment by name."""

    def call(
        *arguments: str, start: str = START, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", start, *arguments],
            cwd=tmp_path,
            env={**environment, **variables},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )

    return call


def test_after_ctrl_c_the_execution_continues(
    make_agent: MakeAgent, environment: dict[str, str], run: Run
) -> None:
    agent = make_agent(script=SLEEP, store_ids=[])
    arguments = [sys.executable, "-c", HEARING, "execute", agent.id, "--follow"]
    process = subprocess.Popen(
        arguments, env=environment, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert process.stderr.readline() == "asleep\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, out) == (130, "")
    [job] = agent._client.executor_jobs.list(agent_id=agent.id)
    assert f"`roost cancel {job.id}` cancels it" in err
    assert job.state == "running"
    assert run("cancel", job.id).returncode == 0
    assert job.wait(TIMEOUT).state == "cancelled"
    shown = run("logs", agent.id)
    assert (shown.returncode, "asleep" in shown.stdout.splitlines()) == (0, True)


def test_a_time_out_is_124_and_the_execution_continues(make_agent: MakeAgent, run: Run) -> None:
    agent = make_agent(script=SLEEP, store_ids=[])
    done = run("execute", agent.name, "--timeout", "0.5", "--json")
    assert (done.returncode, "is still" in done.stderr) == (124, True)
    job = agent._client.executor_jobs.retrieve(json.loads(done.stdout)["id"])
    assert job.cancel().id == job.id


def test_a_build_that_fails_is_explained_with_the_line(
    client: roost.Client, unique: str, run: Run, tmp_path: Path
) -> None:
    script = tmp_path / f"{unique}.py"
    lines = ["# /// script", '# dependencies = ["six==99.99.99"]', "# ///", "def main():", "  pass"]
    script.write_text("\n".join(lines), encoding="utf-8")
    done = run("deploy", script.name)
    try:
        assert (done.returncode, done.stdout) == (1, "")
        assert f"{unique} can't be built (requirement_not_found)" in done.stderr
        assert f"{script.name}:2: six==99.99.99" in done.stderr
        job_id = client.agents.retrieve(name=unique).latest_builder_job_id
        assert f"`roost logs {job_id}`" in done.stderr
        assert "six" in run("show", job_id).stdout
    finally:
        agent = client.agents.retrieve(name=unique)
        agent.delete()
        for store_id in agent.store_ids:
            client.datastores.delete(store_id, force=True)


def test_schedules_of_a_file_come_and_go_and_others_stay(
    client: roost.Client, unique: str, run: Run, tmp_path: Path
) -> None:
    script = tmp_path / f"{unique}.py"
    header = "# /// script\n# [tool.roost]\n# stores = []\n# schedules = [%s]\n# ///\n"
    main = "def main():\n    pass\n"

    def deploy(schedules: str) -> Any:
        script.write_text(header % schedules + main, encoding="utf-8")
        assert run("deploy", script.name, "--no-wait").returncode == 0
        found = client.schedules.list(agent_id=agent_id())
        return sorted((each.name, each.cron, each.overlap) for each in found)

    def agent_id() -> str:
        return client.agents.retrieve(name=unique).id

    own = '{ cron = "0 7 * * *", name = "own", overlap = "skip" }'
    assert deploy(own) == [("deploy/own", "0 7 * * *", "skip")]
    assert run("schedule", unique, "@daily", "--name", "by hand").returncode == 0
    by_hand = ("by hand", "@daily", "allow")
    changed = deploy('{ cron = "0 8 * * *", name = "own" }')
    assert changed == [by_hand, ("deploy/own", "0 8 * * *", "allow")]
    again = run("deploy", script.name, "--dry-run")
    assert (again.stdout, "nothing would change" in again.stderr) == ("", True)
    assert deploy("") == [by_hand]
    client.agents.delete(agent_id())


def test_exit_codes_name_the_kind_of_error(run: Run) -> None:
    assert run("show", "exec_nothing").returncode == 4
    assert run("list", "agents", ROOST_API_KEY="roost_no_key").returncode == 3
    nobody = run("list", "agents", ROOST_URL="http://127.0.0.1:9")
    assert (nobody.returncode, nobody.stdout) == (6, "")
    assert run("keys", "create", "k", "--role", "king").returncode == 2
    refused = run("schedules", "next", "99 * * * *")
    assert refused.returncode == 5
    for done in (nobody, refused):
        assert "Traceback" not in done.stderr
        assert len(done.stderr.splitlines()) <= 3


def test_a_key_can_do_what_its_role_says(client: roost.Client, unique: str, run: Run) -> None:
    made = run("keys", "create", unique, "--role", "read")
    key = made.stdout.strip()
    session = json.loads(run("whoami", "--json", ROOST_API_KEY=key).stdout)
    assert (session["key"]["name"], session["key"]["role"]) == (unique, "read")
    assert run("list", "agents", ROOST_API_KEY=key).returncode == 0
    denied = run("store", "create", unique, ROOST_API_KEY=key)
    assert (denied.returncode, "`roost whoami`" in denied.stderr) == (3, True)
    assert run("keys", "delete", session["key"]["id"], "--yes").returncode == 0
    assert run("whoami", ROOST_API_KEY=key).returncode == 3


def test_the_shell_completes_commands_and_agents(make_agent: MakeAgent, run: Run) -> None:
    agent = make_agent(script=SLEEP, store_ids=[])

    def completed(words: str, number: int) -> str:
        variables = {"_ROOST_COMPLETE": "bash_complete", "COMP_WORDS": words}
        return run(COMP_CWORD=str(number), start=WITH_TIMEOUT, **variables).stdout

    assert "plain,deploy" in completed("roost dep", 1)
    assert f"plain,{agent.name}" in completed(f"roost execute {agent.name[:4]}", 2)


def test_the_link_to_the_dashboard_is_whole(client: roost.Client, run: Run) -> None:
    done = run("open", "--print")
    assert done.returncode == 0
    assert done.stdout.startswith(f"{client.base_url}/login?token=")
