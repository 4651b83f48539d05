"""Resources of the server, bound to a client."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._fields import Record, path_to

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._client import Client

__all__ = ["Resource", "default_client"]


class Resource(Record):
    """A resource of the server, as of its last retrieval."""

    __slots__ = ()

    def __init__(self, client: Client | None, data: Mapping[str, Any]) -> None:
        super().__init__(client, data)

    @property
    def _client(self) -> Client:
        bound: Client | None = self._bound
        return bound if bound is not None else default_client()

    async def refresh(self) -> Self:
        """Fetch the current state, in place."""
        self._data = await self._client._transport.get(path_to(self._path, self.id))
        return self


def default_client() -> Client:
    """Return the client for the module's current settings."""
    from ._client import default_client

    return default_client()
