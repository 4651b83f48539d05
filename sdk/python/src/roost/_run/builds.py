"""Environments with an agent's packages, created by the server's builder and cached.

One for each interpreter and set of requirements, under `~/.cache/roost/environments`. A cached
environment is never resolved again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Callable

from . import own_wheel
from .failures import BuildFailed, CannotRun
from .interpreters import Interpreter
from .process_env import for_build
from .sources import program

__all__ = ["build", "cache_directory", "fetch_uv", "find_uv", "is_built", "place_of"]

_START = (
    "import sys; sys.path.append(sys.argv.pop(1)); "
    "from roost_builder.__main__ import main; sys.exit(main())"
)
_BUILD_SECONDS = 1800
_UV = "uv>=0.8,<1"
_RESULT_START = '{"outcome": '


def cache_directory(environment: Mapping[str, str]) -> Path:
    """Return the directory of the cache."""
    home = environment.get("XDG_CACHE_HOME") or Path(
        environment.get("HOME") or Path.home(), ".cache"
    )
    return Path(home) / "roost"


def find_uv(environment: Mapping[str, str]) -> Path | None:
    """Return the uv beside this Python, on the PATH, or downloaded earlier."""
    for directory in (Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))):
        if (directory / "uv").is_file():
            return directory / "uv"
    on_path = shutil.which("uv", path=environment.get("PATH"))
    if on_path is not None:
        return Path(on_path)
    fetched = _fetched_uv(environment)
    return fetched if fetched.is_file() else None


def fetch_uv(environment: Mapping[str, str]) -> Path:
    """Download uv with this Python's pip, from pip's configured index."""
    fetched = _fetched_uv(environment)
    target = fetched.parents[1]
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".uv-", dir=target.parent) as work:
        new = Path(work) / "uv"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        command += ["--only-binary=:all:", f"--target={new}", _UV]
        result = subprocess.run(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        if result.returncode != 0:
            lines = result.stderr.strip().splitlines()
            raise CannotRun(
                "uv, which installs the agent's packages, was not found, and pip can't download "
                f"it; install uv. Error of pip: {lines[-1] if lines else 'none'}"
            )
        with contextlib.suppress(OSError):  # another run has downloaded it meanwhile
            new.replace(target)
    return fetched


def _fetched_uv(environment: Mapping[str, str]) -> Path:
    return cache_directory(environment) / "uv/bin/uv"


def place_of(
    interpreter: Interpreter, requirements: Sequence[str], environment: Mapping[str, str]
) -> Path:
    """Return the path of the environment with these packages."""
    same = "\n".join(sorted(" ".join(line.split()) for line in requirements))
    whole = f"{interpreter.version} {os.fspath(interpreter.path)}\n{same}"
    if own_wheel.is_required(requirements):
        whole += f"\n{own_wheel.identity()}"
    name = f"{interpreter.version}-{hashlib.sha256(whole.encode()).hexdigest()[:20]}"
    return cache_directory(environment) / "environments" / name


def is_built(target: Path) -> bool:
    """Return whether the environment and its interpreter exist."""
    return (target / "bin/python").exists()


def build(
    target: Path,
    interpreter: Interpreter,
    requirements: Sequence[str],
    uv: Path,
    environment: Mapping[str, str],
    on_line: Callable[[str], None],
) -> None:
    """Create the environment at `target`. `on_line` receives the builder's output.

    Raises `BuildFailed`. Atomic: a complete environment is renamed into place.
    """
    cache = target.parent
    if target.exists() and not is_built(target):
        shutil.rmtree(target, ignore_errors=True)  # its interpreter was removed
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".build-", dir=cache) as work:
        lines = Path(work) / "requirements.txt"
        lines.write_text("".join(f"{line}\n" for line in requirements), encoding="utf-8")
        command = [
            str(interpreter.path),
            "-I",
            "-B",
            "-c",
            _START,
            str(program("roost_builder").parent),
        ]
        command += [f"--uv={uv}", f"--directory={work}/tmp", f"--requirements={lines}"]
        command += ["--target=venv", f"--output={target}", f"--timeout={_BUILD_SECONDS}"]
        if own_wheel.is_required(requirements):
            command.append(f"--wheel={own_wheel.make(Path(work))}")
        result = _run(command, for_build(environment), on_line)
    if result.get("outcome") != "succeeded":
        reason = result.get("reason", "internal")
        raise BuildFailed(reason, result.get("message", "The build ended without a result."))


def _run(
    command: Sequence[str], environment: dict[str, str], on_line: Callable[[str], None]
) -> dict[str, str]:
    result: dict[str, str] = {}
    with subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if line.startswith(_RESULT_START):
                    result = json.loads(line)
                else:
                    on_line(line.rstrip("\n"))
        except BaseException:
            process.terminate()  # it has a separate session, so Ctrl-C doesn't reach it
            raise
    return result
