from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

import roost

README = Path(__file__).parents[2] / "README.md"


def blocks() -> list[str]:
    text = README.read_text(encoding="utf-8")
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
