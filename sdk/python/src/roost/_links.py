"""Links that work without a key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from ._values import parse_time

__all__ = ["ApprovalLink", "FileLink"]

_Link = TypeVar("_Link", bound="Link")


@dataclass(frozen=True)
class Link:
    """A URL that works without a key, until `expires_at`."""

    url: str = field(repr=False)
    expires_at: datetime

    @classmethod
    def of(cls: type[_Link], data: Mapping[str, Any], base_url: str) -> _Link:
        """Return the link that is `data` in the API of that server, with its whole URL."""
        url = data["url"]
        return cls(base_url + url if url.startswith("/") else url, parse_time(data["expires_at"]))


@dataclass(frozen=True)
class ApprovalLink(Link):
    """A URL where an approval is shown and decided without a key, until `expires_at`."""


@dataclass(frozen=True)
class FileLink(Link):
    """A URL that downloads a file without a key, until `expires_at`."""
