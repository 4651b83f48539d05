"""Structured fields of resources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ._fields import known_fields
from ._states import ExecutorJobState
from ._values import parse_time


@dataclass(frozen=True)
class ErrorInfo:
    """The exception that ended a script; `line` and `column` count from 1, in the script."""

    type: str | None
    message: str | None
    traceback: str | None
    line: int | None
    column: int | None

    def __str__(self) -> str:
        return f"{self.type}: {self.message}" if self.message else str(self.type)


@dataclass(frozen=True)
class Timings:
    """Seconds spent queued, starting, and in the script; `None` for phases not reached."""

    queued: float | None
    starting: float | None
    running: float | None


@dataclass(frozen=True)
class Usage:
    """The resource usage of the script's processes."""

    cpu_seconds: float | None
    max_memory_bytes: int | None


@dataclass(frozen=True)
class Progress:
    """How far a script is: from 0 to 1, and what it does; `None` for what it hasn't said."""

    fraction: float | None
    message: str | None

    def __str__(self) -> str:
        parts = [] if self.fraction is None else [f"{self.fraction:.0%}"]
        return " ".join([*parts, self.message] if self.message else parts)


def progress_of(data: Any) -> Progress:
    return known_fields(Progress, data)  # type: ignore[no-any-return]


def error_of(data: Any) -> ErrorInfo:
    return known_fields(ErrorInfo, data)  # type: ignore[no-any-return]


def timings_of(data: Any) -> Timings:
    return known_fields(Timings, data)  # type: ignore[no-any-return]


def usage_of(data: Any) -> Usage:
    return known_fields(Usage, data)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Package:
    """A package installed in a Build, with its hash and the size of its files.

    `size_bytes` is `None` for Builds of earlier versions of Roost.
    """

    name: str
    version: str
    sha256: str | None
    size_bytes: int | None = None


def packages_of(data: Any) -> tuple[Package, ...]:
    return tuple(known_fields(Package, package) for package in data)


@dataclass(frozen=True)
class LastRun:
    """The latest run of a Schedule: its scheduled time, job and state."""

    scheduled_time: datetime
    executor_job_id: str
    state: ExecutorJobState | None


@dataclass(frozen=True)
class SchedulePreview:
    """A cron expression in words, and its next times."""

    description: str
    next: Sequence[datetime]

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> SchedulePreview:
        """Return the preview that is `data` in the API."""
        return cls(data["description"], tuple(parse_time(text) for text in data["next"]))


def last_run_of(data: Mapping[str, Any]) -> LastRun:
    time = parse_time(data["scheduled_time"])
    return LastRun(time, data["executor_job_id"], data.get("state"))


@dataclass(frozen=True)
class DeliveryAttempt:
    """One request to a webhook's URL.

    `status` is the HTTP status, `None` without a response; `message` says why it failed;
    `duration` is in seconds.
    """

    attempt: int
    started_at: datetime
    duration: float
    status: int | None
    message: str | None


def attempts_of(data: Any) -> tuple[DeliveryAttempt, ...]:
    return tuple(
        known_fields(DeliveryAttempt, {**item, "started_at": parse_time(item["started_at"])})
        for item in data
    )
