from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from support import Server, agent, builder_job

from roost._run import interpreters

SCRIPT = """\
# /// script
# dependencies = ["Jinja2==3.1.4"]
# [tool.roost]
# timeout = 60
# schedules = [{ cron = "0 7 * * *", payload = { name = "Ada" } }]
# ///
def main(request):
    return 1
"""
RUNTIME = {"kind": "local", "python_versions": ["3.12", "3.13"], "default": "3.13"}
SETTINGS = {
    "cron": "0 7 * * *",
    "time_zone": "UTC",
    "payload": {"name": "Ada"},
    "missed_runs": "run_once",
    "missed_runs_limit": 100,
    "overlap": "allow",
    "jitter": 0.0,
    "starts_at": None,
    "ends_at": None,
}


def schedule(**fields: Any) -> dict[str, Any]:
    names = {"id": "sched_1", "agent_id": "agent_1", "name": "deploy/0 7 * * *", "state": "active"}
    return {**SETTINGS, **names, **fields}


def page(*items: Any) -> dict[str, Any]:
    return {"data": list(items), "next_cursor": None}


class Deployed:
    """A server that has the agent as the script says it, with its schedule."""

    def __init__(self, server: Server, directory: Path) -> None:
        self.server = server
        self.script = directory / "greeter.py"
        self.script.write_text(SCRIPT, encoding="utf-8")
        server.on("GET", "/runtime", RUNTIME)
        self.has(agent(script=SCRIPT, timeout=60.0), schedule())
        server.on("GET", "/builder-jobs/bjob_1", builder_job("succeeded"))
        for method in ("PATCH", "GET"):
            server.on(method, "/agents/agent_1", agent(revision=2))
        server.on("POST", "/agents", httpx.Response(201, json=agent()))
        server.on("POST", "/schedules", httpx.Response(201, json=schedule()))
        server.on("PATCH", "/schedules/sched_1", schedule())
        server.on("DELETE", "/schedules/sched_1", httpx.Response(204))

    def has(self, present: Any, *schedules: Any) -> None:
        self.server.on("GET", "/agents", page(*([present] if present else [])))
        self.server.on("GET", "/schedules", page(*schedules))

    def wrote(self) -> list[tuple[str, str, Any]]:
        """What was asked to be changed, in order."""
        return [
            (each.method, each.url.path[len("/v1") :], json.loads(each.content or b"null"))
            for each in self.server.requests
            if each.method != "GET"
        ]


@pytest.fixture
def deployed(server: Server, tmp_path: Path) -> Deployed:
    return Deployed(server, tmp_path)


def test_what_has_not_changed_is_left_alone(cli: Any, deployed: Deployed) -> None:
    done = cli("deploy", str(deployed.script), client=deployed.server.client)
    assert (done.code, done.out) == (0, "")
    assert done.err == "greeter is up to date: revision 1.\n"
    assert deployed.wrote() == []


def test_a_new_agent_is_created_with_its_schedules(cli: Any, deployed: Deployed) -> None:
    deployed.has(None)
    done = cli("deploy", str(deployed.script), client=deployed.server.client)
    assert done.code == 0
    (_, _, made), (_, _, scheduled) = deployed.wrote()
    assert (made["name"], made["script"], made["python_version"]) == ("greeter", SCRIPT, "3.13")
    assert (made["requirements"], made["timeout"]) == ("Jinja2==3.1.4", 60)
    assert scheduled["name"] == "deploy/0 7 * * *"
    assert (scheduled["agent_id"], scheduled["payload"]) == ("agent_1", {"name": "Ada"})
    assert "Created greeter, revision 1: Python 3.13, 1 requirement, 1 schedule." in done.err
    assert "Next: roost execute greeter --follow" in done.err


