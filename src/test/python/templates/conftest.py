"""Templates of agents, as files of the source tree and as `roost run` runs them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest
from world import ROOT, TEMPLATES, World

SDK = ROOT / "sdk/python/src"
RUN_SECONDS = 300

Run = Callable[..., Any]


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.close()


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a template with a payload and variables; the Execution. Its store is kept for the test's next run."""

    def run(name: str, payload: Any, **variables: str) -> Any:
        directory = TEMPLATES / name
        command = [sys.executable, "-c", "from roost._cli.root import root; root()", "run"]
        command += [str(directory / "agent.py"), "--json"]
        command += ["--requirements", str(directory / "requirements.txt"), "--payload", "-"]
        command += ["--store", "main", "--store-dir", str(tmp_path)]
        for key, value in variables.items():
            command += ["--env", f"{key}={value}"]
        environment = {**os.environ, "PYTHONPATH": str(SDK)}
        done = subprocess.run(
            command,
            input=json.dumps(payload),
            env=environment,
            capture_output=True,
            text=True,
            timeout=RUN_SECONDS,
            check=False,
        )
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    return run
