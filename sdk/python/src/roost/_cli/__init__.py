"""The command line."""

from __future__ import annotations

__all__ = ["main"]


def main() -> None:
    """Run the command that the arguments name, and exit with its status."""
    import roost

    from .root import root

    roost.progress = False  # commands show their own
    root(prog_name="roost")
