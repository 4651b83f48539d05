"""Payloads that are saved for an agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ._values import parse_time

__all__ = ["SavedPayload"]


@dataclass(frozen=True)
class SavedPayload:
    """A payload with a name, to execute an agent with it again.

    `payload` is `None` in lists. `size_bytes` is the size of its JSON text.
    """

    name: str
    size_bytes: int
    payload: Any
    created_at: datetime
    updated_at: datetime

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> SavedPayload:
        """Return the saved payload that is `data` in the API."""
        return cls(
            data["name"],
            data["size_bytes"],
            data["payload"],
            parse_time(data["created_at"]),
            parse_time(data["updated_at"]),
        )
