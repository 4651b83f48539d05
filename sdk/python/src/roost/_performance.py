"""How an agent's executions have gone: outcomes, durations, waits and memory over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ._values import parse_time

__all__ = [
    "AgentPerformance",
    "DurationPercentiles",
    "FirstRun",
    "PerformanceFigures",
    "PerformanceInterval",
]


@dataclass(frozen=True)
class DurationPercentiles:
    """The median, 95th and 99th percentile of a duration, in seconds."""

    p50: float
    p95: float
    p99: float


@dataclass(frozen=True)
class PerformanceFigures:
    """The numbers of Executions that ended, by state, and their durations.

    `duration` is the time from the claim until the end, `queued` the time before; each is None if
    there are none. `max_memory_bytes` is the highest peak of an Execution, None if none is known.
    """

    succeeded: int
    failed: int
    timed_out: int
    cancelled: int
    lost: int
    cold_starts: int
    duration: DurationPercentiles | None
    queued: DurationPercentiles | None
    max_memory_bytes: int | None


@dataclass(frozen=True)
class PerformanceInterval:
    """The Executions that ended in the interval from `start` on."""

    start: datetime
    figures: PerformanceFigures


@dataclass(frozen=True)
class FirstRun:
    """The first Execution of a revision."""

    revision: int
    started_at: datetime


@dataclass(frozen=True)
class AgentPerformance:
    """An agent's performance from `from_` to `to`.

    `total` is of all `intervals`, which have the length `interval`, oldest first. Not `complete`:
    only the latest 100,000 Executions are counted. `revisions` ran first in this time.
    """

    from_: datetime
    to: datetime
    interval: timedelta
    complete: bool
    total: PerformanceFigures
    intervals: Sequence[PerformanceInterval]
    revisions: Sequence[FirstRun]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> AgentPerformance:
        """Return the performance that is `data` in the API."""
        return cls(
            parse_time(data["from"]),
            parse_time(data["to"]),
            timedelta(seconds=data["interval_seconds"]),
            data["complete"],
            _figures(data["total"]),
            tuple(
                PerformanceInterval(parse_time(each["start"]), _figures(each["figures"]))
                for each in data["intervals"]
            ),
            tuple(
                FirstRun(each["revision"], parse_time(each["started_at"]))
                for each in data["revisions"]
            ),
        )


def _figures(data: Mapping[str, Any]) -> PerformanceFigures:
    return PerformanceFigures(
        data["succeeded"],
        data["failed"],
        data["timed_out"],
        data["cancelled"],
        data["lost"],
        data["cold_starts"],
        _percentiles(data["duration"]),
        _percentiles(data["queued"]),
        data["max_memory_bytes"],
    )


def _percentiles(data: Mapping[str, Any] | None) -> DurationPercentiles | None:
    return None if data is None else DurationPercentiles(data["p50"], data["p95"], data["p99"])
