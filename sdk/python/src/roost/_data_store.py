"""DataStores: key-value databases that agents share, as mappings."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, MutableMapping, ValuesView
from datetime import datetime
from typing import TYPE_CHECKING, Any

from ._entries import Entry, Items, Keys, Values, version_of
from ._errors import NotFound, PreconditionFailed
from ._pages import each
from ._resource import Field, Resource, default_client, path_to
from ._values import dump_json, parse_time

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["DataStore"]

_PAGE_SIZE = 200


class DataStore(Resource, MutableMapping[str, Any]):
    """A durable, ordered mapping of string keys to JSON values, shared by agents.

    Every operation is a request: reading gives the present state, and a write is durable when the
    call returns. Changing a value that was read does not store it. `entries`, `size_bytes` and
    `agent_ids` are as of the last `refresh()`; `len()` asks anew.
    """

    __slots__ = ()
    _shown = ("id", "name")
    _path = "/datastore"

    name = Field[str]()
    entries = Field[int]()
    size_bytes = Field[int]()
    agent_ids = Field["list[str]"]()
    created_at = Field[datetime](parse_time)
    updated_at = Field[datetime](parse_time)

    __eq__ = Resource.__eq__
    __hash__ = Resource.__hash__

    @classmethod
    def create(cls, name: str | None = None, *, client: Client | None = None) -> DataStore:
        """Make an empty store. Raises `Conflict` when the name is taken."""
        return (client or default_client()).datastores.create(name)

    @classmethod
    def retrieve(
        cls,
        id: str | None = None,  # noqa: A002
        *,
        name: str | None = None,
        client: Client | None = None,
    ) -> DataStore:
        """Return the store with that id or that name."""
        return (client or default_client()).datastores.retrieve(id, name=name)

    @classmethod
    def list(
        cls,
        *,
        name: str | None = None,
        limit: int | None = None,
        client: Client | None = None,
    ) -> Iterator[DataStore]:
        """Return up to `limit` stores, newest first, fetched as they are needed."""
        return (client or default_client()).datastores.list(name=name, limit=limit)

    def delete(self, *, force: bool = False) -> None:
        """Delete the store with all that is in it.

        Raises `Conflict` while agents use it, unless `force` is true.
        """
        self._client._transport.request(
            "DELETE", path_to(self._path, self.id), params={"force": "true"} if force else None
        )

    def entry(self, key: str) -> Entry:
        """Return the value of a key with its version. Raises `KeyError` when it is absent."""
        transport = self._client._transport
        try:
            response = transport.request("GET", self._entry_path(key))
        except NotFound:
            raise self._absent(key) from None
        return Entry(key, transport.parse(response), version_of(response))

    def set(
        self,
        key: str,
        value: Any,
        *,
        ttl: float | None = None,
        if_match: int | None = None,
    ) -> int:
        """Store a value and return its version.

        `ttl` is in seconds, after which the entry is gone. With `if_match` it is stored only when
        the entry has that version, 0 meaning that it is absent; else `PreconditionFailed`.
        """
        if not key:
            raise ValueError("the empty string can't be a key")
        headers = {}
        if ttl is not None:
            headers["Roost-TTL"] = f"{ttl:g}"
        if if_match == 0:
            headers["If-None-Match"] = "*"
        elif if_match is not None:
            headers["If-Match"] = f'"{if_match}"'
        response = self._client._transport.request(
            "PUT",
            self._entry_path(key),
            body=dump_json(value, f"the value of {key!r}"),
            headers=headers,
            # Doing it again would find the version of the first time and fail.
            repeatable=if_match is None,
        )
        return version_of(response)

    def scan(self, prefix: str = "") -> Iterator[Entry]:
        """Return the entries whose keys have a prefix, in order, fetched as they are needed."""
        path = path_to(self._path, self.id) + "/entries"
        params = {"prefix": prefix} if prefix else {}
        items = each(self._client, path, params, page_size=_PAGE_SIZE)
        return (Entry.of(data) for data in items)

    def keys(self, prefix: str = "") -> KeysView[str]:
        """Return a view of the keys with a prefix."""
        return Keys(self, prefix)

    def values(self, prefix: str = "") -> ValuesView[Any]:
        """Return a view of the values whose keys have a prefix."""
        return Values(self, prefix)

    def items(self, prefix: str = "") -> ItemsView[str, Any]:
        """Return a view of the pairs whose keys have a prefix."""
        return Items(self, prefix)

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of a key; if it is absent, store the default. Atomic."""
        while True:
            try:
                return self[key]
            except KeyError:
                pass
            try:
                self.set(key, default, if_match=0)
            except PreconditionFailed:
                continue  # someone else was faster; theirs is the value
            return default

    def clear(self) -> None:
        """Delete the entries that are there, one after another."""
        for key in [*self]:
            self.pop(key, None)

    def __getitem__(self, key: str) -> Any:
        transport = self._client._transport
        try:
            return transport.get(self._entry_path(key))
        except NotFound:
            raise self._absent(key) from None

    def __setitem__(self, key: str, value: Any) -> None:
        self.set(key, value)

    def __delitem__(self, key: str) -> None:
        try:
            self._client._transport.request("DELETE", self._entry_path(key))
        except NotFound:
            raise self._absent(key) from None

    def __iter__(self) -> Iterator[str]:
        return (entry.key for entry in self.scan())

    def __len__(self) -> int:
        return self.refresh().entries

    def _entry_path(self, key: str) -> str:
        if not isinstance(key, str):
            raise TypeError(f"keys must be strings, not {type(key).__name__}")
        if not key:
            raise KeyError(key)
        return path_to(self._path, self.id, "entries", key)

    def _absent(self, key: str) -> KeyError | NotFound:
        # 404 may also say that the store itself is gone, which must not look like "no such key".
        try:
            self.refresh()
        except NotFound as error:
            return error
        return KeyError(key)
