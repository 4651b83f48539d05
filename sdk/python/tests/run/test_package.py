"""What is in the package: the programs that `roost run` starts, as they are in the source tree."""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from roost._run.builds import find_uv
from roost._run.sources import program

PROJECT = Path(__file__).resolve().parents[2]
SECONDS = 300
PROGRAMS = ("roost_executor", "roost_builder")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, made of the source distribution, where there is no source tree around."""
    directory = tmp_path_factory.mktemp("dist")
    command = [str(find_uv(os.environ)), "build", "-q", "-o", str(directory), str(PROJECT)]
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


def test_the_library_alone_needs_no_more_than_an_http_client(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (entry,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(entry).decode().splitlines()
    needed = [line.partition(": ")[2] for line in lines if line.startswith("Requires-Dist: ")]
    library = [each for each in needed if "extra ==" not in each and "python_version" not in each]
    assert [each.partition("<")[0] for each in library] == ["anyio", "httpx"]
    assert [each.partition("<")[0] for each in needed if "extra == 'cli'" in each] == [
        "click",
        "rich>=13; extra == 'cli'",
    ]


def test_the_wheel_brings_the_command(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (entry,) = (name for name in archive.namelist() if name.endswith("entry_points.txt"))
        assert "roost = roost._cli:main" in archive.read(entry).decode()
