"""The results of actions on many agents or jobs, and the tags of agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ._fields import known_fields

__all__ = [
    "ActionError",
    "ActionResult",
    "ActionResults",
    "AgentAction",
    "AgentTag",
    "ExecutorJobAction",
]

AgentAction = Literal["run", "tag", "untag", "pause_schedules", "resume_schedules", "delete"]
"""What `client.agents.act` can do."""

ExecutorJobAction = Literal["cancel", "run_again"]
"""What `client.executor_jobs.act` can do."""


@dataclass(frozen=True)
class AgentTag:
    """A tag, and the number of agents that have exactly it."""

    tag: str
    agents: int

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> AgentTag:
        """Return the tag that is `data` in the API."""
        return known_fields(cls, data)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class ActionError:
    """Why an action failed: an error code of the API, and a message."""

    code: str
    detail: str

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> ActionError:
        """Return the error that is `data` in the API."""
        return known_fields(cls, data)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class ActionResult:
    """What an action has done to one agent or job; with `dry_run`, what it would do.

    `jobs` is the number of jobs that a deletion cancels, `schedule_ids` are the schedules that were
    paused or resumed, `executor_job_id` is the new job of a run; each is `None` otherwise. `error`
    is `None` if the action didn't fail; `name`, the agent's, if the agent doesn't exist.
    """

    id: str
    changed: bool
    name: str | None = None
    jobs: int | None = None
    schedule_ids: tuple[str, ...] | None = None
    executor_job_id: str | None = None
    error: ActionError | None = None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> ActionResult:
        """Return the result that is `data` in the API."""
        schedules, error = data.get("schedule_ids"), data.get("error")
        parts = {
            "schedule_ids": None if schedules is None else tuple(schedules),
            "error": None if error is None else ActionError.of(error),
        }
        return known_fields(cls, {**data, **parts})  # type: ignore[no-any-return]


@dataclass(frozen=True)
class ActionResults:
    """The results of one call, in the order of the call.

    `changed` is how many were changed, `failed` how many have an error.
    """

    results: tuple[ActionResult, ...]
    changed: int
    failed: int

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> ActionResults:
        """Return the results that are `data` in the API."""
        results = tuple(ActionResult.of(each) for each in data["results"])
        return cls(results, data["changed"], data["failed"])
