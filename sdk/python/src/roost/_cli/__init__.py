"""The command line."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command that the arguments name, and exit with its status."""
    from .root import root

    root(prog_name="roost")
