"""Roost's own SDK among the requirements: it comes from a wheel, and from no index."""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from roost_builder.failures import BuildFailed
from roost_builder.sdk import with_wheel
from test_build import LANDLOCK, UV, Build

SCRIPT = Path(__file__).resolve().parents[4] / "src/main/scripts/sdk_wheel.py"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("sdk")
    subprocess.run([sys.executable, SCRIPT, directory], check=True)
    (made,) = directory.iterdir()
    return made


def test_requirements_of_its_name_point_to_the_wheel(wheel: Path) -> None:
    version = wheel.name.split("-")[1]
    lines = ["a==1", "roost", f"roost[cli]=={version} ; os_name == 'posix'", "roost-tools==2", "# roost"]
    assert with_wheel(lines, wheel) == [
        "a==1",
        f"roost @ {wheel.as_uri()}",
        f"roost[cli] @ {wheel.as_uri()} ; os_name == 'posix'",
        "roost-tools==2",
        "# roost",
    ]


def test_another_version_names_the_one_there_is(wheel: Path) -> None:
    with pytest.raises(BuildFailed, match=r"not 9\.9\. Write roost or roost==") as failure:
        with_wheel(["roost==9.9"], wheel)
    assert failure.value.reason == "requirement_not_found"


def test_without_the_wheel_nothing_of_its_name_is_installed(tmp_path: Path) -> None:
    missing = tmp_path / "roost-1.0-py3-none-any.whl"
    assert with_wheel(["a==1"], missing) == ["a==1"]
    with pytest.raises(BuildFailed, match=r"The builder has no roost-1\.0"):
        with_wheel(["roost"], missing)


@pytest.mark.skipif(UV is None, reason="there is no uv")
@pytest.mark.parametrize("confined", [False, pytest.param(True, marks=LANDLOCK)])
def test_the_wheel_is_installed_with_what_it_needs(tmp_path: Path, wheel: Path, confined: bool) -> None:
    build = Build(tmp_path, "roost[cli]", confined=confined, wheel=wheel)
    lines = build.lines()
    result = json.loads(lines[-1])
    assert result["outcome"] == "succeeded", lines
    packages = {package["name"]: package for package in result["packages"]}
    assert packages["roost"]["sha256"] == hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert {"httpx", "click", "rich"} <= set(packages)
    said = subprocess.run([build.output / "bin/roost", "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.startswith(f"roost {packages['roost']['version']}")
