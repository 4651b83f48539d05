"""The store that `main` gets: a mapping over the sidecar's Unix socket."""

import os
import time
from collections.abc import Iterator
from typing import Any, Callable

from roost_executor.script import store_errors
from roost_executor.script.jsonvalue import encode
from roost_executor.script.store_lock import Lock
from roost_executor.script.store_operations import BATCH_BYTES, MOST_ENTRIES, StoreOperations
from roost_executor.script.store_transaction import Transaction
from roost_executor.script.store_values import (
    KEY_BYTES,
    Entry,
    amount_text,
    bytes_of,
    checked_key,
    pairs,
    quoted,
    seconds,
    text_of,
    value_of,
)
from roost_executor.script.store_views import PrefixMapping
from roost_executor.wire.clock import moment

FIRST_PAUSE_SECONDS = 0.001
LONGEST_PAUSE_SECONDS = 0.5
MISSING = object()


class Store(PrefixMapping):
    """A durable, ordered mapping of string keys to JSON values, shared by agents and executions.

    It does what a dict does: `store["a"] = 1`, `store["a"]`, `del store["a"]`, `"a" in store`, `len(store)`,
    `for key in store`, `get`, `pop`, `popitem`, `setdefault`, `update`, `clear`, `keys`, `values`, `items`. Keys are
    1 to 512 bytes of UTF-8 and come in the order of their code points; values are what `json` writes, 1 MiB each.

    Every operation is atomic and is durable when it returns. Two go in steps: `update` with much, which is all or
    nothing for each batch, and iteration, which reads in pages, each consistent in itself. In a transaction
    everything that was read fits together.

    Changing a value that was read does not store it: `store["list"].append(1)` changes a copy. Assign it again, as
    with `shelve`, and where others write too, do it in a transaction:

        with store.transaction() as tx:              # all or nothing
            tx["list"] = tx.get("list", []) + [1]    # Conflict at the end, if someone else has changed it
        store.transact(lambda tx: tx.update(n=tx.get("n", 0) + 1))    # does it again after a conflict
        store.increment("n")                         # atomic, for numbers
        with store.lock("report", ttl=30):           # one execution at a time
            ...

    Safe to use from several threads and, after a fork or a spawn, from several processes.

    Errors are attributes of the store: `store.Error`, and below it `store.Conflict` (and below that
    `store.LockLost`), `store.Full`, `store.ValueTooLarge`, `store.NotSerializable`, `store.LockTimeout` and
    `store.Unavailable`: no answer within 30 s; a write may have been done. A missing key is a KeyError.
    """

    Error = store_errors.StoreError
    Conflict = store_errors.StoreConflict
    LockLost = store_errors.StoreLockLost
    Full = store_errors.StoreFull
    ValueTooLarge = store_errors.ValueTooLarge
    NotSerializable = store_errors.NotSerializable
    Unavailable = store_errors.StoreUnavailable
    LockTimeout = store_errors.StoreLockTimeout

    def __init__(self, socket_path: str, store_id: str, name: str, key_bytes: int = KEY_BYTES) -> None:
        """Connects at the first operation."""
        self._operations = StoreOperations(socket_path, store_id, name, key_bytes)

    def __getitem__(self, key: str) -> Any:
        text, _ = self._operations.read(key)
        if text is None:
            raise KeyError(key)
        return value_of(key, text)

    def __setitem__(self, key: str, value: Any) -> None:
        self.set(key, value)

    def __delitem__(self, key: str) -> None:
        if not self._operations.request("delete", f'{{"key": {self._operations.quoted(key)}}}')["deleted"]:
            raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._operations.read(key)[0] is not None

    def __iter__(self) -> "Iterator[str]":
        return (key for key, _ in self._walk("", False))

    def __len__(self) -> int:
        return self._count("")

    def __repr__(self) -> str:
        return repr(self._operations)

    def __reduce__(self) -> "tuple[Any, ...]":
        own = self._operations
        return Store, (own.socket_path, own.store_id, own.name, own.key_bytes)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of `key`, or `default` when it is absent."""
        text, _ = self._operations.read(key)
        return default if text is None else value_of(key, text)

    def entry(self, key: str) -> Entry:
        """Value, version and expiry of `key`; KeyError when it is absent.

        The version grows with each change of the entry, also from before its removal to after it.
        """
        found = self._operations.request("get", f'{{"key": {self._operations.quoted(key)}}}')
        if found["value"] is None:
            raise KeyError(key)
        return Entry(key, value_of(key, found["value"]), found["version"], moment(found.get("expires_at")))

    def set(self, key: str, value: Any, ttl: "float | None" = None) -> int:
        """Stores a JSON value, with `ttl` for that many seconds; returns the entry's new version.

        Without `ttl` it never expires, also when the entry had an expiry before. Raises NotSerializable, ValueTooLarge,
        Full, LockLost, Unavailable.
        """
        name = self._operations.quoted(key)
        lifetime = "null" if ttl is None else encode(seconds("ttl", ttl))
        text = text_of(key, value)
        body = f'{{"key": {name}, "value": {quoted(text)}, "ttl": {lifetime}}}'
        return int(self._operations.request("set", body)["version"])

    def increment(self, key: str, amount: "int | float" = 1) -> "int | float":
        """Adds to a number, atomically and in decimal (0.1 + 0.2 is 0.3); returns the new one.

        An absent key counts as 0; an expiry stays. Raises Error when the value is no number.
        """
        body = f'{{"key": {self._operations.quoted(key)}, "amount": {quoted(amount_text(amount))}}}'
        number: int | float = value_of(key, self._operations.request("increment", body)["value"])
        return number

    def pop(self, key: str, default: Any = MISSING) -> Any:
        """Removes `key` and returns its value, atomically; when it is absent, `default`, or KeyError without one."""
        text = self._operations.request("pop", f'{{"key": {self._operations.quoted(key)}}}')["value"]
        if text is not None:
            return value_of(key, text)
        if default is MISSING:
            raise KeyError(key)
        return default

    def popitem(self) -> "tuple[str, Any]":
        """Removes the first key, atomically; returns it with its value. KeyError when the store is empty."""
        item: tuple[str, Any] = self.transact(lambda tx: tx.popitem())
        return item

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of `key`; when it is absent, `default` is stored, atomically, and returned."""
        return self.transact(lambda tx: tx.setdefault(key, default))

    def update(self, other: Any = (), /, **more: Any) -> None:
        """Stores all pairs of a mapping or of an iterable.

        In batches of up to 1,000 pairs and 4 MiB, each of them all or nothing: more than that isn't atomic.
        """
        batch: dict[str, str] = {}
        size = 0
        for key, value in pairs(other, more):
            text = text_of(checked_key(key, self._operations.key_bytes), value)
            size += len(text) + bytes_of(key)
            if batch and (len(batch) == MOST_ENTRIES or size > BATCH_BYTES):
                self._write_all(batch)
                batch, size = {}, len(text) + bytes_of(key)
            batch[key] = text
        if batch:
            self._write_all(batch)

    def clear(self) -> None:
        """Removes every entry, in one operation."""
        self._operations.request("clear", "{}")

    def transaction(self, lock: bool = False) -> Transaction:
        """Several reads and writes as one, in a with-block: `with store.transaction() as tx`. See Transaction.

        With `lock=True`, one execution at a time is in such a block of the store: it holds `store.lock("transaction")`.
        Then the block may use the store itself, too; what it writes there is written at once.
        """
        return Transaction(self._operations, self.lock("transaction") if lock else None)

    def transact(self, function: "Callable[[Transaction], Any]", attempts: int = 50) -> Any:
        """Calls `function(tx)` in a transaction and returns its value; on a Conflict does it again, from the beginning.

        `function` may so be called several times: it should do nothing else that can't be repeated. After
        `attempts` calls the Conflict is raised. LockLost is raised at once.
        """
        if attempts < 1:
            raise ValueError(f"attempts is {attempts!r}; it must be 1 or more")
        pause = FIRST_PAUSE_SECONDS
        for attempt in range(attempts):
            try:
                with self.transaction() as tx:
                    value = function(tx)
                    if hasattr(type(value), "__await__"):
                        getattr(value, "close", bool)()
                        raise TypeError("transact takes a plain function, not an async one")
                return value
            except store_errors.StoreLockLost:
                raise
            except store_errors.StoreConflict:
                if attempt == attempts - 1:
                    raise
            # Any time up to the pause ("full jitter"). Not from `random`, whose state is the script's.
            time.sleep(pause * int.from_bytes(os.urandom(4), "big") / 2**32)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)
        raise AssertionError

    def lock(self, name: str, ttl: float = 30, timeout: "float | None" = None) -> Lock:
        """A lock that one execution at a time holds, for a with-block: `with store.lock("report", timeout=10):`.

        It is a lease of `ttl` seconds (0.5 to 86,400), renewed every `ttl`/3 by a thread of this process, and freed
        at the end of the block and when the execution ends, however it ends. A process that is stopped or cut
        off for longer than `ttl` may lose it to someone else. From then on every write of this execution, to any
        store, is refused with LockLost until the block is left, at whose end LockLost is raised too (unless the
        block raises something else): so two holders never write at once. What was written before stays.

        `timeout`: how long to wait for it, in seconds; 0: one try; None: until the execution ends. LockTimeout
        when it could not be acquired. Not reentrant; not held in forked children. Names are as keys and have nothing to
        do with them. Other threads use the store meanwhile. `held` is true while it is held.
        """
        checked_key(name, self._operations.key_bytes, "name of a lock")
        seconds("ttl", ttl)
        if timeout is not None:
            seconds("timeout", timeout, or_zero=True)
        return Lock(self._operations, name, ttl, timeout)

    def _count(self, prefix: str) -> int:
        return self._operations.count(prefix)

    def _walk(self, prefix: str, values: bool) -> "Iterator[tuple[str, Any]]":
        return self._operations.walk(prefix, values)

    def _write_all(self, texts: "dict[str, str]") -> None:
        writes = (f'{{"key": {quoted(key)}, "value": {quoted(text)}, "ttl": null}}' for key, text in texts.items())
        self._operations.request("transaction", f'{{"reads": [], "ranges": [], "writes": [{", ".join(writes)}]}}')
