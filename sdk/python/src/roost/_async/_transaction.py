"""Transactions on a DataStore: tracked reads, buffered writes."""

from __future__ import annotations

import itertools
from collections.abc import AsyncGenerator, Awaitable
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from .._entries import MAX_PAGE_SIZE, Entry
from .._errors import Conflict
from .._fields import path_to
from .._ranges import Range, Scan
from .._values import parse_json
from .._writes import (
    Delete,
    Increment,
    Set,
    Write,
    checked_amount,
    checked_key,
    total,
)
from ._commit import commit
from ._concurrency import next_or
from ._mapping import PrefixMapping

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._data_store import DataStore

__all__ = ["Transaction", "transact"]

T = TypeVar("T")

_FIRST_BACKOFF_SECONDS = 0.001
_MAX_BACKOFF_SECONDS = 0.5
_MISSING = object()


class Transaction(PrefixMapping):
    """The entries of a store as a mapping whose changes are written atomically.

    Created by `DataStore.transaction()` and used in an `async with` block, by one task at a time.
    Reads are tracked with their versions, writes are buffered until the end of the block. Then the
    server applies all writes atomically, if nothing that was read has changed: a key, the absence
    of a key, the keys of an iteration, their number. Otherwise nothing is written and `Conflict`
    is raised. An exception in the block writes nothing.

    Reads see the transaction's own writes. They are not a snapshot: concurrent writes may make
    them inconsistent, which then raises `Conflict`.
    """

    __slots__ = (
        "_conflict",
        "_counted",
        "_reads",
        "_scans",
        "_state",
        "_store",
        "_writes",
        "versions",
    )

    versions: dict[str, int]
    """After the end, the version of each written key, 0 for a deleted one."""

    def __init__(self, store: DataStore) -> None:
        self.versions = {}
        self._store = store
        self._state = "not begun"
        self._reads: dict[str, int] = {}
        self._scans: list[Scan] = []
        self._counted: int | None = None
        self._writes: dict[str, Write] = {}
        self._conflict: Conflict | None = None

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.Transaction on {self._store.id}: {self._state}>"

    async def set(self, key: str, value: Any, *, ttl: float | None = None) -> None:
        """Store the current value at the end of the block; with `ttl`, for that many seconds."""
        self._check_open()
        self._writes[key] = Set.of(checked_key(key), value, ttl)

    async def increment(self, key: str, amount: int | float = 1) -> None:
        """Add to a number, at the end and on the server.

        An absent key counts as 0, and the expiry is kept. It reads nothing, so it can't conflict
        unless the transaction also reads the key. If the value isn't a number, the end of the
        block raises `ValidationError`.
        """
        self._check_open()
        checked_amount(amount)
        write = self._writes.get(checked_key(key))
        if isinstance(write, Set):
            value = total(key, parse_json(write.text), amount)
            self._writes[key] = Set.of(key, value, write.ttl)
        elif isinstance(write, Delete):
            self._writes[key] = Set.of(key, amount)
        else:
            if not key:
                raise ValueError("the empty string can't be a key")
            before = 0 if write is None else write.amount
            self._writes[key] = Increment(checked_amount(total(key, before, amount)))

    async def pop(self, key: str, default: Any = _MISSING) -> Any:
        """Remove a key and return its value, or `default` if it is given and the key is absent."""
        try:
            value = await self._value(key)
        except KeyError:
            if default is _MISSING:
                raise
            return default
        self._writes[key] = Delete()
        return value

    async def popitem(self) -> tuple[str, Any]:
        """Remove the first key and return it with its value; `KeyError` if there is none."""
        self._check_open()
        deleted = sum(isinstance(write, Delete) for write in self._writes.values())
        first = await next_or(self._merged("", page_size=1 + deleted), None)
        if first is None:
            raise KeyError("the store is empty")
        self._writes[first[0]] = Delete()
        return first

    async def clear(self) -> None:
        """Delete all entries, after reading all keys."""
        for key in [key async for key, _ in self._pairs("")]:
            self._writes[key] = Delete()

    async def _value(self, key: str) -> Any:
        self._check_open()
        if not checked_key(key):
            raise KeyError(key)
        write = self._writes.get(key)
        if isinstance(write, Set):
            return parse_json(write.text)
        entry = None if isinstance(write, Delete) else await self._read(key)
        if isinstance(write, Increment):
            return total(key, 0 if entry is None else entry.value, write.amount)
        if entry is None:
            raise KeyError(key)
        return entry.value

    async def _set(self, key: str, value: Any) -> None:
        await self.set(key, value)

    async def _remove(self, key: str) -> None:
        if not await self._has(key):
            raise KeyError(key)
        self._writes[key] = Delete()

    async def _has(self, key: object) -> bool:
        self._check_open()
        if not isinstance(key, str) or not checked_key(key):
            return False
        write = self._writes.get(key)
        return await self._read(key) is not None if write is None else not isinstance(write, Delete)

    async def _count(self) -> int:
        self._check_open()
        stored = await self._store._count()
        if self._counted not in (None, stored):
            raise self._changed("the number of entries")
        self._counted = stored
        for key, write in self._writes.items():
            if key not in self._reads:
                await self._read(key)
            stored += (not isinstance(write, Delete)) - (self._reads[key] != 0)
        return stored

    async def __aenter__(self) -> Self:
        if self._state != "not begun":
            raise RuntimeError("a transaction can be used only once; create another one")
        self._state = "open"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._state = "ended"
        if kind is None:
            await self._commit()

    async def _commit(self) -> None:
        ranges = self._ranges()
        if not (self._reads or ranges or self._writes):
            return
        store = self._store
        try:
            transport, path = store._client._transport, path_to(store._path, store.id)
            written = await commit(transport, path, self._reads, ranges, self._writes)
        except Conflict as error:
            self._conflict = error
            raise
        self.versions.update((key, each.version) for key, each in written.items())

    def _ranges(self) -> list[Range]:
        ranges: list[Range] = (
            [] if self._counted is None else [{"prefix": "", "count": self._counted}]
        )
        seen = [each for scan in self._scans if (each := scan.range()) is not None]
        return [*ranges, *{tuple(each.items()): each for each in seen}.values()]

    async def _read(self, key: str) -> Entry | None:
        entry = await self._store._find(key)
        version = 0 if entry is None else entry.version
        if self._reads.setdefault(key, version) != version:
            raise self._changed(repr(key))
        return entry

    def _pairs(self, prefix: str) -> AsyncGenerator[tuple[str, Any], None]:
        self._check_open()
        return self._merged(checked_key(prefix))

    async def _merged(
        self, prefix: str, page_size: int = MAX_PAGE_SIZE
    ) -> AsyncGenerator[tuple[str, Any], None]:
        scan = Scan(prefix)
        self._scans.append(scan)
        own = sorted((key for key in self._writes if key.startswith(prefix)), reverse=True)
        stored = self._store._scan(prefix, min(page_size, MAX_PAGE_SIZE))
        while True:
            self._check_open()
            entry = await next_or(stored, None)
            while own and (entry is None or own[-1] < entry.key):
                scan.through = key = own.pop()
                if not isinstance(self._writes[key], Delete):
                    yield key, self._overlaid(key, 0)
                    self._check_open()
            if entry is None:
                break
            if own and own[-1] == entry.key:
                own.pop()
            if self._reads.get(entry.key, entry.version) != entry.version:
                raise self._changed(repr(entry.key))
            scan.see(entry)
            if not isinstance(self._writes.get(entry.key), Delete):
                yield entry.key, self._overlaid(entry.key, entry.value)
        scan.complete = True

    def _overlaid(self, key: str, stored: Any) -> Any:
        write = self._writes.get(key)
        if isinstance(write, Set):
            return parse_json(write.text)
        return total(key, stored, write.amount) if isinstance(write, Increment) else stored

    def _changed(self, what: str) -> Conflict:
        message = f"changed since this transaction first read it: {what}; nothing was written"
        self._conflict = Conflict(message, code="conflict")
        return self._conflict

    def _check_open(self) -> None:
        if self._state == "not begun":
            raise RuntimeError("use a transaction in an async with block")
        if self._state == "ended":
            raise RuntimeError("this transaction has ended")


async def transact(
    store: DataStore, function: Callable[[Transaction], Awaitable[T]], attempts: int
) -> T:
    """Call the function in transactions until one succeeds, at most `attempts` times."""
    if attempts < 1:
        raise ValueError("attempts must be at least 1")
    clock = store._client._transport.clock
    for attempt in itertools.count(1):
        transaction = store.transaction()
        try:
            async with transaction:
                result = await function(transaction)
        except Conflict as error:
            # Don't retry a Conflict of something else that the function did.
            if error is not transaction._conflict or attempt >= attempts:
                raise
        else:
            return result
        most = min(_MAX_BACKOFF_SECONDS, _FIRST_BACKOFF_SECONDS * 2.0 ** min(attempt - 1, 16))
        await clock.asleep(clock.uniform(0.0, most))
    raise AssertionError("unreachable")
