"""The texts that an agent's settings are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["egress_text", "env_vars_text", "not_text", "requirements_text"]


def requirements_text(value: str | Sequence[str] | None) -> str:
    """Return the requirements as text with one a line."""
    if value is None or isinstance(value, str):
        return value or ""
    for line in value:
        if "\n" in line or "\r" in line:
            raise ValueError(f"requirements: {line!r} holds a line break; give one item a line")
    return "\n".join(value)


def egress_text(value: str | Sequence[str]) -> str:
    """Return what may be reached as text with one destination a line; no destination is "none"."""
    return value if isinstance(value, str) else "\n".join(value) or "none"


def env_vars_text(value: str | Mapping[str, str] | None) -> str:
    """Return the variables as text with a `KEY=VALUE` a line."""
    if value is None or isinstance(value, str):
        return value or ""
    for key, text in value.items():
        if not isinstance(key, str) or not isinstance(text, str):
            raise TypeError(f"env_vars: {key!r} and its value must be strings")
        if not key or any(character in key for character in "=\n\r"):
            raise ValueError(f"env_vars: {key!r} can't be the name of a variable")
        if "\n" in text or "\r" in text:  # the value is a secret: only its name is shown
            raise ValueError(f"env_vars: the value of {key!r} holds a line break, which can't be")
    return "\n".join(f"{key}={text}" for key, text in value.items())


def not_text(name: str, value: Any) -> list[Any]:
    """Return the value as a list, if it isn't one string."""
    if isinstance(value, str):
        raise TypeError(f"{name} must be a list, not one string")
    return list(value)
