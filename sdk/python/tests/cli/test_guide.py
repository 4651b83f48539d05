"""The guide to `roost run` is true: its commands, one after another, say what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[4]
GUIDE = ROOT / "docs/guides/run-locally.md"
SECONDS = 120
FENCE = re.compile(
    r"(?:^`(?P<file>[\w.]+)`:\n\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$", re.M | re.S
)


class Command(NamedTuple):
    line: str
    shown: str


def commands(text: str) -> list[Command]:
    parts = re.split(r"^\$ ", text, flags=re.M)[1:]
    return [Command(*part.partition("\n")[::2]) for part in parts]


def comparable(text: str) -> str:
    """Without what differs from machine to machine: times, the newest versions, columns."""
    text = re.sub(r"\d+\.\d\d s", "… s", text)
    text = re.sub(r"exist: [\d., ]+", "exist: …", text)
    text = re.sub(r"\n +[~^]+(?=\n|$)", "", text)
    return text.strip()


def test_every_command_says_what_is_shown(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    programs = tmp_path_factory.mktemp("bin")
    roost = programs / "roost"
    roost.write_text(
        f"#!/bin/sh\nPYTHONPATH={ROOT}/sdk/python/src exec {sys.executable} -c "
        f'"from roost._cli import main; main()" "$@"\n'
    )
    roost.chmod(0o755)
    cache = tmp_path_factory.mktemp("cache")
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(cache),
    }
    seen = 0
    status = 0
    for block in FENCE.finditer(GUIDE.read_text(encoding="utf-8")):
        if block["file"]:
            (tmp_path / block["file"]).write_text(block["text"], encoding="utf-8")
        elif block["kind"] == "console":
            for command in commands(block["text"]):
                done = subprocess.run(
                    # So that $? is of the command before.
                    ["sh", "-c", f"(exit {status}); {command.line}"],
                    cwd=tmp_path,
                    env=environment,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    encoding="utf-8",
                    timeout=SECONDS,
                    check=False,
                )
                status = done.returncode
                seen += 1
                assert comparable(done.stdout) == comparable(command.shown), command.line
    assert seen > 10