def test_only_what_has_changed_is_sent(cli: Any, deployed: Deployed) -> None:
    deployed.has(agent(script="old", timeout=900.0), schedule())
    done = cli("deploy", str(deployed.script), client=deployed.server.client)
    assert deployed.wrote() == [("PATCH", "/agents/agent_1", {"script": SCRIPT, "timeout": 60})]
    assert "Updated greeter, revision 2: script, timeout." in done.err


def test_preloading_is_turned_off_by_the_file(cli: Any, deployed: Deployed) -> None:
    script = SCRIPT.replace("# timeout = 60\n", '# timeout = 60\n# preload = "off"\n')
    deployed.script.write_text(script, encoding="utf-8")
    deployed.has(agent(script=script, timeout=60.0, preload="auto"), schedule())
    done = cli("deploy", str(deployed.script), client=deployed.server.client)
    assert deployed.wrote() == [("PATCH", "/agents/agent_1", {"preload": "off"})]
    assert "Updated greeter, revision 2: preload." in done.err
    deployed.has(agent(script=script, timeout=60.0, preload="off"), schedule())
    done = cli("deploy", str(deployed.script), client=deployed.server.client)
    assert len(deployed.wrote()) == 1


def test_an_agent_becomes_a_tool_by_the_file(cli: Any, deployed: Deployed) -> None:
    tool = {"tool_name": "greet", "tool_description": "Greets a person."}
    lines = "".join(f'# {key} = "{value}"\n' for key, value in tool.items())
    script = SCRIPT.replace("# timeout = 60\n", "# timeout = 60\n" + lines)
    deployed.script.write_text(script, encoding="utf-8")
    deployed.has(agent(script=script, timeout=60.0, tool_name=None), schedule())
    done = cli("deploy", str(deployed.script), client=deployed.server.client)
    assert deployed.wrote() == [("PATCH", "/agents/agent_1", tool)]
    assert "Updated greeter, revision 2: tool_name, tool_description." in done.err
    deployed.has(agent(script=script, timeout=60.0, **tool), schedule())
    cli("deploy", str(deployed.script), client=deployed.server.client)
    assert len(deployed.wrote()) == 1


def test_tags_are_replaced_by_the_flag_in_any_order(cli: Any, deployed: Deployed) -> None:
    deployed.has(agent(script=SCRIPT, timeout=60.0, tags=["billing", "team/x"]), schedule())
    tags = ("--tag", "team/x", "--tag", "billing", "--tag", "team/x")
    cli("deploy", str(deployed.script), *tags, client=deployed.server.client)
    assert deployed.wrote() == []
    cli("deploy", str(deployed.script), "--tag", "billing", client=deployed.server.client)
    assert deployed.wrote() == [("PATCH", "/agents/agent_1", {"tags": ["billing"]})]


def test_settings_that_the_file_does_not_mention_stay(cli: Any, deployed: Deployed) -> None:
    deployed.has(agent(script=SCRIPT, timeout=60.0, memory=4096, env_vars="A=1"), schedule())
    cli("deploy", str(deployed.script), client=deployed.server.client)
    assert deployed.wrote() == []


def test_a_dry_run_shows_a_diff_and_changes_nothing(cli: Any, deployed: Deployed) -> None:
    changed = schedule(overlap="skip")
    deployed.has(agent(script="def main(): pass\n", timeout=900.0), changed)
    arguments = ("deploy", str(deployed.script), "--dry-run", "--env", "TOKEN=s3cret")
    done = cli(*arguments, client=deployed.server.client)
    assert (done.code, deployed.wrote()) == (0, [])
    for line in (
        "-def main(): pass",
        "+def main(request):",
        "- timeout = 900.0",
        "+ timeout = 60",
        "~ env_vars.TOKEN",
        '- schedule 0 7 * * *: overlap = "skip"',
        '+ schedule 0 7 * * *: overlap = "allow"',
    ):
        assert f"\n{line}\n" in done.out
    assert "s3cret" not in done.out + done.err
    assert "hush-hush" not in done.out + done.err
    done = cli(*arguments, "--json", client=deployed.server.client)
    assert json.loads(done.out)[0]["action"] == "update"
    assert "s3cret" not in done.out


