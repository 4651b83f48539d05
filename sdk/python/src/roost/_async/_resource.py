"""What the server keeps, and the client that it came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._fields import Record, path_to

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._client import Client

__all__ = ["Resource", "default_client"]


class Resource(Record):
    """A thing that the server keeps, as it was when it was last asked for."""

    __slots__ = ()

    def __init__(self, client: Client | None, data: Mapping[str, Any]) -> None:
        super().__init__(client, data)

    @property
    def _client(self) -> Client:
        bound: Client | None = self._bound
        return bound if bound is not None else default_client()

    async def refresh(self) -> Self:
        """Ask the server for the present state, in place."""
        self._data = await self._client._transport.get(path_to(self._path, self.id))
        return self


def default_client() -> Client:
    """Return the client of the module's present settings."""
    from ._client import default_client

    return default_client()
