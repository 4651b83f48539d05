"""DataStores: key-value databases that agents share, as mappings."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Callable, TypeVar, cast

from .._entries import MAX_PAGE_SIZE, Entry, pairs_of, version_of
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

# Each conflict means that another writer succeeded; this many in a row indicate a bug.
_ATTEMPTS_AT_ONE_OPERATION = 1000
_MISSING = object()


class DataStore(Resource, StoreMapping):
    """A durable, ordered mapping of string keys to JSON values, shared by agents.

    In `roost` it is a `MutableMapping`; in `roost.aio` it has methods instead: `get`, `set`,
    `delete`, `contains`, `count`, and `async for` iterates over the keys.

    Every operation is at least one request: reads return the current state, and writes are
    durable when the call returns. Changing a returned value does not store it. `pop`, `popitem`,
    `setdefault` and `increment` are atomic; for other read-modify-write operations use
    `transact()` or `transaction()`. `entries`, `size_bytes` and `agent_ids` are as of the last
    `refresh()`; the length is always requested.
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
        """Create an empty store. Raises `Conflict` if the name is taken."""
        return await (client or default_client()).datastores.create(name)

    @classmethod
    async def retrieve(
        cls,
        id: str | None = None,  # noqa: A002
        *,
        name: str | None = None,
        client: Client | None = None,
    ) -> DataStore:
        """Return the store with that id or name."""
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
        """Return the entry of a key, with its version. Raises `KeyError` if it is absent."""
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

        The entry expires after `ttl` seconds. With `if_match`, the value is stored only if the
        entry has that version, 0 if it must be absent; else raises `PreconditionFailed`.
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
            # A retry would find the version of the first request and fail.
            repeatable=if_match is None,
        )
        return version_of(response)

    def scan(self, prefix: str = "") -> Paged[Entry]:
        """Return the entries whose keys have a prefix, in order, fetched as they are needed."""
        return self._scan(checked_key(prefix), MAX_PAGE_SIZE)

    async def increment(self, key: str, amount: int | float = 1) -> int | float:
        """Add to a number and return the new one. Atomic, and in decimal: 0.1 + 0.2 is 0.3.

        An absent key counts as 0, and the expiry is kept. Raises `ValidationError` if the value is
        not a number.
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
        """Return the value of a key, or store and return the default. Atomic."""
        try:
            return await self._value(key)
        except KeyError:
            pass
        return await transact(
            self, lambda tx: tx.setdefault(key, default), _ATTEMPTS_AT_ONE_OPERATION
        )

    async def update(self, other: Any = (), /, **values: Any) -> None:
        """Store the pairs of a mapping or an iterable, in batches of up to 1,000 and 4 MiB.

        Each batch is one atomic transaction.
        """
        batch = Batch()
        for key, value in pairs_of(other, values):
            await self._commit(batch.add(key, Set.of(checked_key(key), value)))
        await self._commit(batch.rest())

    async def clear(self) -> None:
        """Delete all entries, in batches of 1,000; each batch is one transaction."""
        batch = Batch()
        async for key, _ in self._pairs(""):
            await self._commit(batch.add(key, Delete()))
        await self._commit(batch.rest())

    def transaction(self) -> Transaction:
        """Return a transaction, to be used in an `async with` block.

        At the end of the block all writes are applied, if no read entry has changed; otherwise
        `Conflict` is raised and nothing is written. `transact()` retries automatically.
        """
        return Transaction(self)

    async def transact(
        self, function: Callable[[Transaction], Awaitable[T]], attempts: int = 50
    ) -> T:
        """Call `function(transaction)` in a transaction, with retries; return its return value.

        The function may be called several times and should have no other effects. The random
        pause between attempts is at most 1 ms, doubled each time up to half a second. Raises the
        `Conflict` of the last attempt; other exceptions immediately, with nothing written.
        """
        return await transact(self, function, attempts)

    async def export(self, file: Target, prefix: str = "", *, resume: bool = False) -> int:
        """Write the entries whose keys have a prefix to a file; return how many were written.

        `file` is a path, which is overwritten, or a binary file object. Each entry is a line of
        NDJSON, with the value's exact text and the expiry; `import_` reads it. Resumes after
        disconnects, in constant memory. With `resume` and a path, continues an interrupted export
        after its last complete line; an incomplete line is removed.

        Concurrent writes may or may not be included: each page is a consistent snapshot, the
        export as a whole is not.
        """
        return await _portable.export(self, file, prefix, resume)

    def iter_export(self, prefix: str = "", after: str | None = None) -> Stream[bytes]:
        """Yield an export as blocks of whole lines, optionally of keys after `after`."""
        path = path_to(self._path, self.id) + "/export"
        return stream(_portable.blocks(self._client, path, checked_key(prefix), after))

    async def import_(self, file: Source) -> int:
        """Import the output of `export` from a path or a binary file; return the number of entries.

        Expired entries are skipped. Existing keys are overwritten, others are kept. The file is
        sent in parts, with retries; it is safe to import it again. Raises `ValidationError` or
        `TooLarge`, with the number of the line in the file; the message says which lines are
        stored.
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
        # As a list, which includes the expiry, and returns 404 only for a missing store.
        if not checked_key(key):
            raise KeyError(key)
        params = {
            "prefix": key,
            "limit": "1",
        }  # the key sorts before all keys that it is a prefix of
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
        # 404 may also mean that the store was deleted, which isn't a KeyError.
        try:
            await self.refresh()
        except NotFound as error:
            return error
        return KeyError(key)
