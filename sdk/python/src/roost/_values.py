"""Conversion of values: JSON, times, and omitted arguments."""

from __future__ import annotations

import enum
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any, cast

__all__ = [
    "NOT_GIVEN",
    "NotGiven",
    "dump_json",
    "format_time",
    "parse_json",
    "parse_time",
    "parse_time_or_none",
]


class NotGiven(enum.Enum):
    """The type of `NOT_GIVEN`, the default of omitted arguments."""

    NOT_GIVEN = "not given"

    def __repr__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN = NotGiven.NOT_GIVEN


def dump_json(value: Any, what: str) -> bytes:
    """Return `value` as JSON text.

    Raises `TypeError` or `ValueError`, beginning with `what`, for values that JSON doesn't support:
    unknown types, cycles, `NaN` and infinities, and values nested too deeply for Python's `json`.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        try:
            return text.encode()
        except UnicodeEncodeError:  # a lone surrogate, which JSON can only escape
            return json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
    except TypeError as error:
        raise TypeError(f"{what}{_path_to_unknown(value)}: {error}") from None
    except ValueError as error:
        raise ValueError(f"{what}: {error}") from None
    except RecursionError:
        raise ValueError(f"{what}: nested too deeply") from None


def _path_to_unknown(value: Any) -> str:
    """Return the path of the first unsupported item in `value`, such as `["at"][0]`."""
    inside: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        inside = cast("Mapping[Any, Any]", value).items()
    elif isinstance(value, (list, tuple)):
        inside = enumerate(cast("Sequence[Any]", value))
    for key, item in inside:
        try:
            json.dumps({key: item})
        except TypeError:
            return f"[{json.dumps(key, default=repr)}]{_path_to_unknown(item)}"
    return ""


def parse_json(text: bytes) -> Any:
    """Return the value of JSON text in UTF-8; integers are exact at any size."""
    return json.loads(text.decode())


_FRACTION = re.compile(r"\.(\d+)")


def parse_time(text: str) -> datetime:
    """Return an RFC 3339 time as an aware `datetime`; truncated to microseconds."""
    if text.endswith(("Z", "z")):
        text = text[:-1] + "+00:00"
    try:
        return datetime.fromisoformat(text)
    except ValueError:  # Python 3.9 and 3.10 accept only three or six digits
        return datetime.fromisoformat(
            _FRACTION.sub(lambda match: "." + match.group(1)[:6].ljust(6, "0"), text)
        )


def parse_time_or_none(text: str | None) -> datetime | None:
    """Return a time, or None for None."""
    return None if text is None else parse_time(text)


def format_time(name: str, value: datetime) -> str:
    """Return a time for the API; ValueError without a time zone."""
    if value.utcoffset() is None:
        raise ValueError(f"{name} requires a time zone: {value.isoformat()} has none")
    return value.astimezone(timezone.utc).isoformat()
