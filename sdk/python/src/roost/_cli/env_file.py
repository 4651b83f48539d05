"""Environment variables of an agent: names that may be, and files that hold them."""

from __future__ import annotations

import re

__all__ = ["mistake_in_name", "parse_env_file"]

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def parse_env_file(text: str) -> tuple[dict[str, str], list[tuple[int, str]]]:
    """Return the variables of `KEY=VALUE` lines, and the mistakes with their lines.

    As the server reads an agent's `env_vars`: the value is all after the first `=`, quotes
    included; blank lines and those that start with `#` mean nothing. No message shows a value.
    """
    values: dict[str, str] = {}
    mistakes: list[tuple[int, str]] = []
    for number, line in enumerate(re.split(r"\r?\n", text), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, equals, value = line.partition("=")
        if not equals:
            mistakes.append((number, 'the line has no "=". Write KEY=VALUE'))
            continue
        mistake = mistake_in_name(name)
        if mistake is None and name in values:
            mistake = f"{name} is set twice. Keep one of the lines"
        if mistake is None:
            values[name] = value
        else:
            mistakes.append((number, mistake))
    return values, mistakes


def mistake_in_name(name: str) -> str | None:
    """Return why a variable can't have that name, or None."""
    if not _NAME.fullmatch(name):
        return f"{name!r} can't be a variable's name: letters, digits and _, no digit first"
    if name.startswith("ROOST_") and name not in ("ROOST_API_KEY", "ROOST_URL"):
        return f"{name}: names that start with ROOST_ are Roost's own"
    return None
