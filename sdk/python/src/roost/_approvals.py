"""Links of approvals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ._values import parse_time

__all__ = ["ApprovalLink"]


@dataclass(frozen=True)
class ApprovalLink:
    """A URL where an approval is shown and decided without a key, until `expires_at`."""

    url: str = field(repr=False)
    expires_at: datetime

    @classmethod
    def of(cls, data: Mapping[str, Any], base_url: str) -> ApprovalLink:
        """Return the link that is `data` in the API of that server, with its whole URL."""
        url = data["url"]
        return cls(base_url + url if url.startswith("/") else url, parse_time(data["expires_at"]))
