"""Transactions of a store: reads are remembered, writes kept back, and all of it checked and done at the end."""

import bisect
from collections.abc import Iterator
from typing import Any

from roost_executor.script import store_errors
from roost_executor.script.jsonvalue import encode
from roost_executor.script.store_lock import Lock
from roost_executor.script.store_operations import StoreOperations
from roost_executor.script.store_ranges import CountRead, RangeRead, name_of
from roost_executor.script.store_values import (
    added,
    amount_text,
    checked_key,
    quoted,
    seconds,
    text_of,
    value_of,
)
from roost_executor.script.store_views import PrefixMapping

MISSING = object()
SET = "set"
DELETE = "delete"
INCREMENT = "increment"
PARTS = ("reads", "ranges", "writes")
# So many versions are remembered from iterations, to notice early that one has changed.
MOST_SEEN = 10_000


class Transaction(PrefixMapping):
    """Reads and writes of a store that happen as one: `with store.transaction() as tx`.

    It is a mapping as the store is, of what the store has and the transaction's own writes. Writes are kept back
    until the end of the with-block; then, in one step, it is checked that everything that was read (keys, absent
    ones too, and what an iteration or `len` went through) is still the same, and all writes are done. If something
    has changed, Conflict is raised and nothing is written; `store.transact` begins anew for you then. If the block
    raises, nothing is written. Unavailable at the end: it may have been done.

    - The check comes at the end: until then, what was read one after the other may not fit together, and if it
      doesn't, the transaction fails. So do nothing irreversible within the block.
    - A transaction that has only read is checked as well: if it succeeds, all that it read was true at once.
    - `increment` is blind: it reads nothing and so never conflicts.
    - At most 10,000 reads, ranges and writes, and 16 MiB of values.
    - Several threads must not share a transaction. Other transactions and plain operations of the store can go on
      beside it and don't see its writes.
    - `versions`, after the end: the new version of each key that was written, 0 where it was removed.
    """

    def __init__(self, store: StoreOperations, lock: "Lock | None" = None) -> None:
        self._store = store
        self._lock = lock
        self._state = "not begun: use it in a with-block"
        self._reads: dict[str, int] = {}
        self._seen: dict[str, int] = {}
        self._ranges: list[RangeRead] = []
        self._finished: dict[str, RangeRead] = {}
        self._counts: dict[str, CountRead] = {}
        # What is to be done with a key: (SET, JSON text, ttl), (DELETE,) or (INCREMENT, JSON number).
        self._writes: dict[str, tuple[Any, ...]] = {}
        self._written: list[str] = []
        self.versions: dict[str, int] = {}

    def __enter__(self) -> "Transaction":
        if self._state.startswith("not begun"):
            if self._lock is not None:
                self._lock.__enter__()
            self._state = ""
            return self
        raise store_errors.StoreError("a transaction is for one with-block; make another one")

    def __exit__(self, kind: object, *_: object) -> None:
        """Checks and writes, unless the block has raised. Raises Conflict and what else a write raises."""
        self._state = "over"
        try:
            if kind is None:
                self._commit()
        except BaseException as error:
            kind = error
            raise
        finally:
            if self._lock is not None:
                self._lock.__exit__(kind)

    def __repr__(self) -> str:
        return f"<Transaction of {self._store!r}: {len(self._reads)} keys read, {len(self._writes)} written>"

    def __reduce__(self) -> "tuple[Any, ...]":
        raise TypeError("a transaction belongs to the thread that makes it")

    def __getitem__(self, key: str) -> Any:
        text = self._text(self._key(key))
        if text is None:
            raise KeyError(key)
        return value_of(key, text)

    def __setitem__(self, key: str, value: Any) -> None:
        self.set(key, value)

    def __delitem__(self, key: str) -> None:
        if self._text(self._key(key)) is None:
            raise KeyError(key)
        self._write(key, (DELETE,))

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._text(self._key(key)) is not None

    def __iter__(self) -> "Iterator[str]":
        return (key for key, _ in self._walk("", False))

    def __len__(self) -> int:
        return self._count("")

    def get(self, key: str, default: Any = None) -> Any:
        """The value of `key`, or `default` when it is absent."""
        text = self._text(self._key(key))
        return default if text is None else value_of(key, text)

    def set(self, key: str, value: Any, ttl: "float | None" = None) -> None:
        """Stores a JSON value at the end; with `ttl`, for that many seconds from then."""
        text = text_of(self._key(key), value)
        self._write(key, (SET, text, None if ttl is None else seconds("ttl", ttl)))

    def increment(self, key: str, amount: "int | float" = 1) -> None:
        """Adds to a number at the end, to whatever it is then; an absent key counts as 0.

        Returns nothing, since it reads nothing. Reading the key afterwards is a read as any other, and gives what
        is stored plus what was added here.
        """
        text = amount_text(amount)
        before = self._writes.get(self._key(key), (INCREMENT, None))
        if before[0] == SET:
            self._write(key, (SET, added(key, before[1], text), before[2]))
        elif before[0] == DELETE:
            self._write(key, (SET, text, None))
        else:
            self._write(key, (INCREMENT, added(key, before[1], text)))

    def pop(self, key: str, default: Any = MISSING) -> Any:
        """Removes `key` and returns its value; when it is absent, `default`, or KeyError without one."""
        text = self._text(self._key(key))
        if text is None:
            if default is MISSING:
                raise KeyError(key)
            return default
        self._write(key, (DELETE,))
        return value_of(key, text)

    def popitem(self) -> "tuple[str, Any]":
        """Removes the first key; returns it with its value. KeyError when there is none."""
        for key, value in self._walk("", True, 1):
            self._write(key, (DELETE,))
            return key, value
        raise KeyError("the store is empty")

    def clear(self) -> None:
        """Removes every key that is there: an iteration over all of them, and a write each."""
        for key in list(self):
            self._write(key, (DELETE,))

    def _key(self, key: object) -> str:
        self._check_open()
        return checked_key(key, self._store.key_bytes)

    def _check_open(self) -> None:
        if self._state:
            raise store_errors.StoreError(f"this transaction is {self._state}")

    def _write(self, key: str, write: "tuple[Any, ...]") -> None:
        if key not in self._writes:
            bisect.insort(self._written, key)
        self._writes[key] = write

    def _text(self, key: str) -> "str | None":
        """The JSON text that `key` has here; None when it is absent."""
        write = self._writes.get(key, (INCREMENT, None))
        if write[0] == SET:
            return str(write[1])
        if write[0] == DELETE:
            return None
        text, version = self._store.read(key)
        self._saw(key, version)
        self._reads[key] = version
        return text if write[1] is None else added(key, text, write[1])

    def _saw(self, key: str, version: int) -> None:
        """Fails early when a key has another version than before."""
        before = self._seen.get(key, self._reads.get(key))
        if before is not None and before != version:
            raise store_errors.StoreConflict(f"{key!r} has changed since this transaction read it")
        if len(self._seen) < MOST_SEEN:
            self._seen[key] = version

    def _count(self, prefix: str) -> int:
        self._check_open()
        count = CountRead(prefix, self._store.count(prefix))
        if self._counts.setdefault(prefix, count).count != count.count:
            raise store_errors.StoreConflict(
                f"the number of keys in {name_of(prefix)} has changed since this transaction counted it"
            )
        number = count.count
        for key, write in self._writes.items():
            if key.startswith(prefix):
                if key not in self._reads:
                    _, version = self._store.read(key)
                    self._saw(key, version)
                    self._reads[key] = version
                number += (write[0] != DELETE) - (self._reads[key] != 0)
        return number

    def _walk(self, prefix: str, values: bool, first: "int | None" = None) -> "Iterator[tuple[str, Any]]":
        """Keys and values, what is stored and what was written here merged. What was passed is remembered as read."""
        self._check_open()
        read = RangeRead(prefix)
        self._ranges.append(read)
        # A copy: a loop that writes further keys still ends.
        written = tuple(self._written)
        stored = self._store.scan(prefix, values, first)
        ahead = next(stored, None)
        last: str | None = None
        while True:
            own = _next(written, prefix, last)
            if ahead is None and own is None:
                break
            if ahead is not None and (own is None or ahead[0] <= own):
                last, text, version = ahead
                self._saw(last, version)
                read.add(last, version)
            else:
                last, text = str(own), None
                read.reach(last)
            write = self._writes.get(last, (None,))
            if write[0] == SET:
                text = write[1]
            elif write[0] == INCREMENT and values:
                text = added(last, text, write[1])
            if write[0] != DELETE:
                yield last, value_of(last, str(text)) if values else None
                self._check_open()
            if ahead is not None and ahead[0] == last:
                ahead = next(stored, None)
        read.finish()
        earlier = self._finished.setdefault(prefix, read)
        if earlier is not read and not read.repeats(earlier):
            raise store_errors.StoreConflict(f"{name_of(prefix)} has changed since this transaction read it")

    def _commit(self) -> None:
        reads = [f'{{"key": {quoted(key)}, "version": {version}}}' for key, version in self._reads.items()]
        ranges = [text for text in (read.json() for read in [*self._ranges, *self._counts.values()]) if text]
        writes = [_json_of(key, write) for key, write in self._writes.items()]
        if reads or ranges or writes:
            parts = (f'"{name}": [{", ".join(items)}]' for name, items in zip(PARTS, (reads, ranges, writes)))
            versions = self._store.request("transaction", f"{{{', '.join(parts)}}}")["versions"]
            self.versions = dict(zip(self._writes, versions))


def _next(written: "tuple[str, ...]", prefix: str, last: "str | None") -> "str | None":
    """The first key with `prefix` after `last`."""
    index = bisect.bisect_left(written, prefix) if last is None else bisect.bisect_right(written, last)
    return written[index] if index < len(written) and written[index].startswith(prefix) else None


def _json_of(key: str, write: "tuple[Any, ...]") -> str:
    if write[0] == SET:
        return f'{{"key": {quoted(key)}, "value": {quoted(write[1])}, "ttl": {encode(write[2])}}}'
    if write[0] == DELETE:
        return f'{{"key": {quoted(key)}, "delete": true}}'
    return f'{{"key": {quoted(key)}, "increment": {quoted(write[1])}}}'
