from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import roost

README = Path(__file__).parents[2] / "README.md"


def blocks(heading: str = "") -> list[str]:
    text = README.read_text(encoding="utf-8")
    if heading:
        text = text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_the_five_lines_work_as_written(
    client: roost.Client,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    greeter, five_lines = blocks()[:2]
    assert greeter.startswith("# greeter.py")
    assert sum(1 for line in five_lines.splitlines() if line) <= 5
    (tmp_path / "greeter.py").write_text(greeter, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(roost, "base_url", client.base_url)
    monkeypatch.setenv("ROOST_API_KEY", os.environ["ROOST_TEST_API_KEY"])
    variables: dict[str, object] = {}
    exec(compile(five_lines, "README.md", "exec"), variables)
    assert capsys.readouterr().out == "Hello Ada!\n"
    agent = variables["agent"]
    assert isinstance(agent, roost.Agent)
    agent.delete()
    client.datastores.delete(agent.store_ids[0], force=True)


def test_what_follows_works_as_written(
    client: roost.Client, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(roost, "base_url", client.base_url)
    monkeypatch.setenv("ROOST_API_KEY", os.environ["ROOST_TEST_API_KEY"])
    script = "def main(request):\n    return 'Hello ' + request.payload['name'] + '!'\n"
    agent = client.agents.create(script=script, store_ids=[])
    three = "Hello Ada!\\nHello Grace!\\nHello Barbara!\\n"
    shown = {
        "Many at once": three + r"\['Hello Ada!', 'Hello Grace!'\]\n",
        "What happens, as it happens": r"execution\.running exec_.*\nexecution\.succeeded .*\n",
        "At set times": "",
        "Webhooks": "",
    }
    for heading, expected in shown.items():
        variables = {"roost": roost, "agent": agent}
        for block in blocks(heading):
            exec(compile(block, f"README.md: {heading}", "exec"), variables)
        assert re.fullmatch(expected, capsys.readouterr().out), heading
    agent.delete()
