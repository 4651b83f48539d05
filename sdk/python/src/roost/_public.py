"""All that `roost` has to offer but for its settings; loaded when the first of it is asked for."""

from __future__ import annotations

from ._actions import ActionError, ActionResult, ActionResults, AgentTag
from ._agent_url import AgentUrl
from ._bundles import BundleFile
from ._changes import NotificationChannelChanges, ScheduleChanges, ViewChanges, WebhookChanges
from ._details import (
    DeliveryAttempt,
    ErrorInfo,
    LastRun,
    Package,
    Progress,
    SchedulePreview,
    Timings,
    Usage,
)
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
    StreamRestarted,
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
from ._job_events import JobEvent
from ._links import ApprovalLink, FileLink
from ._log_entry import LogEntry
from ._notifications import QuietTime
from ._page import Page
from ._performance import (
    AgentPerformance,
    DurationPercentiles,
    FirstRun,
    PerformanceFigures,
    PerformanceInterval,
)
from ._request import Request
from ._rollouts import Advisory, Outdated, RolloutAgent, RolloutCounts
from ._runtime import Runtime
from ._saved_payloads import SavedPayload
from ._search import SearchFragment, SearchLine, SearchMatch, SearchPage
from ._server import LoginLink, ServerSetting
from ._states import (
    ApprovalState,
    BuilderJobState,
    ChannelKind,
    ChannelState,
    DeliveryState,
    ExecutionState,
    ExecutorJobState,
    FileState,
    IssueState,
    MessageState,
    OutdatedReason,
    RolloutAgentState,
    RolloutState,
    ScheduleState,
    StepState,
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
from ._steps import Step, StepFailure
from ._sync._agent import Agent
from ._sync._agent_settings import AgentChanges
from ._sync._approval import Approval
from ._sync._batch import Batch
from ._sync._build import Build, BuilderJob
from ._sync._bundle import Bundle
from ._sync._client import Client, search, statistics, templates
from ._sync._data_store import DataStore
from ._sync._events import events
from ._sync._execution import Execution
from ._sync._executor_job import ExecutorJob
from ._sync._file import File, JobFile
from ._sync._issue import Issue
from ._sync._job_events import send_event
from ._sync._keys import Key
from ._sync._notification_channel import NotificationChannel, NotificationMessage
from ._sync._pages import Paged
from ._sync._rollout import Rollout
from ._sync._schedule import Schedule
from ._sync._transaction import Transaction
from ._sync._view import View
from ._sync._webhook import Delivery, Webhook
from ._templates import AgentTemplate, TemplateSchedule, TemplateVariable

__all__ = [
    "NotificationChannel",
    "NotificationMessage",
    "NotificationChannelChanges",
    "QuietTime",
    "ChannelKind",
    "ChannelState",
    "MessageState",
    # settings
    "Client",
    # what happens
    "events",
    "Event",
    # what the server says of itself
    "search",
    "send_event",
    "statistics",
    "templates",
    "AgentPerformance",
    "DurationPercentiles",
    "ExecutorCounts",
    "FailedBuild",
    "Failure",
    "FirstRun",
    "HourCounts",
    "LatestFailure",
    "LoginLink",
    "PerformanceFigures",
    "PerformanceInterval",
    "ServerSetting",
    "SearchFragment",
    "SearchLine",
    "SearchMatch",
    "SearchPage",
    "Statistics",
    "SavedPayload",
    "Step",
    "StepFailure",
    "AgentTemplate",
    "TemplateSchedule",
    "TemplateVariable",
    # resources
    "ActionError",
    "ActionResult",
    "ActionResults",
    "Activity",
    "Advisory",
    "Agent",
    "AgentUrl",
    "AgentChanges",
    "AgentRevision",
    "AgentTag",
    "Approval",
    "ApprovalLink",
    "FileLink",
    "ApprovalState",
    "Batch",
    "Build",
    "BuildFailure",
    "BuilderJob",
    "Bundle",
    "BundleFile",
    "Culprit",
    "DataStore",
    "Delivery",
    "DeliveryAttempt",
    "Entry",
    "ErrorInfo",
    "Execution",
    "ExecutionCounts",
    "ExecutorJob",
    "File",
    "JobFile",
    "Issue",
    "IssueHour",
    "IssueRevision",
    "JobEvent",
    "Key",
    "LastRun",
    "LatestBuilderJob",
    "LatestExecution",
    "LeftOutModule",
    "LogEntry",
    "Outdated",
    "Package",
    "Preloaded",
    "Progress",
    "Replay",
    "ReplayedJob",
    "Request",
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
    "View",
    "ViewChanges",
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
    "FileState",
    "IssueState",
    "OutdatedReason",
    "RolloutAgentState",
    "RolloutState",
    "ScheduleState",
    "StepState",
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
    "StreamRestarted",
    "TooLarge",
    "Unavailable",
    "ValidationError",
]

for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = "roost"  # what tracebacks and help() show
