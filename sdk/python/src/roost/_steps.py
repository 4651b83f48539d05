"""Durable steps of ExecutorJobs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ._fields import known_fields
from ._states import StepState
from ._values import parse_time, parse_time_or_none

__all__ = ["Step", "StepFailure"]


@dataclass(frozen=True)
class StepFailure:
    """The exception of a step that failed."""

    type: str
    message: str
    traceback: str | None

    def __str__(self) -> str:
        return f"{self.type}: {self.message}" if self.message else self.type


@dataclass(frozen=True)
class Step:
    """A step that the script of a job has run with `request.step`, or a wait.

    `path` is its position in the script, after that of the step that it is part of ("2/1"); of
    several steps with the same path the last one counts. `result` is the JSON value that it
    returned, `None` if it failed with `error`. `attempts` counts the calls of its function;
    `duration` is in seconds. `kind` is step, sleep, call, event or approval. `until` is when a
    sleep ends, or a wait times out; `called_job_id` is the job of a call; `event_name` and
    `event_key` are of a wait for an event, `approval_id` of a wait for an approval. Each is `None`
    of others.
    """

    number: int
    path: str
    name: str
    execution_id: str
    state: StepState
    result: Any
    error: StepFailure | None
    attempts: int
    duration: float
    finished_at: datetime
    until: datetime | None = None
    kind: str = "step"
    called_job_id: str | None = None
    event_name: str | None = None
    event_key: str | None = None
    approval_id: str | None = None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Step:
        """Return the step that is `data` in the API."""
        error = data.get("error")
        return cls(
            data["number"],
            data["path"],
            data["name"],
            data["execution_id"],
            data["state"],
            data.get("result"),
            None if error is None else known_fields(StepFailure, error),
            data["attempts"],
            data["duration_seconds"],
            parse_time(data["finished_at"]),
            parse_time_or_none(data.get("until")),
            data.get("kind", "step"),
            data.get("called_job_id"),
            data.get("event_name"),
            data.get("event_key"),
            data.get("approval_id"),
        )
