"""`roost deploy` of a directory: the files of a project."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from bundle_server import BundleServer
from support import KEY, URL, Server, agent, builder_job, problem

import roost

RUNTIME = {"kind": "local", "python_versions": ["3.12", "3.13"], "default": "3.13"}
SCRIPT = "import pkg\n\ndef main(request):\n    return 1\n"
PYPROJECT = """\
[project]
name = "reports"
version = "1"
requires-python = ">=3.12"
dependencies = ["Jinja2==3.1.4"]

[tool.roost]
script = "src/main.py"
timeout = 60
"""


class Plane:
    """A server with one agent, if it has been created, and its bundles."""

    def __init__(self, server: Server, directory: Path) -> None:
        self.bundles = BundleServer()
        self.server = server
        self.directory = directory
        self.agent: dict[str, Any] | None = None
        self.sent: list[dict[str, Any]] = []
        self.client = roost.Client(
            KEY, URL, http_client=httpx.Client(transport=httpx.MockTransport(self._handle))
        )
        server.on("GET", "/runtime", RUNTIME)
        server.on("GET", "/agents", lambda _: {"data": self._agents(), "next_cursor": None})
        server.on("GET", "/agents/agent_1", lambda _: self.agent or problem(404, "not_found"))
        server.on("GET", "/schedules", {"data": [], "next_cursor": None})
        server.on("GET", "/builder-jobs/bjob_1", builder_job("succeeded"))
        server.on("POST", "/agents", self._change)
        server.on("PATCH", "/agents/agent_1", self._change)

    def _handle(self, request: httpx.Request) -> httpx.Response:
        return self.bundles.handle(request) or self.server._handle(request)

    def _agents(self) -> list[dict[str, Any]]:
        return [self.agent] if self.agent else []

    def _change(self, request: httpx.Request) -> dict[str, Any]:
        body = json.loads(request.content)
        self.sent.append(body)
        before = self.agent or {"requirements": ""}
        self.agent = agent(**{**before, **body, "revision": before.get("revision", 0) + 1})
        if body.get("bundle_id"):
            path = self.agent["script_path"]
            content = self.bundles.bundles[body["bundle_id"]]["contents"][path]
            self.agent["script"] = content.decode()
        return self.agent


@pytest.fixture
def plane(server: Server, tmp_path: Path) -> Plane:
    directory = tmp_path / "reports"
    (directory / "src/pkg").mkdir(parents=True)
    (directory / "pyproject.toml").write_text(PYPROJECT)
    (directory / "src/main.py").write_text(SCRIPT)
    (directory / "src/pkg/__init__.py").write_text("")
    (directory / "data.csv").write_text("a,b\n")
    return Plane(server, directory)


def test_a_project_is_created_and_then_only_changes_are_sent(cli: Any, plane: Plane) -> None:
    done = cli("deploy", str(plane.directory), client=plane.client)
    assert done.code == 0, done.err
    (created,) = plane.sent
    assert created["name"] == "reports"
    assert "script" not in created
    assert (created["bundle_id"], created["script_path"]) == ("bundle_1", "src/main.py")
    assert (created["requirements"], created["timeout"]) == ("Jinja2==3.1.4", 60)
    size = len(PYPROJECT) + len(SCRIPT) + len("a,b\n")
    assert f"Sent 3 of 4 files, {size} B." in done.err
    assert "Created reports, revision 1: Python 3.13, 1 requirement, 4 files." in done.err

    done = cli("deploy", str(plane.directory), client=plane.client)
    assert done.err == "reports is up to date: revision 1.\n"
    assert len(plane.sent) == 1
    assert len(plane.bundles.created) == 1

    (plane.directory / "data.csv").write_text("a,b,c\n")
    done = cli("deploy", str(plane.directory / "pyproject.toml"), client=plane.client)
    assert "Sent 1 of 4 files, 6 B." in done.err
    assert "Updated reports, revision 2: files." in done.err
    assert plane.sent[1] == {"bundle_id": "bundle_2", "script_path": "src/main.py"}
    assert plane.bundles.created[1]["base"] == "bundle_1"


def test_a_dry_run_lists_files_and_sends_nothing(cli: Any, plane: Plane) -> None:
    cli("deploy", str(plane.directory), client=plane.client)
    (plane.directory / "src/main.py").write_text(SCRIPT.replace("return 1", "return 2"))
    (plane.directory / "data.csv").unlink()
    for number in range(25):
        (plane.directory / f"new{number:02}.txt").write_text("x")
    done = cli("deploy", str(plane.directory), "--dry-run", client=plane.client)
    lines = done.out.splitlines()
    assert "~ src/main.py" in lines
    assert "+ new00.txt" in lines
    assert "+ new18.txt" in lines
    assert "+ new19.txt" not in lines
    assert "  … 7 more files" in lines
    assert "-    return 1" in lines
    assert "+    return 2" in lines
    assert len(plane.sent) == 1
    assert len(plane.bundles.created) == 1
    (data,) = json.loads(
        cli("deploy", str(plane.directory), "--dry-run", "--json", client=plane.client).out
    )
    files = next(change for change in data["changes"] if change["what"] == "files")
    assert files["changed"] == ["src/main.py"]
    assert files["removed"] == ["data.csv"]
    assert len(files["added"]) == 25


def test_the_bundle_is_part_of_the_json(cli: Any, plane: Plane) -> None:
    (data,) = json.loads(cli("deploy", str(plane.directory), "--json", client=plane.client).out)
    assert data["bundle"]["id"] == "bundle_1"
    assert data["bundle"]["files"] == 4


def test_a_script_becomes_a_project_and_a_script_again(
    cli: Any, plane: Plane, tmp_path: Path
) -> None:
    single = tmp_path / "reports.py"
    single.write_text("def main():\n    return 0\n")
    cli("deploy", str(single), client=plane.client)
    cli("deploy", str(plane.directory), client=plane.client)
    assert plane.sent[1]["bundle_id"] == "bundle_1"
    cli("deploy", str(single), client=plane.client)
    assert plane.sent[2]["bundle_id"] is None
    assert plane.sent[2]["script"] == "def main():\n    return 0\n"


def test_an_agent_of_a_roost_toml_has_a_directory(cli: Any, plane: Plane) -> None:
    (plane.directory / "pyproject.toml").unlink()
    (plane.directory / "main.py").write_text("def main():\n    pass\n")
    (plane.directory.parent / "roost.toml").write_text(
        '[agents.reports]\ndirectory = "reports"\n[agents.other]\nscript = "other.py"\n'
    )
    (plane.directory.parent / "other.py").write_text("def main():\n    pass\n")
    arguments = ("deploy", str(plane.directory.parent), "--only", "reports")
    done = cli(*arguments, client=plane.client)
    assert done.code == 0, done.err
    assert plane.sent[0]["script_path"] == "main.py"
    assert [file["path"] for file in plane.bundles.entries("bundle_1")] == [
        *("data.csv", "main.py", "src/main.py", "src/pkg/__init__.py")
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[project]\nname = 'x'\n", "there is no table [tool.roost]"),
        (PYPROJECT.replace("==3.1.4", ">=three"), 'pyproject.toml:5: ">=three" is not a version'),
        (PYPROJECT.replace("==3.1.4", " @ ./x"), 'pyproject.toml:5: "Jinja2 @ ./x" points to'),
        (PYPROJECT.replace('"src/main.py"', '"../x.py"'), "toml:8: `script` must be the path of"),
        (PYPROJECT.replace('"src/main.py"', '"src/x.py"'), "toml:8: there is no file"),
        (PYPROJECT.replace('script = "src/main.py"\n', ""), "has no main.py or agent.py"),
        (PYPROJECT.replace("timeout", "timout"), "unknown key `timout`; did you mean `timeout`"),
        (PYPROJECT.replace('name = "reports"\n', ""), "the agent needs a `name`"),
        (PYPROJECT.replace(">=3.12", "three"), "`requires-python` must be a specifier"),
    ],
)
def test_mistakes_name_their_line(cli: Any, plane: Plane, text: str, said: str) -> None:
    (plane.directory / "pyproject.toml").write_text(text)
    done = cli("deploy", str(plane.directory), client=plane.client)
    assert done.code == 2, done.err
    assert said in done.err.replace("\n", " "), done.err
    assert plane.sent == []


def test_requirements_of_roost_take_the_place_of_the_project_s(cli: Any, plane: Plane) -> None:
    text = PYPROJECT.replace("Jinja2==3.1.4", "Jinja2").replace(
        "timeout = 60", 'requirements = "locked.txt"'
    )
    (plane.directory / "pyproject.toml").write_text(text)
    (plane.directory / "locked.txt").write_text("Jinja2==3.1.4\nMarkupSafe==3.0.2\n")
    assert cli("deploy", str(plane.directory), client=plane.client).code == 0
    assert plane.sent[0]["requirements"] == "Jinja2==3.1.4\nMarkupSafe==3.0.2"


def test_files_that_cannot_be_sent_are_named(cli: Any, plane: Plane) -> None:
    (plane.directory / "link").symlink_to("/etc")
    done = cli("deploy", str(plane.directory), client=plane.client)
    assert done.code == 2
    assert "link is a symbolic link that leads out" in done.err
    (plane.directory / "link").unlink()
    (plane.directory / ".gitignore").write_text("main.py\n")
    done = cli("deploy", str(plane.directory), client=plane.client)
    assert done.code == 2
    assert "main.py is ignored, so it would not be sent" in done.err
    assert plane.sent == []


def test_a_syntax_error_is_found_before_anything_is_sent(cli: Any, plane: Plane) -> None:
    (plane.directory / "src/main.py").write_text("def main(:\n")
    done = cli("deploy", str(plane.directory), "--python", "3.13", client=plane.client)
    assert plane.sent == []
    assert not plane.bundles.created
    assert done.code != 0


def test_the_agent_shows_its_bundle(cli: Any, plane: Plane) -> None:
    cli("deploy", str(plane.directory), client=plane.client)
    assert plane.agent is not None
    plane.agent.update(memory=256, cpu=1.0, max_attempts=1, retry_delay=1.0, keep_warm=1.0)
    plane.agent.update(max_concurrency=1, concurrency_key_scope="execution", isolation="process")
    shown = cli("show", "agent_1", client=plane.client)
    assert "bundle_1" in shown.out, shown
    assert "src/main.py" in shown.out, shown
