"""Texts of the help."""

from __future__ import annotations

import textwrap

__all__ = ["examples"]


def examples(text: str) -> str:
    """Return the lines as the examples of a command's help."""
    lines = textwrap.indent(textwrap.dedent(text).strip(), "  ")
    return f"\b\nExamples:\n{lines}"
