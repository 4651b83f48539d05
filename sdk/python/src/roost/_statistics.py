"""Statistics: executions per hour, and failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ._values import parse_time, parse_time_or_none

__all__ = [
    "ExecutorCounts",
    "FailedBuild",
    "Failure",
    "HourCounts",
    "LatestFailure",
    "Statistics",
]


@dataclass(frozen=True)
class HourCounts:
    """The numbers of Executions that ended in the hour from `hour` on, by state."""

    hour: datetime
    succeeded: int
    failed: int
    timed_out: int
    cancelled: int
    lost: int


@dataclass(frozen=True)
class ExecutorCounts:
    """The numbers of executors by state, and their limit.

    `pooled` executors are ready and wait for an agent that needs one.
    """

    starting: int
    idle: int
    working: int
    limit: int | None
    pooled: int = 0


@dataclass(frozen=True)
class LatestFailure:
    """The latest Execution that failed with a reason."""

    execution_id: str
    agent_id: str
    agent_name: str | None
    message: str | None
    finished_at: datetime | None


@dataclass(frozen=True)
class Failure:
    """A reason, with the numbers of failed Executions and of their agents."""

    reason: str | None
    count: int
    agents: int
    latest: LatestFailure


@dataclass(frozen=True)
class FailedBuild:
    """An agent whose newest build failed."""

    builder_job_id: str
    agent_id: str
    agent_name: str | None
    reason: str | None
    message: str | None
    finished_at: datetime | None


@dataclass(frozen=True)
class Statistics:
    """Statistics from `from_` to `to`, and current counts.

    `hours` has one item per hour, oldest first; `failures` most frequent first; `failed_builds`
    newest first. `running`, `queued` and `suspended` are current counts.
    """

    from_: datetime
    to: datetime
    hours: Sequence[HourCounts]
    running: int
    queued: int
    suspended: int
    executors: ExecutorCounts
    failures: Sequence[Failure]
    failed_builds: Sequence[FailedBuild]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Statistics:
        """Return the statistics that are `data` in the API."""
        executors = data["executors"]
        return cls(
            parse_time(data["from"]),
            parse_time(data["to"]),
            tuple(_hour(each) for each in data["hours"]),
            data["running"],
            data["queued"],
            data.get("suspended", 0),
            ExecutorCounts(
                executors["starting"],
                executors["idle"],
                executors["working"],
                executors.get("limit"),
                executors.get("pooled", 0),
            ),
            tuple(_failure(each) for each in data["failures"]),
            tuple(_failed_build(each) for each in data["failed_builds"]),
        )


def _hour(data: Mapping[str, Any]) -> HourCounts:
    return HourCounts(
        parse_time(data["hour"]),
        data["succeeded"],
        data["failed"],
        data["timed_out"],
        data["cancelled"],
        data["lost"],
    )


def _failure(data: Mapping[str, Any]) -> Failure:
    latest = data["latest"]
    return Failure(
        data["reason"],
        data["count"],
        data["agents"],
        LatestFailure(
            latest["execution_id"],
            latest["agent_id"],
            latest.get("agent_name"),
            latest.get("message"),
            parse_time_or_none(latest.get("finished_at")),
        ),
    )


def _failed_build(data: Mapping[str, Any]) -> FailedBuild:
    return FailedBuild(
        data["builder_job_id"],
        data["agent_id"],
        data.get("agent_name"),
        data.get("reason"),
        data.get("message"),
        parse_time_or_none(data.get("finished_at")),
    )
