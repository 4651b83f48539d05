"""Where `roost run` finds uv."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest

from roost._run import builds
from roost._run.failures import CannotRun


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of a machine without uv; its pip makes a uv, or fails."""
    python = tmp_path / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(
        f"""#!{sys.executable}
import pathlib, sys
if "FAIL" in __import__("os").environ:
    sys.exit("ERROR: no matching distribution")
(target,) = (each[9:] for each in sys.argv if each.startswith("--target="))
pathlib.Path(target, "bin").mkdir(parents=True)
pathlib.Path(target, "bin/uv").write_text("")
""",
        encoding="utf-8",
    )
    python.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(sysconfig, "get_path", lambda name: str(tmp_path / "nowhere"))
    return {"HOME": str(tmp_path), "PATH": str(tmp_path / "empty")}


def test_uv_is_fetched_once(alone: dict[str, str]) -> None:
    assert builds.find_uv(alone) is None
    fetched = builds.fetch_uv(alone)
    assert fetched.is_file()
    assert builds.find_uv(alone) == fetched


def test_uv_on_the_path_is_taken(alone: dict[str, str]) -> None:
    own = Path(alone["PATH"], "uv")
    own.parent.mkdir()
    own.write_text("#!/bin/sh\n", encoding="utf-8")
    own.chmod(0o755)
    assert builds.find_uv(alone) == own


def test_without_a_way_to_fetch_it_the_message_says_what_to_do(alone: dict[str, str]) -> None:
    with pytest.raises(CannotRun, match=r"install uv\. Error of pip: ERROR: no matching"):
        builds.fetch_uv({**alone, "FAIL": "1"})
