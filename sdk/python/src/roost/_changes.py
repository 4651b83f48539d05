"""The arguments of updates of Schedules, views, webhooks and notification channels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict

from ._notifications import QuietTime
from ._states import ChannelState, WebhookState
from ._values import format_time

MissedRuns = Literal["skip", "run_once", "run_all"]
Overlap = Literal["allow", "skip", "queue"]


class ScheduleChanges(TypedDict, total=False):
    """The arguments of `Schedule.update`, as in `Schedule.create`."""

    cron: str
    name: str
    time_zone: str
    payload: Any
    missed_runs: MissedRuns
    missed_runs_limit: int
    overlap: Overlap
    jitter: float
    starts_at: datetime | None
    ends_at: datetime | None


class WebhookChanges(TypedDict, total=False):
    """The arguments of `Webhook.update`, as in `Webhook.create`."""

    url: str
    description: str
    event_types: Sequence[str]
    agent_id: str | None
    state: WebhookState
    secret: str


class ViewChanges(TypedDict, total=False):
    """The arguments of `View.update`."""

    name: str
    filter: str
    sort: str | None
    columns: Sequence[str] | None
    grouped: bool


class NotificationChannelChanges(TypedDict, total=False):
    """The arguments of `NotificationChannel.update`, as in the API; `url` is Slack's."""

    name: str
    recipients: Sequence[str]
    url: str
    agents: Sequence[str]
    event_types: Sequence[str]
    min_interval_seconds: int
    time_zone: str
    quiet_times: Sequence[QuietTime | Mapping[str, Any]]
    state: ChannelState


def schedule_body(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON object for these settings."""
    body: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, datetime):
            value = format_time(name, value)
        body[name] = value
    return body
