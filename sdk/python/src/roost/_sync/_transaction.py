# Made by generate.py from src/roost/_async/_transaction.py; change that.
"""Transactions on a DataStore: reads that are remembered, writes that wait for the end."""

from __future__ import annotations

import itertools
from collections.abc import Generator
from types import TracebackType
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from .._entries import PAGE_MOST, Entry
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

_BACKOFF_FIRST_SECONDS = 0.001
_BACKOFF_MOST_SECONDS = 0.5
_MISSING = object()


class Transaction(PrefixMapping):
    """The entries of a store as a mapping whose changes are written together, or not at all.

    Made by `DataStore.transaction()` and used in a `with` block, by one thread.
    What is read is remembered with its version, what is written waits for the end of the block.
    There the server applies all writes at once, if nothing that was read has changed: a key, the
    absence of a key, the keys that an iteration went through, their number. Otherwise nothing is
    written and `Conflict` is raised. An exception in the block writes nothing.

    Reading sees the transaction's own writes. What was read may not fit together when someone
    writes meanwhile; then the end says so.
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
    """After the end, the version of each key that was written, 0 for one that was deleted."""

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

    def set(self, key: str, value: Any, *, ttl: float | None = None) -> None:
        """Store a value as it is now at the end; with `ttl`, for that many seconds from then."""
        self._check_open()
        self._writes[key] = Set.of(checked_key(key), value, ttl)

    def increment(self, key: str, amount: int | float = 1) -> None:
        """Add to a number, at the end and on the server.

        An absent key counts as 0, and an expiry stays. It doesn't read, so that it conflicts with
        nobody, unless the transaction reads the key as well. If the value is no number then,
        the end of the block raises `ValidationError`.
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

    def pop(self, key: str, default: Any = _MISSING) -> Any:
        """Remove a key and return its value, or `default` if it is given and the key is absent."""
        try:
            value = self._value(key)
        except KeyError:
            if default is _MISSING:
                raise
            return default
        self._writes[key] = Delete()
        return value

    def popitem(self) -> tuple[str, Any]:
        """Remove the first key and return it with its value; `KeyError` when none is left."""
        self._check_open()
        deleted = sum(isinstance(write, Delete) for write in self._writes.values())
        first = next_or(self._merged("", page_size=1 + deleted), None)
        if first is None:
            raise KeyError("the store is empty")
        self._writes[first[0]] = Delete()
        return first

    def clear(self) -> None:
        """Delete every entry. All keys are read for that."""
        for key in [key for key, _ in self._pairs("")]:
            self._writes[key] = Delete()

    def _value(self, key: str) -> Any:
        self._check_open()
        if not checked_key(key):
            raise KeyError(key)
        write = self._writes.get(key)
        if isinstance(write, Set):
            return parse_json(write.text)
        entry = None if isinstance(write, Delete) else self._read(key)
        if isinstance(write, Increment):
            return total(key, 0 if entry is None else entry.value, write.amount)
        if entry is None:
            raise KeyError(key)
        return entry.value

    def _set(self, key: str, value: Any) -> None:
        self.set(key, value)

    def _remove(self, key: str) -> None:
        if not self._has(key):
            raise KeyError(key)
        self._writes[key] = Delete()

    def _has(self, key: object) -> bool:
        self._check_open()
        if not isinstance(key, str) or not checked_key(key):
            return False
        write = self._writes.get(key)
        return self._read(key) is not None if write is None else not isinstance(write, Delete)

    def _count(self) -> int:
        self._check_open()
        stored = self._store._count()
        if self._counted not in (None, stored):
            raise self._changed("the number of entries")
        self._counted = stored
        for key, write in self._writes.items():
            if key not in self._reads:
                self._read(key)
            stored += (not isinstance(write, Delete)) - (self._reads[key] != 0)
        return stored

    def __enter__(self) -> Self:
        if self._state != "not begun":
            raise RuntimeError("a transaction can be used once; make another one")
        self._state = "open"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._state = "ended"
        if kind is None:
            self._commit()

    def _commit(self) -> None:
        ranges = self._ranges()
        if not (self._reads or ranges or self._writes):
            return
        store = self._store
        try:
            transport, path = store._client._transport, path_to(store._path, store.id)
            written = commit(transport, path, self._reads, ranges, self._writes)
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

    def _read(self, key: str) -> Entry | None:
        entry = self._store._find(key)
        version = 0 if entry is None else entry.version
        if self._reads.setdefault(key, version) != version:
            raise self._changed(repr(key))
        return entry

    def _pairs(self, prefix: str) -> Generator[tuple[str, Any], None, None]:
        self._check_open()
        return self._merged(checked_key(prefix))

    def _merged(
        self, prefix: str, page_size: int = PAGE_MOST
    ) -> Generator[tuple[str, Any], None, None]:
        scan = Scan(prefix)
        self._scans.append(scan)
        own = sorted((key for key in self._writes if key.startswith(prefix)), reverse=True)
        stored = self._store._scan(prefix, min(page_size, PAGE_MOST))
        while True:
            self._check_open()
            entry = next_or(stored, None)
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
            raise RuntimeError("use a transaction in a with block")
        if self._state == "ended":
            raise RuntimeError("this transaction has ended")


def transact(store: DataStore, function: Callable[[Transaction], T], attempts: int) -> T:
    """Call the function in transactions until one has no conflict, at most `attempts` times."""
    if attempts < 1:
        raise ValueError("attempts must be at least 1")
    clock = store._client._transport.clock
    for attempt in itertools.count(1):
        transaction = store.transaction()
        try:
            with transaction:
                result = function(transaction)
        except Conflict as error:
            # One that the function raised for a reason of its own is not for us to repeat.
            if error is not transaction._conflict or attempt >= attempts:
                raise
        else:
            return result
        most = min(_BACKOFF_MOST_SECONDS, _BACKOFF_FIRST_SECONDS * 2.0 ** min(attempt - 1, 16))
        clock.sleep(clock.uniform(0.0, most))
    raise AssertionError("unreachable")
