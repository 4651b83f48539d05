"""API keys."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Literal

from .._fields import Field, path_to
from .._values import dump_json, parse_time
from ._pages import Paged
from ._resource import Resource

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["Key", "Keys"]


class Key(Resource):
    """An API key. `role` is read, execute or write.

    `key` is the key itself, returned only once, by `client.keys.create`.
    """

    __slots__ = ()
    _shown = ("id", "name", "role")
    _shown_in_notebooks = ("created_at",)
    _path = "/keys"

    name: Field[str] = Field()
    role: Field[str] = Field()
    key: Field[str | None] = Field()
    created_at: Field[datetime] = Field(parse_time)

    async def delete(self) -> None:
        """Delete the key. The server rejects it immediately."""
        await self._client.keys.delete(self.id)


class Keys:
    """`client.keys`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def create(self, *, name: str, role: Literal["read", "execute", "write"]) -> Key:
        """Create a key; its `key` is returned only once."""
        transport = self._client._transport
        body = dump_json({"name": name, "role": role}, "key")
        return Key(
            self._client, transport.parse(await transport.request("POST", "/keys", body=body))
        )

    def list(self, *, limit: int | None = None) -> Paged[Key]:
        """Return up to `limit` keys, newest first, without the keys themselves."""
        return Paged(self._client, "/keys", {}, partial(Key, self._client), limit=limit)

    async def delete(self, id: str) -> None:  # noqa: A002
        """Delete the key with that id."""
        await self._client._transport.request("DELETE", path_to("/keys", id))
