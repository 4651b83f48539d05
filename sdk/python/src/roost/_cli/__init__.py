"""The command line."""

from __future__ import annotations

import sys

__all__ = ["main"]

_MISSING = "roost: the command line requires extra packages: pip install 'roost[cli]'"


def main() -> None:
    """Run the command that the arguments name, and exit with its status."""
    import roost

    if not _is_complete():
        print(_MISSING, file=sys.stderr)
        sys.exit(2)
    from .root import root

    roost.progress = False  # commands show their own progress
    root(prog_name="roost")


def _is_complete() -> bool:
    """Return whether the packages of the extra `cli` are installed."""
    from importlib.util import find_spec

    return all(find_spec(name) is not None for name in ("click", "rich"))
