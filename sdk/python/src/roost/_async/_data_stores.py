"""The DataStores of a client."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from .._errors import Conflict, NotFound
from .._fields import hint_at_name, path_to
from .._params import given
from .._values import dump_json
from ._data_store import DataStore
from ._pages import Paged

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["DataStores"]


class DataStores:
    """`client.datastores`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def create(self, name: str | None = None) -> DataStore:
        """Create an empty store. Raises `Conflict` if the name is taken."""
        transport = self._client._transport
        body = dump_json({} if name is None else {"name": name}, "store")
        response = await transport.request("POST", "/datastore", body=body)
        return DataStore(self._client, transport.parse(response))

    async def retrieve(
        self,
        id: str | None = None,  # noqa: A002
        *,
        name: str | None = None,
    ) -> DataStore:
        """Return the store with that id or name."""
        if (id is None) == (name is None):
            raise TypeError("give either an id or a name")
        if id is not None:
            with hint_at_name(id, "store_"):
                data = await self._client._transport.get(path_to("/datastore", id))
            return DataStore(self._client, data)
        async for store in self.list(name=name):
            if store.name == name:
                return store
        raise NotFound(f"there is no DataStore with the name {name!r}", code="not_found")

    async def ensure(self, name: str) -> DataStore:
        """Return the store with that name, created if missing."""
        return (await self._ensure(name))[0]

    async def _ensure(self, name: str) -> tuple[DataStore, bool]:
        """Return the store, and whether it was created."""
        try:
            return await self.retrieve(name=name), False
        except NotFound:
            pass
        try:
            return await self.create(name), True
        except Conflict:  # someone else was faster
            return await self.retrieve(name=name), False

    def list(self, *, name: str | None = None, limit: int | None = None) -> Paged[DataStore]:
        """Return up to `limit` stores, newest first, fetched as they are needed."""
        return Paged(
            self._client,
            "/datastore",
            given(name=name),
            partial(DataStore, self._client),
            limit=limit,
        )

    async def delete(self, id: str, *, force: bool = False) -> None:  # noqa: A002
        """Delete the store with that id; see `DataStore.delete`."""
        await self._client._transport.request(
            "DELETE", path_to("/datastore", id), params={"force": "true"} if force else None
        )
