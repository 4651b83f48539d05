"""A command's flags, which override an agent's files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .env_file import mistake_in_name
from .failures import Failure
from .files import read_env_file, read_requirements

if TYPE_CHECKING:
    from .project import AgentFile

__all__ = ["with_flags"]


def with_flags(
    file: AgentFile,
    *,
    name: str | None = None,
    python: str | None = None,
    requirements: Path | None = None,
    env: Sequence[str] = (),
    env_file: Path | None = None,
    stores: Sequence[str] = (),
    tags: Sequence[str] = (),
) -> AgentFile:
    """Return the agent with the given settings, which override its files.

    Variables are merged with those of the files, and take precedence.
    """
    changes: dict[str, Any] = {}
    if name is not None:
        changes["name"] = name
    if python is not None:
        changes["python_version"] = python
    if requirements is not None:
        changes["requirements"] = tuple(read_requirements(requirements))
        changes["files"] = (*file.files, requirements)
    variables = {**(read_env_file(env_file) if env_file else {}), **_variables(env)}
    if variables:
        changes["env_vars"] = {**file.env_vars, **variables}
    if stores:
        changes["stores"] = tuple(stores)
    if tags:
        changes["settings"] = {**file.settings, "tags": sorted(set(tags))}
    return replace(file, **changes)


def _variables(pairs: Sequence[str]) -> dict[str, str]:
    """Return the variables of `--env KEY=VALUE` options."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        wrong = mistake_in_name(name) if equals else "write KEY=VALUE"
        if wrong:
            raise Failure(f"--env: {wrong}.")
        found[name] = value
    return found
