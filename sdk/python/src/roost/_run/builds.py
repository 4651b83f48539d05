"""Environments with an agent's packages, made by the server's builder and kept.

One for each interpreter and each list of requirements, whatever their order, under
`~/.cache/roost/environments`. One that is there is never resolved again.
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
from .sources import program
from .surroundings import for_build

__all__ = ["build", "cache_directory", "fetch_uv", "find_uv", "is_built", "place_of"]

_START = (
    "import sys; sys.path.append(sys.argv.pop(1)); "
    "from roost_builder.__main__ import main; sys.exit(main())"
)
_BUILD_SECONDS = 1800
_UV = "uv>=0.8,<1"
_RESULT_START = '{"outcome": '


def cache_directory(environment: Mapping[str, str]) -> Path:
    """Return where environments are kept."""
    home = environment.get("XDG_CACHE_HOME") or Path(
        environment.get("HOME") or Path.home(), ".cache"
    )
    return Path(home) / "roost"


def find_uv(environment: Mapping[str, str]) -> Path | None:
    """Return the uv beside this Python, on the PATH, or fetched earlier."""
    for directory in (Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))):
        if (directory / "uv").is_file():
            return directory / "uv"
    on_path = shutil.which("uv", path=environment.get("PATH"))
    if on_path is not None:
        return Path(on_path)
    fetched = _fetched_uv(environment)
    return fetched if fetched.is_file() else None


def fetch_uv(environment: Mapping[str, str]) -> Path:
    """Let this Python's pip fetch uv, from whichever index pip is set to use."""
    fetched = _fetched_uv(environment)
    target = fetched.parents[1]
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".uv-", dir=target.parent) as work:
        new = Path(work) / "uv"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
        command += ["--only-binary=:all:", f"--target={new}", _UV]
        said = subprocess.run(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        if said.returncode != 0:
            lines = said.stderr.strip().splitlines()
            raise CannotRun(
                "uv, which installs the agent's packages, is not here, and pip can't fetch it; "
                f"install uv. pip said: {lines[-1] if lines else 'nothing'}"
            )
        with contextlib.suppress(OSError):  # another run has fetched it meanwhile
            new.replace(target)
    return fetched


def _fetched_uv(environment: Mapping[str, str]) -> Path:
    return cache_directory(environment) / "uv/bin/uv"


def place_of(
    interpreter: Interpreter, requirements: Sequence[str], environment: Mapping[str, str]
) -> Path:
    """Return where the environment with these packages belongs."""
    same = "\n".join(sorted(" ".join(line.split()) for line in requirements))
    whole = f"{interpreter.version} {os.fspath(interpreter.path)}\n{same}"
    if own_wheel.wants(requirements):
        whole += f"\n{own_wheel.identity()}"
    name = f"{interpreter.version}-{hashlib.sha256(whole.encode()).hexdigest()[:20]}"
    return cache_directory(environment) / "environments" / name


def is_built(target: Path) -> bool:
    """Return whether it is there, and the interpreter too with which it was made."""
    return (target / "bin/python").exists()


def build(
    target: Path,
    interpreter: Interpreter,
    requirements: Sequence[str],
    uv: Path,
    environment: Mapping[str, str],
    on_line: Callable[[str], None],
) -> None:
    """Make the environment at its place. `on_line` gets what the builder says meanwhile.

    Raises `BuildFailed`. Half of one is never seen: it is renamed into place when it is complete.
    """
    cache = target.parent
    if target.exists() and not is_built(target):
        shutil.rmtree(target, ignore_errors=True)  # its interpreter has gone
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
        if own_wheel.wants(requirements):
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
            process.terminate()  # it has a session of its own, so a Ctrl-C doesn't reach it
            raise
    return result
