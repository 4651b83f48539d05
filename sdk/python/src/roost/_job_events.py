"""Events that scripts wait for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ._values import parse_time, parse_time_or_none

__all__ = ["JobEvent"]


@dataclass(frozen=True)
class JobEvent:
    """An event that was sent to scripts, of which one wait receives it.

    `executor_job_id` is the job that it was sent to, or that has received it: `None` of one with a
    `key` that no script has received. `data` is what `request.wait_for_event` returns. It is
    removed at `expires_at`.
    """

    id: str
    name: str
    key: str | None
    data: Any
    executor_job_id: str | None
    received_at: datetime | None
    created_at: datetime
    expires_at: datetime

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> JobEvent:
        """Return the event of a response."""
        return cls(
            data["id"],
            data["name"],
            data.get("key"),
            data.get("data"),
            data.get("executor_job_id"),
            parse_time_or_none(data.get("received_at")),
            parse_time(data["created_at"]),
            parse_time(data["expires_at"]),
        )
