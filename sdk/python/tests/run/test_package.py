"""What is in the package: the programs that `roost run` starts, as they are in the source tree."""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from roost._run.builds import uv_program
from roost._run.sources import program

PROJECT = Path(__file__).resolve().parents[2]
SECONDS = 300
PROGRAMS = ("roost_executor", "roost_builder")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, made of the source distribution, where there is no source tree around."""
    directory = tmp_path_factory.mktemp("dist")
    command = [str(uv_program(os.environ)), "build", "-q", "-o", str(directory), str(PROJECT)]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", timeout=SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    assert list(directory.glob("roost-*.tar.gz"))
    (wheel,) = directory.glob("roost-*.whl")
    return wheel


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_wheel_has_the_programs_of_the_source_tree(wheel: Path, name: str) -> None:
    source = program(name)
    with zipfile.ZipFile(wheel) as archive:
        start = f"roost/_executor/{name}/"
        packed = {
            entry[len(start) :]: archive.read(entry)
            for entry in archive.namelist()
            if entry.startswith(start)
        }
    there = {str(path.relative_to(source)): path.read_bytes() for path in source.rglob("*.py")}
    assert packed == there


def test_the_wheel_brings_the_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (entry,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
        assert "roost = roost._cli:main" in archive.read(entry).decode()
