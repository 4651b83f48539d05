"""The operations of a store that the mapping, its transactions and its locks use."""

from collections.abc import Iterator
from typing import Any

from roost_executor.script import store_errors
from roost_executor.script.jsonvalue import encode
from roost_executor.script.store_connection import StoreConnection
from roost_executor.script.store_values import checked_key, quoted, value_of

MOST_ENTRIES = 1000
BATCH_BYTES = 4 * 1024 * 1024
# How many values the first page of a scan has; how large they are is known then.
FIRST_VALUES = 50


class StoreOperations:
    """One store, over a connection to the sidecar, and the locks of it that this process may hold."""

    def __init__(self, socket_path: str, store_id: str, name: str, key_bytes: int) -> None:
        """Connects at the first operation."""
        self.socket_path = socket_path
        self.store_id = store_id
        self.name = name
        self.key_bytes = key_bytes
        # By name: process and thread that hold the lock.
        self.lock_owners: dict[str, tuple[int, int]] = {}
        self.connection = StoreConnection(socket_path, store_id)
        # (name, holder) of locks that may be held on the server though no block holds them.
        self._stray_locks: list[tuple[str, str]] = []

    def __repr__(self) -> str:
        return f"<Store {self.name!r}>"

    def quoted(self, key: object) -> str:
        """A key as JSON. Raises TypeError, NotSerializable, ValueTooLarge."""
        return quoted(checked_key(key, self.key_bytes))

    def read(self, key: object) -> "tuple[str | None, int]":
        """JSON text (None: absent) and version of a key."""
        found = self.request("get", f'{{"key": {self.quoted(key)}}}')
        return found["value"], found["version"]

    def count(self, prefix: str) -> int:
        """The number of keys that begin with `prefix`."""
        return int(self.request("count", f'{{"prefix": {quoted(prefix)}}}')["count"])

    def walk(self, prefix: str, values: bool) -> "Iterator[tuple[str, Any]]":
        """Key and value (None without `values`) of each entry."""
        for key, text, _ in self.scan(prefix, values):
            yield key, value_of(key, text) if text is not None else None

    def scan(self, prefix: str, values: bool, first: "int | None" = None) -> "Iterator[tuple[str, str | None, int]]":
        """Key, JSON text (None without `values`) and version of each entry; `first`: the size of the first page."""
        after = "null"
        limit = first or (FIRST_VALUES if values else MOST_ENTRIES)
        while True:
            page = self.request(
                "scan",
                f'{{"prefix": {quoted(prefix)}, "after": {after}, "limit": {limit}, '
                f'"values": {"true" if values else "false"}}}',
            )
            size = 1
            for entry in page["entries"]:
                text = entry["value"] if values else None
                size += len(text or "")
                yield entry["key"], text, entry["version"]
            if page["next"] is None:
                return
            after = quoted(page["next"])
            # As many as fit into 4 MiB, if they are as large as those before.
            limit = max(1, min(MOST_ENTRIES, len(page["entries"]) * BATCH_BYTES // size))

    def request(self, operation: str, body: str) -> Any:
        """The result of an operation. Raises the errors of `store_errors`."""
        try:
            return self.connection.request(operation, body)
        except store_errors.StoreLockLost:
            if not self._stray_locks:
                raise
            # The script never held these locks as far as it knows, so their loss must not stop its writes.
            while self._stray_locks:
                self.unlock(*self._stray_locks[-1])
                self._stray_locks.pop()
            return self.connection.request(operation, body)

    def unlock(self, name: str, holder: str) -> bool:
        """Releases a lock; False when it was lost before."""
        return bool(self.connection.request("unlock", encode({"name": name, "holder": holder}))["released"])

    def release_stray(self, name: str, holder: str, at_once: bool) -> None:
        """Releases a lock that may be held on the server; unless `at_once` works, when it stops a write."""
        try:
            if at_once:
                self.unlock(name, holder)
                return
        except store_errors.StoreError:
            pass
        self._stray_locks.append((name, holder))
