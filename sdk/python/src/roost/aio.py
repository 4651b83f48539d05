"""The API of `roost` for asyncio.

::

    import asyncio

    from roost import aio


    async def main() -> None:
        async with aio.Client() as client:
            agent = await client.agents.retrieve(name="greeter")
            execution = await agent.execute({"name": "Ada"})
            print(execution.return_value)


    asyncio.run(main())

Requests are coroutines; lists, followed logs, events and the results of `map` are for `async for`.
A `DataStore` and a `Transaction` aren't mappings here, but have methods instead: `get`, `set`,
`delete`, `contains`, `count`, `setdefault`, `pop` and so on. Errors and classes without requests
are those of `roost`.

The default client is one per event loop, with the settings of `roost` (`roost.api_key`,
`roost.base_url`, the environment, a profile). It is closed when the loop ends.
"""

from __future__ import annotations

from ._actions import ActionError, ActionResult, ActionResults, AgentTag
from ._agent_url import AgentUrl
from ._async._agent import Agent
from ._async._agent_settings import AgentChanges
from ._async._approval import Approval
from ._async._batch import Batch
from ._async._build import Build, BuilderJob
from ._async._bundle import Bundle
from ._async._client import Client, search, statistics, templates
from ._async._data_store import DataStore
from ._async._events import events
from ._async._execution import Execution
from ._async._executor_job import ExecutorJob
from ._async._file import File, JobFile
from ._async._issue import Issue
from ._async._job_events import send_event
from ._async._keys import Key
from ._async._notification_channel import NotificationChannel, NotificationMessage
from ._async._pages import Paged
from ._async._rollout import Rollout
from ._async._schedule import Schedule
from ._async._stream import Stream
from ._async._transaction import Transaction
from ._async._view import View
from ._async._webhook import Delivery, Webhook
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
from ._templates import AgentTemplate, TemplateSchedule, TemplateVariable

__all__ = [
    "NotificationChannel",
    "NotificationMessage",
    "NotificationChannelChanges",
    "QuietTime",
    "ChannelKind",
    "ChannelState",
    "MessageState",
    # where it begins
    "Client",
    # what comes bit by bit
    "Stream",
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
    if isinstance(globals()[_name], type) and "._async." in globals()[_name].__module__:
        globals()[_name].__module__ = "roost.aio"  # what tracebacks and help() show
