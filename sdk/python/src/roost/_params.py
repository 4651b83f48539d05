"""Optional arguments as query parameters and settings."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

from ._values import format_time

__all__ = ["given", "without_none"]


def given(**filters: object) -> dict[str, str]:
    """Return the filters that aren't `None` as query parameters; lists are comma-separated."""
    return {name: _text(name, value) for name, value in filters.items() if value is not None}


def _text(name: str, value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        return format_time(name, value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(str(item) for item in cast("Sequence[object]", value))
    return str(value)


def without_none(**settings: Any | None) -> dict[str, Any]:
    """Return the settings that were given."""
    return {name: value for name, value in settings.items() if value is not None}