def test_only_schedules_that_deploying_made_are_changed_or_removed(
    cli: Any, deployed: Deployed
) -> None:
    own = schedule(id="sched_1", name="deploy/gone")
    foreign = schedule(id="sched_2", name="by hand", cron="5 5 * * *")
    deployed.has(agent(script=SCRIPT, timeout=60.0), own, foreign)
    cli("deploy", str(deployed.script), client=deployed.server.client)
    methods = sorted((method, path) for method, path, _ in deployed.wrote())
    assert methods == [("DELETE", "/schedules/sched_1"), ("POST", "/schedules")]


def test_what_a_schedule_no_longer_says_is_taken_back(cli: Any, deployed: Deployed) -> None:
    deployed.has(agent(script=SCRIPT, timeout=60.0), schedule(jitter=30.0))
    cli("deploy", str(deployed.script), client=deployed.server.client)
    [(method, path, body)] = deployed.wrote()
    assert (method, path, body["jitter"]) == ("PATCH", "/schedules/sched_1", 0.0)


def test_a_failed_build_is_explained_with_the_line(cli: Any, deployed: Deployed) -> None:
    deployed.has(agent(script="old", timeout=60.0), schedule())
    message = "Jinja2==3.1.4 is not in the package index."
    failed = builder_job("failed", reason="requirement_not_found", message=message)
    deployed.server.on("GET", "/builder-jobs/bjob_1", failed)
    done = cli("deploy", str(deployed.script), client=deployed.server.client)
    assert (done.code, done.out) == (1, "")
    assert f"greeter can't be built (requirement_not_found): {message}" in done.err
    assert f"{deployed.script}:2: Jinja2==3.1.4" in done.err
    assert "`roost logs bjob_1`" in done.err


def test_a_failed_build_leaves_the_revision_before_running(cli: Any, deployed: Deployed) -> None:
    deployed.has(agent(script="old", timeout=60.0), schedule())
    for method in ("PATCH", "GET"):
        deployed.server.on(method, "/agents/agent_1", agent(revision=4, running_revision=3))
    deployed.server.on("GET", "/builder-jobs/bjob_1", builder_job("failed"))
    done = cli("deploy", str(deployed.script), client=deployed.server.client)
    assert (done.code, done.out) == (1, "")
    assert done.err.rstrip().endswith("\nNot deployed; revision 3 still runs.")
    done = cli("deploy", str(deployed.script), "--json", client=deployed.server.client)
    assert done.code == 1
    assert json.loads(done.out)[0]["agent"]["running_revision"] == 3


def test_a_first_revision_that_is_not_built_does_not_run(cli: Any, deployed: Deployed) -> None:
    deployed.has(None)
    deployed.server.on("GET", "/agents/agent_1", agent(running_revision=None))
    deployed.server.on("GET", "/builder-jobs/bjob_1", builder_job("failed"))
    done = cli("deploy", str(deployed.script), client=deployed.server.client)
    assert done.code == 1
    assert "Not deployed; no revision runs yet." in done.err


def test_without_waiting_what_runs_until_then_is_reported(cli: Any, deployed: Deployed) -> None:
    deployed.has(agent(script="old", timeout=60.0), schedule())
    building = agent(revision=2, running_revision=1, building_revision=2)
    deployed.server.on("PATCH", "/agents/agent_1", building)
    done = cli("deploy", str(deployed.script), "--no-wait", client=deployed.server.client)
    assert done.code == 0
    assert "Revision 2 is building; revision 1 runs until then." in done.err


