"""DataStores: key-value databases that agents share, as mappings."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Callable, TypeVar, cast

from .._entries import PAGE_MOST, Entry, pairs_of, version_of
from .._errors import NotFound
from .._fields import Field, path_to
from .._ndjson import Source, Target
from .._values import dump_json, parse_time
from .._writes import Batch, Delete, Increment, Set, Write, checked_amount, checked_key
from . import _portable
from ._commit import commit
from ._concurrency import stream
from ._mapping import StoreMapping
from ._pages import Paged
from ._resource import Resource, default_client
from ._stream import Stream
from ._transaction import Transaction, transact

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["DataStore"]

T = TypeVar("T")

# Each conflict means that someone else got something done; so many in a row mean a mistake.
_ATTEMPTS_AT_ONE_OPERATION = 1000
_MISSING = object()


class DataStore(Resource, StoreMapping):
    """A durable, ordered mapping of string keys to JSON values, shared by agents.

    In `roost` it is a `MutableMapping`; in `roost.aio` the operations of one are methods: `get`,
    `set`, `delete`, `contains`, `count`, and `async for` goes through the keys.

    Every operation is at least one request: reading gives the present state, and a write is
    durable when the call returns. Changing a value that was read does not store it. `pop`,
    `popitem`, `setdefault` and `increment` are atomic; for anything else that depends on what was
    read there are `transact()` and `transaction()`. `entries`, `size_bytes` and `agent_ids` are
    as of the last `refresh()`; the length is asked for anew.
    """

    __slots__ = ()
    _shown = ("id", "name")
    _shown_in_notebooks = ("entries", "size_bytes", "updated_at")
    _path = "/datastore"

    name: Field[str] = Field()
    entries: Field[int] = Field()
    size_bytes: Field[int] = Field()
    agent_ids: Field[Sequence[str]] = Field()
    created_at: Field[datetime] = Field(parse_time)
    updated_at: Field[datetime] = Field(parse_time)

    def __eq__(self, other: object) -> bool:
        return Resource.__eq__(self, other)

    def __hash__(self) -> int:
        return Resource.__hash__(self)

    @classmethod
    async def create(cls, name: str | None = None, *, client: Client | None = None) -> DataStore:
        """Make an empty store. Raises `Conflict` when the name is taken."""
        return await (client or default_client()).datastores.create(name)

    @classmethod
    async def retrieve(
        cls,
        id: str | None = None,  # noqa: A002
        *,
        name: str | None = None,
        client: Client | None = None,
    ) -> DataStore:
        """Return the store with that id or that name."""
        return await (client or default_client()).datastores.retrieve(id, name=name)

    @classmethod
    def list(
        cls,
        *,
        name: str | None = None,
        limit: int | None = None,
        client: Client | None = None,
    ) -> Paged[DataStore]:
        """Return up to `limit` stores, newest first, fetched as they are needed."""
        return (client or default_client()).datastores.list(name=name, limit=limit)

    async def entry(self, key: str) -> Entry:
        """Return the value of a key with its version. Raises `KeyError` when it is absent."""
        entry = await self._find(key)
        if entry is None:
            raise KeyError(key)
        return entry

    async def set(
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
        write = Set.of(checked_key(key), value, ttl)
        headers: dict[str, str] = {}
        if ttl is not None:
            headers["Roost-TTL"] = dump_json(ttl, "ttl").decode()
        if if_match == 0:
            headers["If-None-Match"] = "*"
        elif if_match is not None:
            headers["If-Match"] = f'"{if_match}"'
        response = await self._client._transport.request(
            "PUT",
            self._entry_path(key),
            body=write.text,
            headers=headers,
            # Doing it again would find the version of the first time and fail.
            repeatable=if_match is None,
        )
        return version_of(response)

    def scan(self, prefix: str = "") -> Paged[Entry]:
        """Return the entries whose keys have a prefix, in order, fetched as they are needed."""
        return self._scan(checked_key(prefix), PAGE_MOST)

    async def increment(self, key: str, amount: int | float = 1) -> int | float:
        """Add to a number and return the new one. Atomic, and in decimal: 0.1 + 0.2 is 0.3.

        An absent key counts as 0, and an expiry stays. Raises `ValidationError` when the value is
        no number.
        """
        write = Increment(checked_amount(amount))
        path = path_to(self._path, self.id)
        written = await commit(self._client._transport, path, {}, (), {checked_key(key): write})
        return written[key].sum  # type: ignore[no-any-return]

    async def pop(self, key: str, default: Any = _MISSING) -> Any:
        """Remove a key and return its value, or `default` if given and the key is absent. Atomic.

        Raises `KeyError` when it is absent and there is no default.
        """
        try:
            return await transact(self, lambda tx: tx.pop(key), _ATTEMPTS_AT_ONE_OPERATION)
        except KeyError:
            if default is _MISSING:
                raise
            return default

    async def popitem(self) -> tuple[str, Any]:
        """Remove the first key and return it with its value. Atomic.

        Raises `KeyError` when the store is empty.
        """
        return await transact(self, lambda tx: tx.popitem(), _ATTEMPTS_AT_ONE_OPERATION)

    async def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of a key; if it is absent, store the default. Atomic."""
        try:
            return await self._value(key)
        except KeyError:
            pass
        return await transact(
            self, lambda tx: tx.setdefault(key, default), _ATTEMPTS_AT_ONE_OPERATION
        )

    async def update(self, other: Any = (), /, **values: Any) -> None:
        """Store the pairs of a mapping or an iterable, in batches of up to 1,000 and 4 MiB.

        Each batch is one transaction: stored as a whole or not at all.
        """
        batch = Batch()
        for key, value in pairs_of(other, values):
            await self._commit(batch.add(key, Set.of(checked_key(key), value)))
        await self._commit(batch.rest())

    async def clear(self) -> None:
        """Delete the entries that are there, in batches of 1,000; each is one transaction."""
        batch = Batch()
        async for key, _ in self._pairs(""):
            await self._commit(batch.add(key, Delete()))
        await self._commit(batch.rest())

    def transaction(self) -> Transaction:
        """Return a transaction, to be used in an `async with` block.

        At the end of the block all its writes are applied, if nothing that it read has changed;
        else `Conflict` is raised and nothing was written. `transact()` tries again by itself.
        """
        return Transaction(self)

    async def transact(
        self, function: Callable[[Transaction], Awaitable[T]], attempts: int = 50
    ) -> T:
        """Call `function(transaction)` in a transaction, again after a conflict; return its value.

        So it may be called several times and should do nothing else. Between attempts there is a
        random pause, up to 1 ms and twice that each time, at most half a second. Raises the
        `Conflict` of the last attempt; any other exception at once, with nothing written.
        """
        return await transact(self, function, attempts)

    async def export(self, file: Target, prefix: str = "", *, resume: bool = False) -> int:
        """Write the entries whose keys have a prefix to a file; return how many were written.

        `file` is a path, whose file is written anew, or a binary file object. A line of NDJSON is
        an entry, with the value's exact text and when it expires; `import_` reads it. A connection
        that breaks is made again after the last complete line, in constant memory. With `resume`,
        for a path, an export that was interrupted is continued: what the file's last complete
        line says stays, an incomplete one is cut off.

        What is written meanwhile may be in it or not: the server's pages of it are each consistent
        in themselves, not all together.
        """
        return await _portable.export(self, file, prefix, resume)

    def iter_export(self, prefix: str = "", after: str | None = None) -> Stream[bytes]:
        """Yield an export as blocks of whole lines, of the keys after `after` if it is given."""
        path = path_to(self._path, self.id) + "/export"
        return stream(_portable.blocks(self._client, path, checked_key(prefix), after))

    async def import_(self, file: Source) -> int:
        """Store what `export` has written, from a path or a binary file; return how many entries.

        Entries that have expired since are left out. What is there under a key is replaced, all
        else stays. It is sent in parts that are sent again when the connection breaks; to do all
        of it again is harmless, too. Raises `ValidationError`, or `TooLarge`, with the number of
        the line in the file; the message says which lines are stored.
        """
        return await _portable.import_(self, file)

    async def _value(self, key: str) -> Any:
        transport = self._client._transport
        try:
            return await transport.get(self._entry_path(key))
        except NotFound:
            raise await self._absent(key) from None

    async def _has(self, key: object) -> bool:
        try:
            await self._value(cast("str", key))
        except KeyError:
            return False
        return True

    async def _set(self, key: str, value: Any) -> None:
        await self.set(key, value)

    async def _remove(self, key: str) -> None:
        try:
            await self._client._transport.request("DELETE", self._entry_path(key))
        except NotFound:
            raise await self._absent(key) from None

    async def _count(self) -> int:
        return (await self.refresh()).entries

    async def _delete_store(self, force: bool) -> None:
        await self._client.datastores.delete(self.id, force=force)

    async def _pairs(self, prefix: str) -> AsyncGenerator[tuple[str, Any], None]:
        async for entry in self.scan(prefix):
            yield entry.key, entry.value

    def _scan(self, prefix: str, page_size: int) -> Paged[Entry]:
        params = {"prefix": prefix} if prefix else {}
        return Paged(self._client, self._entries_path(), params, Entry.of, page_size=page_size)

    async def _find(self, key: str) -> Entry | None:
        # As a list, which has the expiry as well, and answers 404 only if there is no such store.
        if not checked_key(key):
            raise KeyError(key)
        params = {"prefix": key, "limit": "1"}  # before all others that begin so comes the key
        page = await self._client._transport.get(self._entries_path(), params)
        for data in page["data"]:
            if data["key"] == key:
                return Entry.of(data)
        return None

    async def _commit(self, batch: Mapping[str, Write]) -> None:
        if batch:
            await commit(self._client._transport, path_to(self._path, self.id), {}, (), batch)

    def _entries_path(self) -> str:
        return path_to(self._path, self.id) + "/entries"

    def _entry_path(self, key: str) -> str:
        if not checked_key(key):
            raise KeyError(key)
        return path_to(self._path, self.id, "entries", key)

    async def _absent(self, key: str) -> KeyError | NotFound:
        # 404 may also say that the store itself is gone, which must not look like "no such key".
        try:
            await self.refresh()
        except NotFound as error:
            return error
        return KeyError(key)
