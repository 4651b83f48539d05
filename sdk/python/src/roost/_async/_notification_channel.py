"""Notification channels and their messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from .._changes import NotificationChannelChanges
from .._fields import Field, path_to
from .._notifications import QuietTime, quiet_times_body, quiet_times_of
from .._params import without_none
from .._states import ChannelKind, ChannelState, MessageState
from .._values import dump_json, parse_time
from ._pages import Paged
from ._resource import Resource, default_client

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ._client import Client

__all__ = ["NotificationChannel", "NotificationChannels", "NotificationMessage"]

_PATH = "/notification-channels"


class NotificationMessage(Resource):
    """One message of a channel, about all that was collected for it.

    `state` is pending, succeeded, failed or dropped (all it was about was resolved before);
    `error` says what failed at the latest attempt.
    """

    __slots__ = ()
    _shown = ("id", "state", "attempts")
    _shown_in_notebooks = ("title", "error", "next_attempt_at")
    _path = _PATH

    channel_id: Field[str] = Field()
    test: Field[bool] = Field()
    state: Field[MessageState] = Field()
    title: Field[str] = Field()
    attempts: Field[int] = Field()
    next_attempt_at: Field[datetime | None] = Field(parse_time)
    created_at: Field[datetime] = Field(parse_time)
    finished_at: Field[datetime | None] = Field(parse_time)
    error: Field[str | None] = Field()


class NotificationChannel(Resource):
    """Where messages about issues and failed builds go, and which.

    `kind` is "email" (to `recipients`) or "slack" (`url` is shown without its secret path).
    `agents` are names with `*`, empty for all agents. `latest_message` has the latest result.
    """

    __slots__ = ()
    _shown = ("id", "name", "kind", "state")
    _shown_in_notebooks = ("event_types", "agents", "next_message_at")
    _path = _PATH

    name: Field[str] = Field()
    kind: Field[ChannelKind] = Field()
    recipients: Field[Sequence[str]] = Field()
    url: Field[str | None] = Field()
    agents: Field[Sequence[str]] = Field()
    event_types: Field[Sequence[str]] = Field()
    min_interval_seconds: Field[int] = Field()
    time_zone: Field[str] = Field()
    quiet_times: Field[tuple[QuietTime, ...]] = Field(quiet_times_of)
    state: Field[ChannelState] = Field()
    next_message_at: Field[datetime | None] = Field(parse_time)
    created_at: Field[datetime] = Field(parse_time)
    updated_at: Field[datetime] = Field(parse_time)

    @property
    def latest_message(self) -> NotificationMessage | None:
        """The latest message, with its result; `None` before the first."""
        data = self._data.get("latest_message")
        return None if data is None else NotificationMessage(self._bound, data)

    async def refresh(self) -> Self:
        """Fetch the current state, in place."""
        self._data = await self._client._transport.get(path_to(_PATH, self.id))
        return self

    async def update(self, **changes: Unpack[NotificationChannelChanges]) -> NotificationChannel:
        """Change the given settings, in place; `state="disabled"` stops the channel."""
        body: dict[str, Any] = dict(changes)
        if "quiet_times" in changes:
            body["quiet_times"] = quiet_times_body(changes["quiet_times"])
        transport = self._client._transport
        response = await transport.request(
            "PATCH", path_to(_PATH, self.id), body=dump_json(body, "changes"), repeatable=True
        )
        self._data = transport.parse(response)
        return self

    async def delete(self) -> None:
        """Delete the channel and its messages."""
        await self._client.notification_channels.delete(self.id)

    async def test(self) -> NotificationMessage:
        """Send a test message at once and return it with its result, within 30 s."""
        transport = self._client._transport
        response = await transport.request("POST", path_to(_PATH, self.id) + "/test")
        return NotificationMessage(self._bound, transport.parse(response))

    def messages(self, *, limit: int | None = None) -> Paged[NotificationMessage]:
        """Return up to `limit` messages, newest first, fetched as they are needed."""
        path = path_to(_PATH, self.id) + "/messages"
        return Paged(self._client, path, {}, partial(NotificationMessage, self._bound), limit=limit)

    @classmethod
    async def create(
        cls,
        name: str,
        *,
        recipients: Sequence[str] | None = None,
        slack_url: str | None = None,
        agents: Sequence[str] | None = None,
        event_types: Sequence[str] | None = None,
        min_interval_seconds: int | None = None,
        time_zone: str | None = None,
        quiet_times: Sequence[QuietTime | Mapping[str, Any]] | None = None,
        client: Client | None = None,
    ) -> NotificationChannel:
        """Create a channel, either for e-mail to `recipients` or for the webhook `slack_url`.

        `agents` are names with `*`, all by default; `event_types` are of issue.opened,
        issue.regressed, issue.reopened, issue.growing and builder_job.failed, all by default.
        Raises `ValidationError`, also for e-mail if the server has no mail server.
        """
        return await (client or default_client()).notification_channels.create(
            name,
            recipients=recipients,
            slack_url=slack_url,
            agents=agents,
            event_types=event_types,
            min_interval_seconds=min_interval_seconds,
            time_zone=time_zone,
            quiet_times=quiet_times,
        )

    @classmethod
    async def retrieve(
        cls,
        id: str,  # noqa: A002
        *,
        client: Client | None = None,
    ) -> NotificationChannel:
        """Return the channel with that id."""
        return await (client or default_client()).notification_channels.retrieve(id)

    @classmethod
    def list(
        cls, *, limit: int | None = None, client: Client | None = None
    ) -> Paged[NotificationChannel]:
        """Return up to `limit` channels, newest first, fetched as they are needed."""
        return (client or default_client()).notification_channels.list(limit=limit)


class NotificationChannels:
    """`client.notification_channels`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def create(
        self,
        name: str,
        *,
        recipients: Sequence[str] | None = None,
        slack_url: str | None = None,
        agents: Sequence[str] | None = None,
        event_types: Sequence[str] | None = None,
        min_interval_seconds: int | None = None,
        time_zone: str | None = None,
        quiet_times: Sequence[QuietTime | Mapping[str, Any]] | None = None,
    ) -> NotificationChannel:
        """Create a channel; see `NotificationChannel.create`."""
        if (recipients is None) == (slack_url is None):
            raise TypeError("either recipients or slack_url is required")
        if isinstance(recipients, str) or isinstance(agents, str) or isinstance(event_types, str):
            raise TypeError("recipients, agents and event_types must be lists, not one string")
        body = without_none(
            name=name,
            kind="email" if slack_url is None else "slack",
            recipients=None if recipients is None else list(recipients),
            url=slack_url,
            agents=None if agents is None else list(agents),
            event_types=None if event_types is None else list(event_types),
            min_interval_seconds=min_interval_seconds,
            time_zone=time_zone,
            quiet_times=None if quiet_times is None else quiet_times_body(quiet_times),
        )
        transport = self._client._transport
        response = await transport.request("POST", _PATH, body=dump_json(body, "channel"))
        return NotificationChannel(self._client, transport.parse(response))

    async def retrieve(self, id: str) -> NotificationChannel:  # noqa: A002
        """Return the channel with that id."""
        transport = self._client._transport
        return NotificationChannel(self._client, await transport.get(path_to(_PATH, id)))

    def list(self, *, limit: int | None = None) -> Paged[NotificationChannel]:
        """Return up to `limit` channels, newest first."""
        make = partial(NotificationChannel, self._client)
        return Paged(self._client, _PATH, {}, make, limit=limit)

    async def update(
        self,
        id: str,  # noqa: A002
        **changes: Unpack[NotificationChannelChanges],
    ) -> NotificationChannel:
        """Change settings of the channel with that id."""
        return await NotificationChannel(self._client, {"id": id}).update(**changes)

    async def delete(self, id: str) -> None:  # noqa: A002
        """Delete the channel with that id and its messages."""
        await self._client._transport.request("DELETE", path_to(_PATH, id))

    async def test(self, id: str) -> NotificationMessage:  # noqa: A002
        """Send a test message; see `NotificationChannel.test`."""
        return await NotificationChannel(self._client, {"id": id}).test()

    def messages(
        self,
        id: str,  # noqa: A002
        *,
        limit: int | None = None,
    ) -> Paged[NotificationMessage]:
        """Return up to `limit` messages of the channel with that id, newest first."""
        return NotificationChannel(self._client, {"id": id}).messages(limit=limit)
