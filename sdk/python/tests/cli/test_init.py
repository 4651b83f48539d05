from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support import Server

from roost._cli.header import read_header
from roost._cli.mistakes import Mistakes

TEMPLATE = {
    "name": "page-monitor",
    "title": "Monitor",
    "summary": "Reports changes.",
    "description": "Compares.",
    "tags": ["web"],
    "script": "def main(request): ...\n",
    "requirements": "requests==2.32.5\nsix==1.17.0\n",
    "variables": [
        {"name": "TOKEN", "description": "The token", "required": True, "example": "abc"},
        {"name": "PROXY", "description": "A proxy", "required": False, "example": "http://…"},
    ],
    "uses_store": True,
    "payload": {"url": "https://example.org"},
    "schedule": {"cron": "0 * * * *", "reason": "Every hour"},
}
PLAIN = {
    **TEMPLATE,
    "name": "plain",
    "tags": [],
    "requirements": "",
    "variables": [],
    "uses_store": False,
    "payload": None,
    "schedule": None,
}


@pytest.fixture
def gallery(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.chdir(tmp_path)
    server.on("GET", "/templates", {"data": [TEMPLATE, PLAIN]})
    return server


def values(path: Path) -> dict[str, Any]:
    mistakes = Mistakes(path)
    found = read_header(path.read_text(encoding="utf-8"), mistakes)
    assert found is not None
    return found.values


def test_templates_are_listed(cli: Any, gallery: Server) -> None:
    done = cli("init", client=gallery.client)
    assert (done.code, done.err) == (0, "")
    assert "page-monitor" in done.out
    assert "Reports changes." in done.out
    listed = json.loads(cli("init", "--json", client=gallery.client).out)
    assert [each["name"] for each in listed] == ["page-monitor", "plain"]
    assert cli("init", "x.py", client=gallery.client).code == 2


def test_a_script_has_the_settings_of_its_template(cli: Any, gallery: Server) -> None:
    done = cli("init", "--template", "page-monitor", client=gallery.client)
    assert (done.code, done.out) == (0, "page-monitor.py\n")
    assert "TOKEN: The token, such as abc" in done.err
    assert "PROXY (optional)" in done.err
    path = Path("page-monitor.py")
    assert path.read_text(encoding="utf-8").endswith(str(TEMPLATE["script"]))
    assert values(path) == {
        "dependencies": ["requests==2.32.5", "six==1.17.0"],
        "tool": {"roost": {"name": "page-monitor", "tags": ["web"], "stores": ["page-monitor"]}},
    }


def test_a_template_without_needs(cli: Any, gallery: Server) -> None:
    assert cli("init", "-t", "plain", "new/agent.py", client=gallery.client).code == 0
    expected = {"dependencies": [], "tool": {"roost": {"name": "plain"}}}
    assert values(Path("new/agent.py")) == expected


def test_no_file_is_replaced_unless_that_is_wanted(cli: Any, gallery: Server) -> None:
    Path("plain.py").write_text("mine", encoding="utf-8")
    done = cli("init", "-t", "plain", client=gallery.client)
    assert done.code == 1
    assert "plain.py exists." in done.err
    assert Path("plain.py").read_text(encoding="utf-8") == "mine"
    assert cli("init", "-t", "plain", "--force", client=gallery.client).code == 0
    assert Path("plain.py").read_text(encoding="utf-8") != "mine"


def test_an_unknown_template_is_explained(cli: Any, gallery: Server) -> None:
    done = cli("init", "-t", "none", client=gallery.client)
    assert done.code == 1
    assert "There are page-monitor, plain." in done.err
