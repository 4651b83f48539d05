"""Versions for requirements that allow several, from a directory of wheels."""

import os
import subprocess
from pathlib import Path

import pytest
from wheels import make_wheels

from roost._run.builds import fetch_uv, find_uv
from roost._run.failures import CannotLock
from roost._run.locking import export, lock


@pytest.fixture(scope="session")
def uv() -> Path:
    return find_uv(os.environ) or fetch_uv(os.environ)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, **make_wheels(tmp_path)}


def test_the_newest_versions_are_chosen_with_what_they_need(
    tmp_path: Path, uv: Path, environment: dict[str, str]
) -> None:
    locked = lock(
        ["roosttest-milk[sweet]", "roosttest-tea<1.1"], [], "3.12", tmp_path, uv, environment
    )
    assert locked == [
        "roosttest-cup==2.0",
        "roosttest-milk==3.0",
        "roosttest-sugar==1.0",
        "roosttest-tea==1.0",
    ]


def test_versions_stay_until_they_are_not_preferred_any_more(
    tmp_path: Path, uv: Path, environment: dict[str, str]
) -> None:
    present = ["roosttest-cup==1.0", "roosttest-gone==1.0", "roosttest-tea==1.0"]
    assert lock(["roosttest-tea"], present, "3.12", tmp_path, uv, environment) == [
        "roosttest-cup==1.0",
        "roosttest-tea==1.0",
    ]
    assert lock(["roosttest-tea>1"], present, "3.12", tmp_path, uv, environment) == [
        "roosttest-cup==1.0",
        "roosttest-tea==1.1",
    ]
    assert lock(["roosttest-tea"], [], "3.12", tmp_path, uv, environment) == [
        "roosttest-cup==2.0",
        "roosttest-tea==1.1",
    ]


def test_roosts_own_client_is_left_to_the_server(
    tmp_path: Path, uv: Path, environment: dict[str, str]
) -> None:
    assert lock(["roost", "roosttest-cup"], [], "3.12", tmp_path, uv, environment) == [
        "roost",
        "roosttest-cup==2.0",
    ]
    assert lock(["roost"], [], "3.12", tmp_path, uv, environment) == ["roost"]


def test_uvs_reason_is_reported(tmp_path: Path, uv: Path, environment: dict[str, str]) -> None:
    with pytest.raises(CannotLock, match=r"roosttest-tea.*1\.5"):
        lock(["roosttest-tea>=1.5"], [], "3.12", tmp_path, uv, environment)


def test_a_uv_lock_has_the_versions(tmp_path: Path, uv: Path, environment: dict[str, str]) -> None:
    project = tmp_path / "project"
    project.mkdir()
    text = '[project]\nname = "shop"\nversion = "1"\nrequires-python = ">=3.9"\n'
    (project / "pyproject.toml").write_text(f'{text}dependencies = ["roosttest-tea==1.0"]\n')
    with pytest.raises(CannotLock):
        export(project, uv, environment)
    subprocess.run([uv, "lock", "-q", "--project", project], env=environment, check=True)
    assert export(project, uv, environment) == ["roosttest-cup==2.0", "roosttest-tea==1.0"]
    (project / "pyproject.toml").write_text(f'{text}dependencies = ["roosttest-tea==1.1"]\n')
    with pytest.raises(CannotLock, match="uv lock"):
        export(project, uv, environment)
