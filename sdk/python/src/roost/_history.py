"""Revisions and activity of agents."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ._states import BuilderJobState, ExecutionState
from ._values import parse_time, parse_time_or_none

__all__ = [
    "Activity",
    "AgentRevision",
    "BuildFailure",
    "ExecutionCounts",
    "LatestBuilderJob",
    "LatestExecution",
    "LeftOutModule",
    "Preloaded",
    "env_vars_of",
]


@dataclass(frozen=True)
class AgentRevision:
    """A revision of an agent: its script, dependencies and variables.

    `bundle_id` and `script_path` are set if it is a project, as of `Agent`.

    The values of `env_vars` are hidden from keys without the role write, as in `Agent`; `build_id`
    is `None` if the dependencies of this revision were never built.
    """

    agent_id: str
    revision: int
    script: str = field(repr=False)
    requirements: str = field(repr=False)
    env_vars: Mapping[str, str] | None = field(repr=False)
    python_version: str
    builder_job_id: str | None
    build_id: str | None
    created_at: datetime
    profile: str | None = None
    egress: str = "all"
    preload: str = "auto"
    input_schema: Mapping[str, Any] | None = field(default=None, repr=False)
    output_schema: Mapping[str, Any] | None = field(default=None, repr=False)
    bundle_id: str | None = None
    script_path: str | None = None
    hinted_input_schema: Mapping[str, Any] | None = field(default=None, repr=False)
    hinted_output_schema: Mapping[str, Any] | None = field(default=None, repr=False)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> AgentRevision:
        """Return the revision that is `data` in the API."""
        env_vars = data.get("env_vars")
        return cls(
            data["agent_id"],
            data["revision"],
            data["script"],
            data["requirements"],
            None if env_vars is None else env_vars_of(env_vars),
            data["python_version"],
            data.get("builder_job_id"),
            data.get("build_id"),
            parse_time(data["created_at"]),
            data.get("profile"),
            data.get("egress", "all"),
            data.get("preload", "auto"),
            data.get("input_schema"),
            data.get("output_schema"),
            data.get("bundle_id"),
            data.get("script_path"),
            data.get("hinted_input_schema"),
            data.get("hinted_output_schema"),
        )


@dataclass(frozen=True)
class BuildFailure:
    """Why the newest revision of an agent could not be built.

    `reason` is a code, `message` a sentence. The BuilderJob has the log.
    """

    revision: int
    builder_job_id: str
    reason: str | None
    message: str | None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> BuildFailure:
        """Return the failure that is `data` in the API."""
        return cls(data["revision"], data["builder_job_id"], data["reason"], data["message"])


@dataclass(frozen=True)
class LeftOutModule:
    """A module that each execution imports itself, and the reason as a sentence."""

    module: str
    reason: str


@dataclass(frozen=True)
class Preloaded:
    """What executors of an agent's revision import once, for all executions.

    `modules` is their number, `packages` has their top-level names. `import_seconds` is what each
    execution saves, `memory_bytes` what each executor uses for it. `left_out` has at most 200
    modules.
    """

    revision: int
    modules: int
    packages: Sequence[str]
    import_seconds: float
    memory_bytes: int
    left_out: Sequence[LeftOutModule]
    updated_at: datetime

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Preloaded:
        """Return what `data` is in the API."""
        return cls(
            data["revision"],
            data["modules"],
            tuple(data["packages"]),
            data["import_seconds"],
            data["memory_bytes"],
            tuple(LeftOutModule(each["module"], each["reason"]) for each in data["left_out"]),
            parse_time(data["updated_at"]),
        )


@dataclass(frozen=True)
class LatestBuilderJob:
    """The newest BuilderJob of an agent."""

    id: str
    state: BuilderJobState
    reason: str | None


@dataclass(frozen=True)
class LatestExecution:
    """The newest Execution of an agent."""

    id: str
    state: ExecutionState
    reason: str | None
    started_at: datetime | None
    finished_at: datetime | None


@dataclass(frozen=True)
class ExecutionCounts:
    """The numbers of Executions that succeeded, and that failed, timed out or were lost."""

    succeeded: int
    failed: int


@dataclass(frozen=True)
class Activity:
    """An agent's activity: its `running` and `queued` jobs, last and next runs.

    `executions_7d` counts Executions that ended in the last seven days.
    """

    builder_job: LatestBuilderJob | None
    last_execution: LatestExecution | None
    next_run_at: datetime | None
    running: int
    queued: int
    executions_7d: ExecutionCounts

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Activity:
        """Return the activity that is `data` in the API."""
        job, last, counts = data["builder_job"], data["last_execution"], data["executions_7d"]
        return cls(
            None if job is None else LatestBuilderJob(job["id"], job["state"], job["reason"]),
            None
            if last is None
            else LatestExecution(
                last["id"],
                last["state"],
                last["reason"],
                parse_time_or_none(last["started_at"]),
                parse_time_or_none(last["finished_at"]),
            ),
            parse_time_or_none(data["next_run_at"]),
            data["running"],
            data["queued"],
            ExecutionCounts(counts["succeeded"], counts["failed"]),
        )


def env_vars_of(text: str) -> dict[str, str]:
    """Return the variables of the API's `KEY=VALUE` lines."""
    lines = (line for line in re.split(r"\r?\n", text) if not line.startswith("#"))
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {key: value for key, _, value in pairs}
