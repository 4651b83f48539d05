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
_PRINT_VERSION = "import sys; print(sys.implementation.name, '%d.%d.%d' % sys.version_info[:3])"
_VERSION_SECONDS = 30
_DOWNLOAD_SECONDS = 600


@dataclass(frozen=True)
class Interpreter:
    """`version` is complete, such as "3.13.1"; `path` has no symbolic links."""

    version: str
    path: Path


def versions(environment: Mapping[str, str]) -> list[str]:
    """Return the minor versions that seem to be installed, oldest first; starts none."""
    return [version for version in SUPPORTED if any(_candidates(version, environment))]


def find(version: str, uv: Path, environment: Mapping[str, str]) -> Interpreter:
    """Return the interpreter of a minor version; uv downloads a missing one."""
    if version not in SUPPORTED:
        raise CannotRun(
            f"Roost doesn't support Python {version}; supported versions: {', '.join(SUPPORTED)}"
        )
    found = installed(version, environment)
    if found is None:
        _fetch(version, uv, environment)
        found = installed(version, environment)
    if found is None:
        raise CannotRun(f"Python {version} was not found. Install it and add it to the PATH")
    return found


def installed(version: str, environment: Mapping[str, str]) -> Interpreter | None:
    """Return the interpreter of a minor version, if installed."""
    for candidate in _candidates(version, environment):
        path = candidate.resolve()
        try:
            output = subprocess.run(
                [str(path), "-I", "-S", "-c", _PRINT_VERSION],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                timeout=_VERSION_SECONDS,
                check=False,
            ).stdout.split()
        except (OSError, subprocess.TimeoutExpired):
            continue
        if len(output) == 2 and output[0] == "cpython" and output[1].startswith(f"{version}."):
            return Interpreter(output[1], path)
    return None


def _candidates(version: str, environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield paths that may be this version, the most likely first."""
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
        # pyenv's shims run the currently selected version, or none.
        if directory_name and candidate.parent != pyenv / "shims" and candidate.exists():
            yield candidate


def _newest_first(paths: Iterator[Path]) -> list[Path]:
    def release(path: Path) -> list[int]:
        return [int(number) for number in re.findall(r"\d+", path.parent.parent.name)]

    return sorted(paths, key=release, reverse=True)


def _fetch(version: str, uv: Path, environment: Mapping[str, str]) -> None:
    command = [str(uv), "python", "install", "--quiet", version]
    try:
        output = subprocess.run(
            command,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=_DOWNLOAD_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotRun(
            f"Python {version} was not found, and uv can't download it: {error}"
        ) from None
    if output.returncode != 0:
        raise CannotRun(
            f"Python {version} was not found, and uv can't download it:\n{output.stderr.strip()}"
        )
