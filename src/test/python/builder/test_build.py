"""The whole builder, with a real uv and the real package index.

``uv`` is the one on the PATH, or the one that ROOST_TEST_UV names.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Optional

import pytest
from hostile import served
from roost_executor import sandbox

SOURCES = Path(__file__).resolve().parents[4] / "src" / "main" / "python"
START = "import sys; sys.path.append(sys.argv.pop(1)); from roost_builder.__main__ import main; sys.exit(main())"
UV = os.environ.get("ROOST_TEST_UV") or shutil.which("uv")

LANDLOCK = pytest.mark.skipif(
    sandbox.landlock_abi() < 1, reason=f"builds can't be confined here: {sandbox.why_no_landlock()}"
)

pytestmark = pytest.mark.skipif(UV is None, reason="there is no uv")


class Build:
    def __init__(
        self,
        directory: Path,
        *requirements: str,
        timeout: float = 120,
        index: Optional[str] = None,
        confined: bool = False,
        wheel: Optional[Path] = None,
    ) -> None:
        self.work = directory / "tmp"
        self.output = directory / "builds" / "key"
        file = directory / "requirements.txt"
        file.write_text("".join(line + "\n" for line in requirements))
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PIP_")}
        if index:
            environment["ROOST_BUILDS_INDEX_URL"] = index
            environment["UV_HTTP_RETRIES"] = "0"
        options = {
            "uv": UV, "directory": self.work, "requirements": file, "target": "venv", "output": self.output,
            "timeout": timeout,
        }  # fmt: skip
        if wheel:
            options["wheel"] = wheel
        if confined:
            options["sandbox"] = json.dumps({"private": [str(directory)]})
            environment["UV_CACHE_DIR"] = str(directory / "cache/uv")
        arguments = [f"--{name}={value}" for name, value in options.items()]
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-B", "-c", START, str(SOURCES), *arguments],
            stdout=subprocess.PIPE, env=environment, text=True,
        )  # fmt: skip

    def lines(self) -> list[str]:
        output, _ = self.process.communicate(timeout=180)
        assert not self.work.exists()
        return output.splitlines()

    def result(self) -> dict[str, Any]:
        result = json.loads(self.lines()[-1])
        assert self.output.exists() == (result["outcome"] == "succeeded")
        return result


def test_no_requirements_make_an_empty_environment(tmp_path: Path) -> None:
    result = Build(tmp_path, "", "# nothing").result()
    assert result["packages"] == []
    assert result["size_bytes"] > 0


@pytest.mark.parametrize("confined", [False, pytest.param(True, marks=LANDLOCK)])
def test_a_wheel_and_an_sdist_are_listed_with_the_hashes_of_their_files(tmp_path: Path, confined: bool) -> None:
    build = Build(tmp_path, "idna==3.10", "docopt==0.6.2", confined=confined)
    packages = build.result()["packages"]
    sizes = {package["name"]: package.pop("size_bytes") for package in packages}
    assert packages == [
        {
            "name": "docopt",
            "version": "0.6.2",
            "sha256": "49b3a825280bd66b3aa83585ef59c4a8c82f2c8a522dbe754a8bc8d08c85c491",
        },
        {
            "name": "idna",
            "version": "3.10",
            "sha256": "946d195a0d259cbba61165e88e65941f16e9b36ea6ddb97f00452bae8b1287d3",
        },
    ]
    source = next(build.output.rglob("docopt.py")).stat().st_size
    assert source < sizes["docopt"] < source + 30_000
    assert 150_000 < sizes["idna"] < 1_000_000
    check = [str(build.output / "bin" / "python"), "-I", "-c", "import docopt, idna; print(idna.__version__)"]
    assert subprocess.run(check, capture_output=True, text=True, check=True).stdout == "3.10\n"


def test_an_unknown_version_names_its_neighbours(tmp_path: Path) -> None:
    result = Build(tmp_path, "urllib3==2.0.99").result()
    assert result["reason"] == "requirement_not_found"
    assert result["message"].endswith("The nearest that exist: 2.0.7, 2.1.0")


def test_an_unknown_package_is_not_found(tmp_path: Path) -> None:
    assert Build(tmp_path, "roost-has-no-such-package==1.0").result()["reason"] == "requirement_not_found"


def test_a_conflict_is_explained(tmp_path: Path) -> None:
    result = Build(tmp_path, "requests==2.32.3", "urllib3==1.20").result()
    assert result["reason"] == "requirements_conflict"
    assert "urllib3==1.20" in result["message"]


def test_an_unreachable_index_is_reported_without_its_password(tmp_path: Path) -> None:
    lines = Build(tmp_path, "idna==3.10", index="http://user:secret@127.0.0.1:9/simple").lines()
    assert json.loads(lines[-1])["reason"] == "index_unreachable"
    assert "secret" not in "\n".join(lines)


def test_the_deadline_ends_everything(tmp_path: Path) -> None:
    build = Build(tmp_path, "idna==3.10", timeout=0.05)
    assert build.result()["reason"] == "deadline_exceeded"


def test_a_terminated_build_leaves_no_process_and_no_environment(tmp_path: Path) -> None:
    build = Build(tmp_path, "numpy==1.26.0", "pandas==2.2.3")
    deadline = time.monotonic() + 30
    while not (build.work / "environment").exists() and time.monotonic() < deadline:
        os.sched_yield()
    build.process.send_signal(signal.SIGTERM)
    build.lines()
    assert build.process.returncode == 128 + signal.SIGTERM
    assert not build.output.exists()
    processes = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
    assert str(tmp_path) not in processes


@LANDLOCK
def test_build_code_reaches_nothing_of_roost(tmp_path: Path) -> None:
    for name in ("api_key", "builds/other/module.py", "executors/other/agent.log"):
        (tmp_path / "data" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "data" / name).write_text("roost_secret\n")
    with served(tmp_path / "index", tmp_path / "data", os.getpid()) as index:
        build = Build(tmp_path / "data", "hostile==1.0", index=index, confined=True)
        result = build.result()
    assert result["outcome"] == "succeeded", result
    found = json.loads(next(build.output.rglob("hostile.json")).read_text())
    assert len(found) == 8
    assert set(found.values()) == {"PermissionError"}, found
    assert (tmp_path / "data/api_key").read_text() == "roost_secret\n"
