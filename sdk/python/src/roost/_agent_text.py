"""Settings of an agent as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Union, cast

__all__ = [
    "Schema",
    "egress_text",
    "env_vars_text",
    "not_text",
    "requirements_text",
    "schema_json",
]

# A JSON Schema, or a class that has one, as pydantic's models do.
Schema = Union[Mapping[str, Any], type[Any]]


def requirements_text(value: str | Sequence[str] | None) -> str:
    """Return the requirements as text, one per line."""
    if value is None or isinstance(value, str):
        return value or ""
    for line in value:
        if "\n" in line or "\r" in line:
            raise ValueError(f"requirements: {line!r} contains a line break; use one item per line")
    return "\n".join(value)


def egress_text(value: str | Sequence[str]) -> str:
    """Return the destinations as text, one per line; no destination is "none"."""
    return value if isinstance(value, str) else "\n".join(value) or "none"


def env_vars_text(value: str | Mapping[str, str] | None) -> str:
    """Return the variables as text, one `KEY=VALUE` per line."""
    if value is None or isinstance(value, str):
        return value or ""
    for key, text in value.items():
        if not isinstance(key, str) or not isinstance(text, str):
            raise TypeError(f"env_vars: {key!r} and its value must be strings")
        if not key or any(character in key for character in "=\n\r"):
            raise ValueError(f"env_vars: {key!r} is not a valid variable name")
        if "\n" in text or "\r" in text:  # the value is a secret: only its name is shown
            raise ValueError(f"env_vars: the value of {key!r} contains a line break")
    return "\n".join(f"{key}={text}" for key, text in value.items())


def schema_json(value: Any) -> Mapping[str, Any] | None:
    """Return the JSON Schema of a `Schema`. TypeError for anything else."""
    if value is None or isinstance(value, Mapping):
        return cast("Mapping[str, Any] | None", value)
    written = getattr(value, "model_json_schema", None)
    if written is None:
        raise TypeError(f"a schema is a dict, or a class with model_json_schema, not {value!r}")
    schema: Mapping[str, Any] = written()
    return schema


def not_text(name: str, value: Any) -> list[Any]:
    """Return the value as a list; TypeError for a string."""
    if isinstance(value, str):
        raise TypeError(f"{name} must be a list, not one string")
    return list(value)
