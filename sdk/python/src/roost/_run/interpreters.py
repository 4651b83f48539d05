"""The Python interpreters of this machine: the system's, pyenv's and uv's."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from .failures import CannotRun

__all__ = ["DEFAULT_VERSION", "Interpreter", "find", "installed", "versions"]

DEFAULT_VERSION = "3.13"
SUPPORTED = tuple(f"3.{minor}" for minor in range(9, 15))
_ASK = "import sys; print(sys.implementation.name, '%d.%d.%d' % sys.version_info[:3])"
_ASK_SECONDS = 30
_FETCH_SECONDS = 600


@dataclass(frozen=True)
class Interpreter:
    """`version` is the full one, such as "3.13.1"; `path` the interpreter itself, not a link."""

    version: str
    path: Path


def versions(environment: Mapping[str, str]) -> list[str]:
    """Return the minor versions that seem to be there, oldest first, without starting any."""
    return [version for version in SUPPORTED if any(_candidates(version, environment))]


def find(version: str, uv: Path, environment: Mapping[str, str]) -> Interpreter:
    """Return the interpreter of a minor version; uv fetches one when there is none."""
    if version not in SUPPORTED:
        raise CannotRun(f"Roost has no Python {version}; there are {', '.join(SUPPORTED)}")
    found = installed(version, environment)
    if found is None:
        _fetch(version, uv, environment)
        found = installed(version, environment)
    if found is None:
        raise CannotRun(
            f"Python {version} was not found. Install it and see that it is on the PATH"
        )
    return found


def installed(version: str, environment: Mapping[str, str]) -> Interpreter | None:
    """Return the interpreter of a minor version, if there is one."""
    for candidate in _candidates(version, environment):
        path = candidate.resolve()
        try:
            said = subprocess.run(
                [str(path), "-I", "-S", "-c", _ASK],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                timeout=_ASK_SECONDS,
                check=False,
            ).stdout.split()
        except (OSError, subprocess.TimeoutExpired):
            continue
        if len(said) == 2 and said[0] == "cpython" and said[1].startswith(f"{version}."):
            return Interpreter(said[1], path)
    return None


def _candidates(version: str, environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield files that should be this version, the likeliest first."""
    name = f"python{version}"
    home = Path(environment.get("HOME") or Path.home())
    if version == "{}.{}".format(*sys.version_info[:2]):
        own = Path(sys.base_prefix) / "bin" / name
        if own.exists():
            yield own
    pyenv = Path(environment.get("PYENV_ROOT") or home / ".pyenv")
    data = Path(environment.get("XDG_DATA_HOME") or home / ".local/share")
    fetched = Path(environment.get("UV_PYTHON_INSTALL_DIR") or data / "uv/python")
    for directory, pattern in ((pyenv / "versions", "*"), (fetched, "cpython-*")):
        yield from _newest_first(directory.glob(f"{pattern}/bin/{name}"))
    for directory_name in environment.get("PATH", "").split(os.pathsep):
        candidate = Path(directory_name) / name
        # pyenv's shims run whatever version is chosen at the moment, or none.
        if directory_name and candidate.parent != pyenv / "shims" and candidate.exists():
            yield candidate


def _newest_first(paths: Iterator[Path]) -> list[Path]:
    def release(path: Path) -> list[int]:
        return [int(number) for number in re.findall(r"\d+", path.parent.parent.name)]

    return sorted(paths, key=release, reverse=True)


def _fetch(version: str, uv: Path, environment: Mapping[str, str]) -> None:
    command = [str(uv), "python", "install", "--quiet", version]
    try:
        said = subprocess.run(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=_FETCH_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotRun(f"Python {version} is not here, and uv can't fetch it: {error}") from None
    if said.returncode != 0:
        raise CannotRun(
            f"Python {version} is not here, and uv can't fetch it:\n{said.stderr.strip()}"
        )
