# Made by generate.py from src/roost/_async/_webhooks.py; change that.
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

    def create(
        self,
        url: str,
        *,
        event_types: Sequence[str] | None = None,
        agent_id: str | None = None,
        description: str | None = None,
        secret: str | None = None,
    ) -> Webhook:
        """Make a webhook, as `Webhook.create` does; its `secret` is shown this once."""
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
        response = transport.request("POST", _PATH, body=dump_json(body, "webhook"))
        return Webhook(self._client, transport.parse(response))

    def retrieve(self, id: str) -> Webhook:  # noqa: A002
        """Return the webhook with that id."""
        return Webhook(self._client, self._client._transport.get(path_to(_PATH, id)))

    def list(self, *, limit: int | None = None) -> Paged[Webhook]:
        """Return up to `limit` webhooks, newest first, without their secrets."""
        return Paged(self._client, _PATH, {}, partial(Webhook, self._client), limit=limit)

    def update(self, id: str, **changes: Unpack[WebhookChanges]) -> Webhook:  # noqa: A002
        """Change what is given of the webhook with that id, as `Webhook.update` does."""
        return Webhook(self._client, {"id": id}).update(**changes)

    def delete(self, id: str) -> None:  # noqa: A002
        """Delete the webhook with that id, with its deliveries."""
        self._client._transport.request("DELETE", path_to(_PATH, id))

    def test(self, id: str) -> Delivery:  # noqa: A002
        """Send an event of type "webhook.test", as `Webhook.test` does."""
        return Webhook(self._client, {"id": id}).test()

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

    def replay(self, id: str, after: str | int) -> int:  # noqa: A002
        """Have all sent that it has not got since then, as `Webhook.replay` does."""
        return Webhook(self._client, {"id": id}).replay(after)

    def rotate_secret(self, id: str) -> str:  # noqa: A002
        """Have a new secret made and return it; the former one signs, too, for a day."""
        return Webhook(self._client, {"id": id}).rotate_secret()
