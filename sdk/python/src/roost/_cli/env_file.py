"""Environment variables of an agent: valid names, and files of variables."""

from __future__ import annotations

import re

__all__ = ["mistake_in_name", "parse_env_file"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def parse_env_file(text: str) -> tuple[dict[str, str], list[tuple[int, str]]]:
    """Return the variables of `KEY=VALUE` lines, and the mistakes with their line numbers.

    Same syntax as an agent's `env_vars`: the value is everything after the first `=`, including
    quotes; blank lines and lines that start with `#` are ignored. No message shows a value.
    """
    values: dict[str, str] = {}
    mistakes: list[tuple[int, str]] = []
    for number, line in enumerate(re.split(r"\r?\n", text), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals:
            mistakes.append((number, 'the line has no "="; write KEY=VALUE'))
            continue
        mistake = mistake_in_name(name)
        if mistake is None and name in values:
            mistake = f"{name} is set twice; keep one of the lines"
        if mistake is None:
            values[name] = value
        else:
            mistakes.append((number, mistake))
    return values, mistakes


def mistake_in_name(name: str) -> str | None:
    """Return why the name is invalid, or None."""
    if not _NAME.fullmatch(name):
        return f"{name!r} is not a valid name: use letters, digits and _, with no leading digit"
    if name.startswith("ROOST_") and name not in ("ROOST_API_KEY", "ROOST_URL"):
        return f"{name}: names that begin with ROOST_ are reserved"
    return None
