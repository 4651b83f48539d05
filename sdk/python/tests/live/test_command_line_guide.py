"""The guide to the command line, typed as it is written."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import roost

ROOT = Path(__file__).resolve().parents[4]
GUIDE = ROOT / "docs/guides/command-line.md"
SOURCES = ROOT / "sdk/python/src"
AGENTS = ("greeter", "night-greeter")
STORES = ("people", "greeter", "night-greeter")
PATIENCE = 300


def blocks() -> list[tuple[str, str]]:
    """The blocks of the guide, each with its language."""
    text = GUIDE.read_text(encoding="utf-8")
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


@pytest.fixture
def tidy(client: roost.Client) -> Iterator[None]:
    """No agents and stores with the names of the guide, before and after."""

    def delete() -> None:
        for name in AGENTS:
            for agent in client.agents.list(name=name):
                agent.delete()
        for name in STORES:
            for store in client.datastores.list(name=name):
                store.delete(force=True)

    delete()
    yield
    delete()


def test_everything_in_the_guide_is_as_it_says(
    client: roost.Client, tidy: None, tmp_path: Path
) -> None:
    command = tmp_path / "bin/roost"
    command.parent.mkdir()
    start = "from roost._cli import main; main()"
    command.write_text(f"#!/bin/sh\nexec '{sys.executable}' -c '{start}' \"$@\"\n")
    command.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{command.parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(SOURCES),
        "ROOST_URL": client.base_url,
        "ROOST_API_KEY": os.environ["ROOST_TEST_API_KEY"],
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }
    directory = tmp_path / "work"
    directory.mkdir()
    written = {"python": "greeter.py", "toml": "roost.toml"}
    output = ""
    for language, text in blocks():
        if language in written:
            (directory / written[language]).write_text(text, encoding="utf-8")
        elif language == "sh":
            output = typed(text, directory, environment)
        elif output:
            assert re.fullmatch(pattern(text), output, re.DOTALL), f"{text}---\n{output}"
            output = ""


def typed(commands: str, directory: Path, environment: dict[str, str]) -> str:
    """What a terminal shows of these commands, without the last spaces of its lines."""
    done = subprocess.run(
        ["bash", "-e", "-c", commands],
        cwd=directory,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=PATIENCE,
        check=False,
    )
    shown = done.stdout.decode()
    assert done.returncode == 0, f"{commands}---\n{shown}"
    return re.sub(r"^\n", "", shown)


def pattern(text: str) -> str:
    """The expression for what the guide shows, in which … stands for anything."""
    return re.sub(r" *… *", ".*?", re.escape(text).replace(r"\ ", " ")).replace("…", ".*?")
