"""Requirements that allow several versions: which are deployed, and when they change."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support import Server, agent, builder_job
from wheels import make_wheels

from roost._cli.failures import Failure
from roost._cli.locking import locked_here
from roost._cli.project import Project

RUNTIME = {"kind": "local", "python_versions": ["3.12", "3.13"], "default": "3.13"}
OLD = "roosttest-cup==1.0\nroosttest-tea==1.0"
NEW = "roosttest-cup==2.0\nroosttest-tea==1.1"
HEADER = """\
# /// script
# dependencies = ["{}"]
# ///
def main():
    return 1
"""


@pytest.fixture(autouse=True)
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in make_wheels(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "own-cache"))


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "tea.py"
    path.write_text(HEADER.format("roosttest-tea>=1"))
    return path


def deployed(server: Server, script: Path, requirements: str | None) -> None:
    """Prepare a server that has the agent with these requirements, or no agent."""
    server.on("GET", "/runtime", RUNTIME)
    there = agent(name="tea", script=script.read_text(), requirements=requirements or "")
    data = [] if requirements is None else [there]
    server.on("GET", "/agents", {"data": data, "next_cursor": None})
    server.on("GET", "/schedules", {"data": [], "next_cursor": None})
    server.on("POST", "/agents", there)
    server.on("PATCH", "/agents/agent_1", there)
    server.on("GET", "/agents/agent_1", there)
    server.on("GET", "/builder-jobs/bjob_1", builder_job("succeeded"))


def sent(server: Server) -> list[str]:
    """Return the requirements that were sent."""
    changes = [each for each in server.requests if each.method in ("POST", "PATCH")]
    bodies = [json.loads(request.content) for request in changes]
    return [body["requirements"] for body in bodies if "requirements" in body]


def test_the_first_deploy_gets_the_newest(cli: Any, server: Server, script: Path) -> None:
    deployed(server, script, None)
    done = cli("deploy", str(script), client=server.client)
    assert done.code == 0, done.err
    assert sent(server) == [NEW]


def test_versions_stay_until_an_upgrade(cli: Any, server: Server, script: Path) -> None:
    deployed(server, script, OLD)
    done = cli("deploy", str(script), client=server.client)
    assert "tea is up to date" in done.err
    assert sent(server) == []
    done = cli("deploy", str(script), "--upgrade", "--dry-run", client=server.client)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert "-roosttest-tea==1.0" in lines
    assert "+roosttest-tea==1.1" in lines
    cli("deploy", str(script), "--upgrade", client=server.client)
    assert sent(server) == [NEW]


def test_a_change_of_a_requirement_changes_what_it_must(
    cli: Any, server: Server, script: Path
) -> None:
    script.write_text(HEADER.format("roosttest-tea>1"))
    deployed(server, script, OLD)
    cli("deploy", str(script), client=server.client)
    assert sent(server) == ["roosttest-cup==1.0\nroosttest-tea==1.1"]


def test_without_a_solution_nothing_is_deployed(cli: Any, server: Server, script: Path) -> None:
    script.write_text(HEADER.format("roosttest-tea>=7"))
    deployed(server, script, OLD)
    done = cli("deploy", str(script), client=server.client)
    assert done.code == 1
    assert sent(server) == []
    assert "The versions of tea's requirements can't be found" in done.err
    assert "roosttest-tea>=7" in done.err


def test_a_pylock_of_the_project_has_the_versions(cli: Any, server: Server, tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "main.py").write_text("def main():\n    return 1\n")
    (project / "pyproject.toml").write_text(
        '[project]\nname = "tea"\ndependencies = ["roosttest-tea"]\n[tool.roost]\n'
    )
    (project / "pylock.toml").write_text(
        'lock-version = "1.0"\n[[packages]]\nname = "roosttest-tea"\nversion = "1.0"\n'
        '[[packages]]\nname = "roosttest-cup"\nversion = "1.0"\n[[packages]]\nname = "local"\n'
    )
    file = Project.read(project).agent()
    assert locked_here(file, "3.13") == OLD.split("\n")
    deployed(server, project / "main.py", OLD)
    done = cli("deploy", str(project), "--upgrade", client=server.client)
    assert done.code != 0
    assert "pylock.toml has the versions of tea" in done.err


def test_runs_here_keep_the_versions_of_the_first(
    script: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = Project.read(script).agent()
    assert locked_here(file, "3.13") == NEW.split("\n")
    monkeypatch.setattr("roost._cli.locking._uv", lambda: Path(os.devnull))
    assert locked_here(file, "3.13") == NEW.split("\n")
    with pytest.raises(Failure):
        locked_here(file, "3.13", upgrade=True)
    with pytest.raises(Failure):
        locked_here(file, "3.12")
    script.write_text(HEADER.format("roosttest-tea==1.0"))
    assert locked_here(Project.read(script).agent(), "3.12") == ["roosttest-tea==1.0"]
