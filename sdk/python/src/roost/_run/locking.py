"""Exact versions for requirements that allow several, found by uv.

Only `name==version` lines reach the server, so a revision and its lock are the same text.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from .failures import CannotLock
from .process_env import for_build

__all__ = ["export", "lock"]

_SECONDS = 600
_PLAIN = ("--quiet", "--no-header", "--no-annotate", "--color=never", "--no-python-downloads")


def lock(
    requirements: Sequence[str],
    preferred: Sequence[str],
    python_version: str,
    directory: Path,
    uv: Path,
    environment: Mapping[str, str],
) -> list[str]:
    """Return `name==version` lines for the requirements and all that they depend on.

    Versions of `preferred`, lines of the same form, are kept where the requirements allow them;
    what nothing requires any more is left out. The versions are for Linux on x86-64. `directory`:
    where uv looks for its settings, such as package indexes. Raises CannotLock.
    """
    # The server provides its own SDK, of its own version.
    own = [line for line in requirements if line.lower() == "roost"]
    asked = [line for line in requirements if line not in own]
    if not asked:
        return own
    with tempfile.TemporaryDirectory(prefix="roost-lock-") as work:
        wanted, locked = Path(work, "requirements.in"), Path(work, "requirements.txt")
        wanted.write_text("".join(f"{line}\n" for line in asked), encoding="utf-8")
        locked.write_text("".join(f"{line}\n" for line in preferred), encoding="utf-8")
        command = ["pip", "compile", *_PLAIN, f"--python-version={python_version}"]
        command += ["--python-platform=linux", f"--output-file={locked}", str(wanted)]
        _run(uv, command, directory, environment)
        lines = locked.read_text(encoding="utf-8").splitlines()
    return sorted([*own, *(line for line in lines if line)])


def export(project: Path, uv: Path, environment: Mapping[str, str]) -> list[str]:
    """Return the versions in the `uv.lock` of a project, one `name==version` line each.

    Raises CannotLock if the lock doesn't fit the project's `pyproject.toml`.
    """
    command = ["export", *_PLAIN, "--locked", "--no-hashes", "--no-emit-project", "--no-dev"]
    output = _run(uv, [*command, f"--project={project}"], project, environment)
    lines = (line.partition(";")[0].strip() for line in output.splitlines())
    return [line for line in lines if "==" in line]


def _run(uv: Path, command: Sequence[str], directory: Path, environment: Mapping[str, str]) -> str:
    try:
        result = subprocess.run(
            [str(uv), *command],
            cwd=directory,
            env=for_build(environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CannotLock(f"uv found no versions within {_SECONDS} s") from None
    except OSError as error:
        raise CannotLock(f"uv can't be started: {error}") from None
    if result.returncode != 0:
        raise CannotLock(result.stderr.strip() or f"uv ended with status {result.returncode}")
    return result.stdout
