"""What importing the library costs: nothing that it can do without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import roost

SOURCE = str(Path(roost.__file__).parents[1])


def python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, "PYTHONPATH": SOURCE},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def imported(code: str) -> set[str]:
    """Return the modules that are there after the code."""
    done = python(f"{code}\nimport json, sys; print(json.dumps(list(sys.modules)))")
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("code", ["import roost; roost.Client", "from roost import Agent"])
def test_the_names_of_the_library_need_no_http(code: str) -> None:
    heavy = {"anyio", "asyncio", "click", "httpx", "rich", "ssl"}
    assert not heavy & imported(code)


def test_a_client_needs_no_command_line() -> None:
    modules = imported("import roost; roost.Client('key')")
    assert "httpx" in modules
    assert not {"click", "rich", "pygments", "httpx._main"} & modules


def test_httpx_that_was_imported_before_is_left_as_it_is() -> None:
    code = "import httpx; before = httpx.main; import roost; roost.Client('key')"
    assert "httpx._main" in imported(f"{code}; assert httpx.main is before")


@pytest.mark.parametrize("name", ["click", "rich"])
def test_the_command_without_its_extra_says_what_to_install(name: str) -> None:
    hide = f"""
import importlib.util
find_spec = importlib.util.find_spec
importlib.util.find_spec = lambda each, *rest: None if each == {name!r} else find_spec(each, *rest)
from roost._cli import main
main()
"""
    done = python(hide)
    assert (done.returncode, done.stdout) == (2, "")
    assert "pip install 'roost[cli]'" in done.stderr
    assert "Traceback" not in done.stderr
