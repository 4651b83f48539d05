"""Puts the executor and the builder into the package: `roost run` starts the same as a server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROGRAMS = ("roost_executor", "roost_builder")


class CustomBuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Takes them from Roost's source tree, or from where the source distribution has them."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name what belongs into the wheel, or into the source distribution."""
        if version == "editable":
            return  # found in the source tree
        distributed = Path(self.root, "executor")
        source = distributed if distributed.is_dir() else Path(self.root, "../../src/main/python")
        target = "executor" if self.target_name == "sdist" else "roost/_executor"
        for program in PROGRAMS:
            directory = (source / program).resolve()
            if not (directory / "__main__.py").is_file():
                raise FileNotFoundError(f"{directory} is not there; build in Roost's source tree")
            for file in sorted(directory.rglob("*.py")):
                inside = file.relative_to(directory).as_posix()
                build_data["force_include"][str(file)] = f"{target}/{program}/{inside}"
