"""Parts of rollouts, and the reasons for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ._fields import known_fields
from ._states import OutdatedReason, RolloutAgentState
from ._values import parse_time

__all__ = ["Advisory", "Outdated", "RolloutAgent", "RolloutCounts"]


@dataclass(frozen=True)
class Advisory:
    """A known vulnerability of a base image, from the operator's list."""

    id: str
    severity: str | None = None
    summary: str | None = None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Advisory:
        """Return the advisory that is `data` in the API."""
        return known_fields(cls, data)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Outdated:
    """How an agent's Build differs from a Build created now.

    `reasons` are "base", "sdk" or both. `base` is the Build's base, an image or an interpreter;
    `None` for Builds of earlier versions of Roost. `fixes` are listed advisories of that base that
    the current base doesn't have.
    """

    reasons: tuple[OutdatedReason, ...]
    base: str | None
    current_base: str
    fixes: tuple[Advisory, ...] = ()

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Outdated:
        """Return the difference that is `data` in the API."""
        fixes = tuple(Advisory.of(fix) for fix in data.get("fixes") or ())
        return cls(tuple(data["reasons"]), data.get("base"), data["current_base"], fixes)


@dataclass(frozen=True)
class RolloutCounts:
    """The numbers of a rollout's agents by state."""

    total: int
    queued: int
    building: int
    updated: int
    failed: int
    skipped: int
    undone: int

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> RolloutCounts:
        """Return the counts that are `data` in the API."""
        return known_fields(cls, data)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class RolloutAgent:
    """An agent of a rollout, with its state.

    `state` is queued, building, updated, failed, skipped or undone; `message` says why it failed
    or was skipped. `from_builder_job_id` is the previous BuilderJob, `to_builder_job_id` the new
    one, if any.
    """

    agent_id: str
    agent_name: str
    state: RolloutAgentState
    from_builder_job_id: str
    to_builder_job_id: str | None
    message: str | None
    updated_at: datetime

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> RolloutAgent:
        """Return the agent that is `data` in the API."""
        return known_fields(cls, {**data, "updated_at": parse_time(data["updated_at"])})  # type: ignore[no-any-return]
