"""Versions for an agent's requirements, where its files leave a choice."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .failures import FAILED, Failure
from .files import read_text
from .header import parse_toml
from .mistakes import Mistakes
from .requirements import is_pinned
from .settings_file import items_of, table_of

if TYPE_CHECKING:
    from .project import AgentFile

__all__ = ["locked", "locked_here"]

_UV_LOCK, _PYLOCK = "uv.lock", "pylock.toml"


def locked(
    file: AgentFile, present: Sequence[str], python_version: str, upgrade: bool = False
) -> list[str]:
    """Return `name==version` lines for the agent's requirements.

    These are its own lines if all have one version and its project has no lock. Otherwise they are
    those of `uv.lock` or `pylock.toml` beside its `pyproject.toml`; without one, uv finds the
    newest that fit, and with `upgrade` false keeps those of `present`, the lines of an earlier
    call. Raises `Failure`.
    """
    from .._run.failures import CannotLock
    from .._run.locking import export, lock

    lock_file = _lock_file(file)
    if _is_exact(file):
        return list(file.requirements)
    if lock_file is not None and upgrade:
        raise Failure(
            f"{lock_file} has the versions of {file.name}.",
            hint="Renew it, for example with `uv lock --upgrade`, and deploy without --upgrade.",
        )
    uv = _uv()
    directory = file.directory or file.script.parent
    preferred: Sequence[str] = [] if upgrade else present
    try:
        if lock_file is not None and lock_file.name == _UV_LOCK:
            preferred = export(directory, uv, os.environ)
        elif lock_file is not None:
            preferred = _pins_of(lock_file)
        return lock(file.requirements, preferred, python_version, directory, uv, os.environ)
    except CannotLock as error:
        raise Failure(
            f"The versions of {file.name}'s requirements can't be found: {error}", FAILED
        ) from None


def locked_here(file: AgentFile, python_version: str, upgrade: bool = False) -> list[str]:
    """Return the same for runs on this machine, which keep the versions of the first one.

    They are in a file of the cache for the same requirements, lock and Python version.
    """
    from .._run.builds import cache_directory

    if _is_exact(file):
        return list(file.requirements)
    lock_file = _lock_file(file)
    whole = [python_version, *sorted(file.requirements), read_text(lock_file) if lock_file else ""]
    digest = hashlib.sha256("\n".join(whole).encode()).hexdigest()
    place = cache_directory(os.environ) / "locks" / f"{digest[:20]}.txt"
    if place.is_file() and not upgrade:
        return place.read_text(encoding="utf-8").splitlines()
    lines = locked(file, (), python_version, upgrade)
    place.parent.mkdir(parents=True, exist_ok=True)
    draft = place.with_name(f".{os.getpid()}-{place.name}")
    draft.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    draft.replace(place)
    return lines


def _is_exact(file: AgentFile) -> bool:
    """Return whether there is nothing to choose."""
    return _lock_file(file) is None and all(is_pinned(line) for line in file.requirements)


def _lock_file(file: AgentFile) -> Path | None:
    """Return the lock of the agent's project, if there is one."""
    if file.directory is None:
        return None
    for name in (_UV_LOCK, _PYLOCK):
        if (file.directory / name).is_file():
            return file.directory / name
    return None


def _pins_of(lock_file: Path) -> list[str]:
    """Return the packages of a `pylock.toml` (PEP 751) that have a version."""
    mistakes = Mistakes(lock_file)
    values = parse_toml(read_text(lock_file), mistakes) or {}
    mistakes.raise_any()
    tables = [table_of(each) for each in items_of(values.get("packages"))]
    return [f"{each['name']}=={each['version']}" for each in tables if "version" in each]


def _uv() -> Path:
    """Return uv, downloaded if it is missing."""
    from .._run.builds import fetch_uv, find_uv
    from .._run.failures import CannotRun
    from .progress import Progress

    uv = find_uv(os.environ)
    if uv is not None:
        return uv
    with Progress() as progress:
        progress.say("Downloading uv, which finds the versions of packages")
        try:
            return fetch_uv(os.environ)
        except CannotRun as error:
            raise Failure(str(error), FAILED) from None
