"""The README's examples, all of them, in order, as one would type them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

import roost

README = Path(__file__).parents[2] / "README.md"


def blocks() -> list[str]:
    text = README.read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def test_every_example_works_as_written(
    client: roost.Client,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    greeter, five_lines, *rest = blocks()
    assert greeter.startswith("# greeter.py")
    assert sum(1 for line in five_lines.splitlines() if line) <= 5
    (tmp_path / "greeter.py").write_text(greeter, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(roost, "base_url", client.base_url)
    monkeypatch.setenv("ROOST_API_KEY", os.environ["ROOST_TEST_API_KEY"])
    variables: dict[str, Any] = {}

    exec(compile(five_lines, "README.md", "exec"), variables)
    assert capsys.readouterr().out == "Hello Ada!\n"
    agent = variables["agent"]
    try:
        for number, block in enumerate(rest, 3):
            exec(compile(block, f"README.md, block {number}", "exec"), variables)
        out = capsys.readouterr().out
    finally:
        agent.delete()
        client.datastores.delete(agent.store_ids[0], force=True)
    for expected in (
        "Hello Ada!\nHello Grace!\nHello Barbara!\n['Hello Ada!', 'Hello Grace!']\n",
        "user/ada {'born': 1815}\n",
        "1 False 1\nada 2\n",
    ):
        assert expected in out
    assert re.search(r"execution\.running exec_\w+\nexecution\.succeeded exec_\w+\n", out)
