"""Events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ._values import parse_time

__all__ = ["Event"]


@dataclass(frozen=True)
class Event:
    """A state change, for example of type "execution.succeeded".

    `id` is the position in the event log, for `events(after=…)`; `subject` is the id of the changed
    resource, `agent_id` its agent, or `None`; `data` has the resource's most important fields after
    the change, with times as text.
    """

    id: str
    type: str
    subject: str
    agent_id: str | None
    time: datetime
    data: Mapping[str, Any] = field(repr=False, compare=False)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Event:
        """Return the event that is `data` in the API."""
        return cls(
            data["id"],
            data["type"],
            data["subject"],
            data.get("agent_id"),
            parse_time(data["time"]),
            data.get("data") or {},
        )
