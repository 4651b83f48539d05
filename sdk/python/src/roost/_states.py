"""The states of the API, as types.

They are for type checkers and editors; nothing is checked at run time. A newer server may have
others, which are plain strings.
"""

from __future__ import annotations

from typing import Literal

__all__ = [
    "ApprovalState",
    "BuilderJobState",
    "ChannelKind",
    "ChannelState",
    "DeliveryState",
    "ExecutionState",
    "ExecutorJobState",
    "FileState",
    "IssueState",
    "MessageState",
    "OutdatedReason",
    "RolloutAgentState",
    "RolloutState",
    "ScheduleState",
    "StepState",
    "WaitingOn",
    "WebhookState",
]

ExecutorJobState = Literal["queued", "running", "suspended", "succeeded", "failed", "cancelled"]
ExecutionState = Literal[
    "running", "suspended", "succeeded", "failed", "timed_out", "cancelled", "lost"
]
FileState = Literal["uploading", "stored", "removed"]
ApprovalState = Literal["pending", "approved", "rejected", "expired", "cancelled"]
BuilderJobState = Literal["queued", "running", "succeeded", "failed", "cancelled"]
RolloutState = Literal["running", "paused", "completed", "undone"]
RolloutAgentState = Literal["queued", "building", "updated", "failed", "skipped", "undone"]
IssueState = Literal["open", "resolved", "muted"]
OutdatedReason = Literal["base", "sdk"]
ScheduleState = Literal["active", "paused"]
StepState = Literal["waiting", "succeeded", "failed"]
WebhookState = Literal["active", "disabled"]
DeliveryState = Literal["pending", "succeeded", "failed"]
ChannelKind = Literal["email", "slack"]
ChannelState = Literal["active", "disabled"]
MessageState = Literal["pending", "succeeded", "failed", "dropped"]
WaitingOn = Literal[
    "build",
    "executor",
    "capacity",
    "concurrency",
    "retry_delay",
    "storage",
    "timer",
    "call",
    "event",
    "approval",
]
"""Why an ExecutorJob is queued or suspended."""
