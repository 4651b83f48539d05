"""Parts of notification channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ._fields import known_fields

__all__ = ["QuietTime", "quiet_times_body", "quiet_times_of"]

Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


@dataclass(frozen=True)
class QuietTime:
    """When a channel sends nothing: from `start` to `end`, each HH:MM, beginning on these days.

    An `end` that isn't later than `start` is on the next day.
    """

    days: Sequence[Day]
    start: str
    end: str


def quiet_times_of(data: Any) -> tuple[QuietTime, ...]:
    return tuple(
        known_fields(QuietTime, {"days": each["days"], "start": each["from"], "end": each["to"]})
        for each in data
    )


def quiet_times_body(times: Sequence[QuietTime | Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the JSON for quiet times; mappings with days, from and to stay as they are."""
    return [dict(each) if isinstance(each, Mapping) else _body(each) for each in times]


def _body(time: QuietTime) -> dict[str, Any]:
    data = asdict(time)
    return {"days": list(data["days"]), "from": data["start"], "to": data["end"]}
