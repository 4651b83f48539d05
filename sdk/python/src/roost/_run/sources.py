"""Paths of the executor and the builder: in the wheel, or in Roost's source tree."""

from __future__ import annotations

from pathlib import Path

__all__ = ["program"]

_IN_WHEEL = Path(__file__).parent.parent / "_executor"
_PARENTS_TO_ROOT = 5  # sdk/python/src/roost/_run


def program(name: str) -> Path:
    """Return the directory of the package `roost_executor` or `roost_builder`."""
    places = [_IN_WHEEL]
    parents = Path(__file__).resolve().parents
    if len(parents) > _PARENTS_TO_ROOT:
        places.append(parents[_PARENTS_TO_ROOT] / "src/main/python")
    for place in places:
        if (place / name / "__main__.py").is_file():
            return place / name
    raise FileNotFoundError(f"this installation of roost has no {name}; reinstall roost")
