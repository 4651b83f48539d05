"""All that `roost` has to offer but for its settings; loaded when the first of it is asked for."""

from __future__ import annotations

from ._changes import ScheduleChanges, WebhookChanges
from ._details import DeliveryAttempt, ErrorInfo, LastRun, Package, SchedulePreview, Timings, Usage
from ._entries import Entry
from ._errors import (
    APIConnectionError,
    APITimeout,
    AuthenticationError,
    BuildFailed,
    Conflict,
    ExecutionFailed,
    FieldError,
    Gone,
    NotFound,
    PermissionDenied,
    PreconditionFailed,
    RateLimited,
    RoostError,
    ScriptError,
    ServerError,
    SignatureError,
    TooLarge,
    Unavailable,
    ValidationError,
)
from ._event import Event
from ._history import (
    Activity,
    AgentRevision,
    BuildFailure,
    ExecutionCounts,
    LatestBuilderJob,
    LatestExecution,
    LeftOutModule,
    Preloaded,
)
from ._issues import Culprit, IssueHour, IssueRevision, Replay, ReplayedJob
from ._log_entry import LogEntry
from ._page import Page
from ._rollouts import Advisory, Outdated, RolloutAgent, RolloutCounts
from ._runtime import Runtime
from ._server import LoginLink, ServerSetting
from ._states import (
    BuilderJobState,
    DeliveryState,
    ExecutionState,
    ExecutorJobState,
    IssueState,
    OutdatedReason,
    RolloutAgentState,
    RolloutState,
    ScheduleState,
    WaitingOn,
    WebhookState,
)
from ._statistics import (
    ExecutorCounts,
    FailedBuild,
    Failure,
    HourCounts,
    LatestFailure,
    Statistics,
)
from ._sync._agent import Agent
from ._sync._agent_settings import AgentChanges
from ._sync._batch import Batch
from ._sync._build import Build, BuilderJob
from ._sync._client import Client, statistics
from ._sync._data_store import DataStore
from ._sync._events import events
from ._sync._execution import Execution
from ._sync._executor_job import ExecutorJob
from ._sync._issue import Issue
from ._sync._keys import Key
from ._sync._pages import Paged
from ._sync._rollout import Rollout
from ._sync._schedule import Schedule
from ._sync._transaction import Transaction
from ._sync._webhook import Delivery, Webhook

__all__ = [
    # settings
    "Client",
    # what happens
    "events",
    "Event",
    # what the server says of itself
    "statistics",
    "ExecutorCounts",
    "FailedBuild",
    "Failure",
    "HourCounts",
    "LatestFailure",
    "LoginLink",
    "ServerSetting",
    "Statistics",
    # resources
    "Activity",
    "Advisory",
    "Agent",
    "AgentChanges",
    "AgentRevision",
    "Batch",
    "Build",
    "BuildFailure",
    "BuilderJob",
    "Culprit",
    "DataStore",
    "Delivery",
    "DeliveryAttempt",
    "Entry",
    "ErrorInfo",
    "Execution",
    "ExecutionCounts",
    "ExecutorJob",
    "Issue",
    "IssueHour",
    "IssueRevision",
    "Key",
    "LastRun",
    "LatestBuilderJob",
    "LatestExecution",
    "LeftOutModule",
    "LogEntry",
    "Outdated",
    "Package",
    "Preloaded",
    "Replay",
    "ReplayedJob",
    "Rollout",
    "RolloutAgent",
    "RolloutCounts",
    "Runtime",
    "Schedule",
    "ScheduleChanges",
    "SchedulePreview",
    "Timings",
    "Transaction",
    "Usage",
    "Webhook",
    "WebhookChanges",
    # lists
    "Page",
    "Paged",
    # states
    "BuilderJobState",
    "DeliveryState",
    "ExecutionState",
    "ExecutorJobState",
    "IssueState",
    "OutdatedReason",
    "RolloutAgentState",
    "RolloutState",
    "ScheduleState",
    "WaitingOn",
    "WebhookState",
    # errors
    "RoostError",
    "APIConnectionError",
    "APITimeout",
    "AuthenticationError",
    "BuildFailed",
    "Conflict",
    "ExecutionFailed",
    "FieldError",
    "Gone",
    "NotFound",
    "PermissionDenied",
    "PreconditionFailed",
    "RateLimited",
    "ScriptError",
    "ServerError",
    "SignatureError",
    "TooLarge",
    "Unavailable",
    "ValidationError",
]

for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = "roost"  # what tracebacks and help() show
