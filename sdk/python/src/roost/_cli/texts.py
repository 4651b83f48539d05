"""Texts of the help."""

from __future__ import annotations

import textwrap

__all__ = ["examples"]


def examples(text: str) -> str:
    """Return the lines as the end of a command's help, as they are."""
    lines = textwrap.indent(textwrap.dedent(text).strip(), "  ")
    return f"\b\nExamples:\n{lines}"
