"""The entries of a DataStore."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, cast

from ._errors import ServerError
from ._http import httpx
from ._values import parse_time

__all__ = ["MAX_PAGE_SIZE", "Entry", "pairs_of", "version_of"]

MAX_PAGE_SIZE = 200


@dataclass(frozen=True)
class Entry:
    """A key with its value, its version, which increases with every change, and its expiry.

    `expires_at` is `None` for entries that never expire.
    """

    key: str
    value: Any
    version: int
    expires_at: datetime | None = None
    updated_at: datetime | None = None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Entry:
        """Return the entry that is `data` in the API."""
        expires_at, updated_at = data.get("expires_at"), data.get("updated_at")
        return cls(
            data["key"],
            data["value"],
            data["version"],
            None if expires_at is None else parse_time(expires_at),
            None if updated_at is None else parse_time(updated_at),
        )


def version_of(response: httpx.Response) -> int:
    """Return the version in a response's `ETag`."""
    tag = response.headers.get("ETag", "")
    match = re.fullmatch(r'(?:W/)?"?(\d+)[^"]*"?', tag)
    if match is None:
        raise ServerError(f"the response's ETag is not a version: {tag!r}")
    return int(match[1])


def pairs_of(other: Any, more: Mapping[str, Any]) -> Iterable[tuple[str, Any]]:
    """Return the pairs that `dict.update(other, **more)` would take."""
    pairs: Iterable[tuple[str, Any]]
    if isinstance(other, Mapping):
        pairs = cast("Mapping[str, Any]", other).items()
    elif hasattr(other, "keys"):
        pairs = ((key, other[key]) for key in other.keys())  # noqa: SIM118
    else:
        pairs = other
    return chain(pairs, more.items())
