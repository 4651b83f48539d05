"""The webhooks of a client."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from .._fields import path_to
from .._params import without_none
from .._states import DeliveryState
from .._values import dump_json
from ._pages import Paged
from ._webhook import Delivery, Webhook

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._changes import WebhookChanges
    from ._client import Client

__all__ = ["Webhooks"]

_PATH = "/webhooks"


class Webhooks:
    """`client.webhooks`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def create(
        self,
        url: str,
        *,
        event_types: Sequence[str] | None = None,
        agent_id: str | None = None,
        description: str | None = None,
        secret: str | None = None,
    ) -> Webhook:
        """Create a webhook; see `Webhook.create`. Its `secret` is returned only once."""
        if isinstance(event_types, str):
            raise TypeError("event_types must be a list, not one string")
        body = without_none(
            url=url,
            event_types=None if event_types is None else list(event_types),
            agent_id=agent_id,
            description=description,
            secret=secret,
        )
        transport = self._client._transport
        response = await transport.request("POST", _PATH, body=dump_json(body, "webhook"))
        return Webhook(self._client, transport.parse(response))

    async def retrieve(self, id: str) -> Webhook:  # noqa: A002
        """Return the webhook with that id."""
        return Webhook(self._client, await self._client._transport.get(path_to(_PATH, id)))

    def list(self, *, limit: int | None = None) -> Paged[Webhook]:
        """Return up to `limit` webhooks, newest first, without their secrets."""
        return Paged(self._client, _PATH, {}, partial(Webhook, self._client), limit=limit)

    async def update(self, id: str, **changes: Unpack[WebhookChanges]) -> Webhook:  # noqa: A002
        """Change settings of the webhook with that id; see `Webhook.update`."""
        return await Webhook(self._client, {"id": id}).update(**changes)

    async def delete(self, id: str) -> None:  # noqa: A002
        """Delete the webhook with that id and its deliveries."""
        await self._client._transport.request("DELETE", path_to(_PATH, id))

    async def test(self, id: str) -> Delivery:  # noqa: A002
        """Send an event of type "webhook.test"; see `Webhook.test`."""
        return await Webhook(self._client, {"id": id}).test()

    def deliveries(
        self,
        id: str,  # noqa: A002
        *,
        state: DeliveryState | None = None,
        event_type: str | None = None,
        limit: int | None = None,
    ) -> Paged[Delivery]:
        """Return up to `limit` deliveries of the webhook with that id, newest first."""
        webhook = Webhook(self._client, {"id": id})
        return webhook.deliveries(state=state, event_type=event_type, limit=limit)

    async def replay(self, id: str, after: str | int) -> int:  # noqa: A002
        """Send all undelivered events since the event `after`; see `Webhook.replay`."""
        return await Webhook(self._client, {"id": id}).replay(after)

    async def rotate_secret(self, id: str) -> str:  # noqa: A002
        """Create and return a new secret; the previous one also signs for a day."""
        return await Webhook(self._client, {"id": id}).rotate_secret()