def test_a_syntax_error_is_found_before_anything_is_changed(
    cli: Any, deployed: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    # This Python, under the name of another one: it knows no other syntax, and is asked.
    deployed.script.write_text(SCRIPT + "print 1\n", encoding="utf-8")
    deployed.has(agent(script="old", timeout=60.0, python_version="3.99"), schedule())
    own = interpreters.Interpreter("3.99.0", Path(sys.executable))
    monkeypatch.setattr(interpreters, "installed", lambda version, environment: own)
    done = cli("deploy", str(deployed.script), client=deployed.server.client)
    assert done.code != 0
    assert "syntax error: line 9" in done.err
    assert "(Python 3.99)" in done.err
    assert deployed.wrote() == []


def test_what_no_python_here_can_compile_is_reported(
    cli: Any, deployed: Deployed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpreters, "installed", lambda version, environment: None)
    deployed.has(agent(script="old", timeout=60.0, python_version="3.99"), schedule())
    done = cli("deploy", str(deployed.script), client=deployed.server.client)
    assert done.code == 0
    assert "greeter was not checked with Python 3.99, which isn't installed here." in done.err


def test_without_waiting_the_build_is_not_requested(cli: Any, deployed: Deployed) -> None:
    deployed.server.on("GET", "/builder-jobs/bjob_1", builder_job("failed"))
    done = cli("deploy", str(deployed.script), "--no-wait", client=deployed.server.client)
    assert done.code == 0


def test_the_header_chooses_a_python_that_there_is(cli: Any, deployed: Deployed) -> None:
    deployed.script.write_text(SCRIPT.replace("# dep", '# requires-python = "<3.13"\n# dep'))
    deployed.has(None)
    cli("deploy", str(deployed.script), client=deployed.server.client)
    assert deployed.wrote()[0][2]["python_version"] == "3.12"
    deployed.script.write_text(SCRIPT.replace("# dep", '# requires-python = ">=3.14"\n# dep'))
    done = cli("deploy", str(deployed.script), client=deployed.server.client)
    assert (done.code, "available versions: 3.12, 3.13" in done.err) == (2, True)


def test_several_agents_of_one_file(cli: Any, deployed: Deployed) -> None:
    toml = deployed.script.with_name("roost.toml")
    toml.write_text('[agents.one]\nscript = "greeter.py"\n[agents.two]\nscript = "greeter.py"\n')
    deployed.has(None)
    done = cli("deploy", str(toml.parent), client=deployed.server.client)
    assert done.code == 0
    names = [body["name"] for _, path, body in deployed.wrote() if path == "/agents"]
    assert names == ["one", "two"]
    done = cli("deploy", str(toml), "--python", "3.12", client=deployed.server.client)
    assert (done.code, "--only NAME" in done.err) == (2, True)
    done = cli("deploy", str(toml), "--only", "tow", client=deployed.server.client)
    assert (done.code, "did you mean `two`?" in done.err) == (2, True)


def test_json_has_the_agents_and_their_builds(cli: Any, deployed: Deployed) -> None:
    done = cli("deploy", str(deployed.script), "--json", client=deployed.server.client)
    [item] = json.loads(done.out)
    assert (item["action"], item["changes"], item["agent"]["id"]) == ("nothing", [], "agent_1")
    assert item["builder_job"]["state"] == "succeeded"
    assert done.err == ""


def test_every_mistake_of_a_file_has_its_line(cli: Any, deployed: Deployed) -> None:
    deployed.script.write_text(SCRIPT.replace("timeout = 60", "timeuot = 60"), encoding="utf-8")
    done = cli("deploy", str(deployed.script), client=deployed.server.client)
    assert done.code == 2
    assert f"{deployed.script}:4: unknown key `timeuot`; did you mean `timeout`?" in done.err


def test_json_has_no_values_of_variables(cli: Any, deployed: Deployed) -> None:
    done = cli("deploy", str(deployed.script), "--json", client=deployed.server.client)
    assert json.loads(done.out)[0]["agent"]["env_vars"] == "TOKEN=***\nEMPTY=***\n"
    assert "hush-hush" not in done.out + done.err
