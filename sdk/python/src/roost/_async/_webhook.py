"""Webhooks and their deliveries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import _signature
from .._changes import WebhookChanges
from .._details import DeliveryAttempt, attempts_of
from .._fields import Field, path_to
from .._params import given
from .._states import DeliveryState, WebhookState
from .._values import dump_json, parse_time
from ._pages import Paged
from ._resource import Resource, default_client

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from ._client import Client
    from ._pages import Paged

__all__ = ["Delivery", "Webhook"]

_PATH = "/webhooks"


class Delivery(Resource):
    """One event for one webhook. Its id is the header `webhook-id` of the request.

    `state` is pending, succeeded or failed; `attempts` is the number of attempts, `status` and
    `message` are of the last one. `attempts_log` has all attempts, `request` is the body; both
    are `None` in lists.
    """

    __slots__ = ()
    _shown = ("id", "event_type", "state", "attempts")
    _shown_in_notebooks = ("subject", "status", "message", "next_attempt_at")
    _path = _PATH

    webhook_id: Field[str] = Field()
    event_id: Field[str] = Field()
    event_type: Field[str] = Field()
    subject: Field[str] = Field()
    state: Field[DeliveryState] = Field()
    attempts: Field[int] = Field()
    next_attempt_at: Field[datetime | None] = Field(parse_time)
    created_at: Field[datetime] = Field(parse_time)
    finished_at: Field[datetime | None] = Field(parse_time)
    status: Field[int | None] = Field()
    message: Field[str | None] = Field()
    attempts_log: Field[tuple[DeliveryAttempt, ...] | None] = Field(attempts_of)
    request: Field[Any] = Field()

    async def refresh(self) -> Self:
        """Fetch the current state, in place, with `attempts_log` and `request`."""
        self._data = await self._client._transport.get(self._own_path())
        return self

    async def replay(self) -> Delivery:
        """Send the delivery again, in place."""
        transport = self._client._transport
        response = await transport.request("POST", self._own_path() + "/replay", repeatable=True)
        self._data = transport.parse(response)
        return self

    def _own_path(self) -> str:
        return path_to(_PATH, self.webhook_id, "deliveries", self.id)


class Webhook(Resource):
    """A URL to which Roost sends events, signed according to Standard Webhooks.

    `state` is active or disabled; `message` says why Roost has disabled it. `agent_id` is `None`
    for events of all agents. `secret` is only set in the response that created or changed it.
    """

    __slots__ = ()
    _shown = ("id", "state")  # a URL may itself be a secret
    _shown_in_notebooks = ("description", "event_types", "message")
    _path = _PATH

    url: Field[str] = Field()
    description: Field[str] = Field()
    event_types: Field[Sequence[str]] = Field()
    agent_id: Field[str | None] = Field()
    state: Field[WebhookState] = Field()
    message: Field[str | None] = Field()
    secret: Field[str | None] = Field()
    created_at: Field[datetime] = Field(parse_time)
    updated_at: Field[datetime] = Field(parse_time)

    @classmethod
    async def create(
        cls,
        url: str,
        *,
        event_types: Sequence[str] | None = None,
        agent_id: str | None = None,
        description: str | None = None,
        secret: str | None = None,
        client: Client | None = None,
    ) -> Webhook:
        """Create a webhook; its `secret` is returned only once.

        `event_types` are names such as "execution.failed" and "builder_job.*", all by default;
        with `agent_id`, only events of that agent are sent. A custom `secret` is "whsec_" and
        base64. Raises `ValidationError` for a URL that isn't allowed.
        """
        return await (client or default_client()).webhooks.create(
            url,
            event_types=event_types,
            agent_id=agent_id,
            description=description,
            secret=secret,
        )

    @classmethod
    async def retrieve(cls, id: str, *, client: Client | None = None) -> Webhook:  # noqa: A002
        """Return the webhook with that id."""
        return await (client or default_client()).webhooks.retrieve(id)

    @classmethod
    def list(cls, *, limit: int | None = None, client: Client | None = None) -> Paged[Webhook]:
        """Return up to `limit` webhooks, newest first, fetched as they are needed."""
        return (client or default_client()).webhooks.list(limit=limit)

    @staticmethod
    def verify(
        body: bytes | str,
        headers: Mapping[str, str],
        secret: str | Sequence[str],
        *,
        tolerance: float = _signature.TOLERANCE_SECONDS,
    ) -> dict[str, Any]:
        """Return the event of a webhook request if it is signed with the secret.

        `body` must be the exact bytes of the request. Of several secrets, one must match, as during
        a rotation. Raises `SignatureError` for any other request, and if it was signed more than
        `tolerance` seconds ago. An event may be delivered again, with the same `webhook-id`.
        """
        return _signature.verify(body, headers, secret, tolerance)

    async def update(self, **changes: Unpack[WebhookChanges]) -> Webhook:
        """Change the given settings, in place; see `create`. `state="active"` enables it again.

        After a change of the `secret`, the previous one also signs for a day.
        """
        return await self._change(changes)

    async def rotate_secret(self) -> str:
        """Create and return a new secret; the previous one also signs for a day."""
        await self._change({"rotate_secret": True})
        assert self.secret is not None
        return self.secret

    async def delete(self) -> None:
        """Delete the webhook and its deliveries."""
        await self._client.webhooks.delete(self.id)

    async def test(self) -> Delivery:
        """Send an event of type "webhook.test" and return its delivery, within 15 s."""
        transport = self._client._transport
        response = await transport.request("POST", path_to(_PATH, self.id) + "/test")
        return Delivery(self._bound, transport.parse(response))

    def deliveries(
        self,
        *,
        state: DeliveryState | None = None,
        event_type: str | None = None,
        limit: int | None = None,
    ) -> Paged[Delivery]:
        """Return up to `limit` deliveries that match, newest first, fetched as they are needed."""
        path = path_to(_PATH, self.id) + "/deliveries"
        params = given(state=state, event_type=event_type)
        return Paged(self._client, path, params, partial(Delivery, self._bound), limit=limit)

    async def delivery(self, id: str) -> Delivery:  # noqa: A002
        """Return the delivery with that id, with `attempts_log` and `request`."""
        return await Delivery(self._bound, {"id": id, "webhook_id": self.id}).refresh()

    async def replay(self, after: str | int) -> int:
        """Send all undelivered events since the event `after`; return their number.

        These are events from before it was created or while it was disabled, and failed deliveries.
        """
        transport = self._client._transport
        body = dump_json({"after": str(after)}, "replay")
        path = path_to(_PATH, self.id) + "/replay"
        response = await transport.request("POST", path, body=body, repeatable=True)
        count: int = transport.parse(response)["deliveries"]
        return count

    async def _change(self, body: Mapping[str, Any]) -> Webhook:
        transport = self._client._transport
        response = await transport.request(
            "PATCH",
            path_to(_PATH, self.id),
            body=dump_json(body, "changes"),
            # The secret of a lost response would be lost.
            repeatable="rotate_secret" not in body,
        )
        self._data = transport.parse(response)
        return self
