"""Starts the builder: `python -I -B -m roost_builder …`, or the same with this directory's path. See ``command``."""

import os
import sys
from typing import Optional

if not __package__:
    # Started by path: the parent directory makes the package importable. It comes last on the path and this one is
    # removed, so that neither hides a module of Python's own.
    own_directory = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry) != own_directory]
    sys.path.append(os.path.dirname(own_directory))


def main(arguments: Optional[list[str]] = None) -> int:
    """Builds or pushes and returns the exit status."""
    from roost_builder import command

    return command.main(arguments)


if __name__ == "__main__":
    sys.exit(main())
