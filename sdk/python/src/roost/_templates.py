"""Templates of agents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["AgentTemplate", "TemplateSchedule", "TemplateVariable"]


@dataclass(frozen=True)
class TemplateVariable:
    """An environment variable that a template reads; it fails without those that are `required`."""

    name: str
    description: str
    required: bool
    example: str


@dataclass(frozen=True)
class TemplateSchedule:
    """When a template suggests to run it: a cron expression, and the same in words."""

    cron: str
    reason: str


@dataclass(frozen=True)
class AgentTemplate:
    """A complete agent that a new one can begin with.

    `requirements` is a text with a line for each. `schedule` is `None` for an agent that is run on
    demand, `payload` an example.
    """

    name: str
    title: str
    summary: str
    description: str
    tags: tuple[str, ...]
    script: str
    requirements: str
    variables: tuple[TemplateVariable, ...]
    uses_store: bool
    payload: Any
    schedule: TemplateSchedule | None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> AgentTemplate:
        """Return the template that is `data` in the API."""
        variables = tuple(
            TemplateVariable(each["name"], each["description"], each["required"], each["example"])
            for each in data["variables"]
        )
        schedule = data["schedule"]
        return cls(
            data["name"],
            data["title"],
            data["summary"],
            data["description"],
            tuple(data["tags"]),
            data["script"],
            data["requirements"],
            variables,
            data["uses_store"],
            data["payload"],
            schedule and TemplateSchedule(schedule["cron"], schedule["reason"]),
        )
