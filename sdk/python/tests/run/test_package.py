"""What is in the package: the programs that `roost run` starts, as they are in the source tree."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from roost._run import own_wheel
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


def contents(wheel: Path) -> dict[str, bytes]:
    """What is installed, without what says of it."""
    with zipfile.ZipFile(wheel) as archive:
        names = [name for name in archive.namelist() if name.startswith("roost/")]
        return {name: archive.read(name) for name in names}


def fields(wheel: Path) -> list[str]:
    """What the metadata says, with versions in one order."""
    with zipfile.ZipFile(wheel) as archive:
        (entry,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        head = archive.read(entry).decode().partition("\n\n")[0]
    left_out = ("Metadata-Version: ", "Description-Content-Type: ")
    lines = [line for line in head.splitlines() if not line.startswith(left_out)]
    return sorted(
        " ".join(sorted(re.findall(r"[^\s,:;<>=!]+|[<>=!]+[^\s,:;<>=!]*", line))) for line in lines
    )


def test_the_servers_wheel_is_what_the_build_backend_makes(wheel: Path, tmp_path: Path) -> None:
    script = PROJECT.parents[1] / "src/main/scripts/sdk_wheel.py"
    for directory in ("one", "two"):
        subprocess.run([sys.executable, script, tmp_path / directory], check=True)
    own = tmp_path / "one" / wheel.name
    assert contents(own) == contents(wheel)
    assert fields(own) == fields(wheel)
    assert own.read_bytes() == (tmp_path / "two" / wheel.name).read_bytes()


def test_an_installed_sdk_makes_the_wheel_for_agents_of_roost_run(
    wheel: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    script = "import sys; from pathlib import Path; from roost._run import own_wheel as own; "
    script += "own.make(Path(sys.argv[1])); print(own.identity(), own.is_required(['roost[cli]']))"
    said = subprocess.run(
        [sys.executable, "-c", script, tmp_path],
        env={"PYTHONPATH": str(tmp_path / "installed")},
        capture_output=True,
        encoding="utf-8",
        check=True,
    ).stdout
    assert said == f"{own_wheel.identity()} True\n"
    assert contents(tmp_path / wheel.name) == contents(wheel)
    assert fields(tmp_path / wheel.name) == fields(wheel)


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("roost", True),
        ("Roost [cli]", True),
        ("roost==1.0 ; os_name == 'nt'", True),
        ("roost-tools==1", False),
        ("six==1 # roost", False),
    ],
)
def test_which_requirements_require_it(line: str, wanted: bool) -> None:
    assert own_wheel.is_required([line]) == wanted


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
