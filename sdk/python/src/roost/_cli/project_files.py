"""The files of an agent's project, with errors for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._project_files import ProjectFile, ProjectFilesError, select
from .mistakes import ProjectError

if TYPE_CHECKING:
    from .._bundles import Scan
    from .project import AgentFile

__all__ = ["scanned", "selected"]


def selected(agent: AgentFile) -> list[ProjectFile]:
    """Return the files of the agent's project; none without one. Raises `ProjectError`."""
    if agent.directory is None:
        return []
    try:
        files = select(agent.directory)
    except ProjectFilesError as error:
        raise ProjectError(f"{agent.directory}: {error}") from None
    if all(file.path != agent.script_path for file in files):
        raise ProjectError(
            f"{agent.script} is ignored, so it would not be sent: Git, .gitignore or .roostignore "
            "leaves it out"
        )
    return files


def scanned(agent: AgentFile) -> Scan | None:
    """Read the files of the agent's project; None without one. Raises `ProjectError`."""
    if agent.directory is None:
        return None
    from .._bundles import read

    return read(selected(agent))
