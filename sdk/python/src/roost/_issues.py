"""Parts of issues."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ._fields import known_fields
from ._values import parse_time

__all__ = ["Culprit", "IssueHour", "IssueRevision", "Replay", "ReplayedJob"]


@dataclass(frozen=True)
class Culprit:
    """The innermost frame of the script at the latest failure."""

    file: str
    function: str | None
    line: int

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}"
        return f"{place} in {self.function}" if self.function else place


@dataclass(frozen=True)
class IssueHour:
    """The number of failures in the hour that begins at `hour`."""

    hour: datetime
    count: int

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> IssueHour:
        """Return the hour that is `data` in the API."""
        return cls(parse_time(data["hour"]), data["count"])


@dataclass(frozen=True)
class IssueRevision:
    """The failures of a revision of the agent."""

    revision: int
    count: int
    first_seen_at: datetime
    last_seen_at: datetime

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> IssueRevision:
        """Return the revision that is `data` in the API."""
        first, last = parse_time(data["first_seen_at"]), parse_time(data["last_seen_at"])
        return cls(data["revision"], data["count"], first, last)


@dataclass(frozen=True)
class ReplayedJob:
    """A job of an issue, and the job that runs it again; `None` in a preview."""

    executor_job_id: str
    replayed_as: str | None


@dataclass(frozen=True)
class Replay:
    """The result of running an issue's jobs again.

    `count` jobs were submitted, or would be if `preview`; they are in `jobs`, oldest first.
    `succeeded`, `pending` and `cancelled` count the jobs that were left out. `more` is true if the
    limit was reached. `batch_id` is `None` if no job was submitted.
    """

    preview: bool
    count: int
    succeeded: int
    pending: int
    cancelled: int
    more: bool
    batch_id: str | None
    jobs: tuple[ReplayedJob, ...]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Replay:
        """Return the result that is `data` in the API."""
        jobs = tuple(known_fields(ReplayedJob, job) for job in data["jobs"])
        return known_fields(cls, {**data, "jobs": jobs})  # type: ignore[no-any-return]
