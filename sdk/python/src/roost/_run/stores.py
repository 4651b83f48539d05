"""The stores of local runs: one SQLite file, and the operations of the executor link on it.

The rules are the server's (docs/datastores.md), so scripts see no difference. Runs in several
terminals may share the file.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import Any

from .failures import CannotRun
from .store_checks import Refused, amount_of, invalid, key_of, problem, ttl_of, value_of
from .store_entries import SCHEMA, Table
from .store_locks import Locks, lease_of
from .store_transaction import run_transaction

__all__ = ["Stores"]

_BUSY_SECONDS = 30.0
_MAX_WAIT_SECONDS = 20.0
# Delay until a lock released by another process is noticed.
_POLL_SECONDS = 0.05
_WRITES = frozenset({"set", "delete", "pop", "increment", "clear", "transaction", "unlock"})
_READS = frozenset({"get", "count", "scan"})


class Stores:
    """Stores by name in one file. Thread-safe; call `close` at the end.

    Raises `CannotRun` if the file can't be used.
    """

    def __init__(self, path: Path) -> None:
        self._connection = _opened(path)
        self._changed = threading.Condition(threading.RLock())
        # The last response on each of the executor's connections, for repeated requests.
        self._last_writes: dict[str, tuple[int, bytes]] = {}
        self._execution: str | None = None

    def close(self) -> None:
        """Close the file."""
        with self._changed:
            self._connection.close()

    def begin(self, execution: str, names: Sequence[str]) -> list[dict[str, str]]:
        """Let the execution use these stores, created if missing; return the work's `stores`."""
        with self._transaction():
            self._execution = execution
            return [{"name": name, "id": f"store_{self._ensure(name)}"} for name in names]

    def end(self, execution: str) -> None:
        """Reject the execution's later requests, and release its locks."""
        with self._transaction():
            if self._execution == execution:
                self._execution = None
                self._last_writes.clear()
            self._connection.execute("delete from lock where execution_id = ?", (execution,))
            self._changed.notify_all()

    def operate(self, store_id: str, body: bytes) -> tuple[int, bytes]:
        """Handle one operation; return the status and the JSON of the response."""
        try:
            request = json.loads(body, object_pairs_hook=_without_duplicates)
            operation, store = request["op"], int(store_id.partition("_")[2])
        except (ValueError, KeyError, TypeError):
            return 400, problem("malformed_json", "Not an operation of a store.")
        try:
            if operation == "lock":
                return 200, self._lock(store, request)
            return 200, self._operate(store, operation, request)
        except Refused as refused:
            return refused.status, problem(refused.code, refused.detail)

    def _operate(self, store: int, operation: str, request: Mapping[str, Any]) -> bytes:
        if operation in _WRITES:
            return self._once(store, operation, request)
        with self._transaction() as now:
            self._require_running(request["execution_id"])
            if operation in _READS:
                return _read(Table(self._connection, store, now), operation, request)
            if operation != "renew":
                raise invalid("There is no such operation of a store.")
            locks = Locks(self._connection, store, request["execution_id"], now)
            name, ttl = key_of(request["name"]), lease_of(request["ttl"])
            return _response(held=locks.renew(name, request["holder"], ttl))

    def _once(self, store: int, operation: str, request: Mapping[str, Any]) -> bytes:
        """Apply a write, or repeat the response if it was applied before."""
        channel, number = request["channel"], request["seq"]
        with self._changed:
            done, answer = self._last_writes.get(channel, (0, b""))
            if done > number:
                raise Refused(409, "fenced", "A later write of this connection has been done.")
            if done < number:
                answer = self._write(store, operation, request)
                self._last_writes[channel] = number, answer
            return answer

    def _write(self, store: int, operation: str, request: Mapping[str, Any]) -> bytes:
        with self._transaction() as now:
            execution = request["execution_id"]
            self._require_running(execution)
            locks = Locks(self._connection, store, execution, now)
            if operation == "unlock":
                released = locks.release(key_of(request["name"]), request["holder"])
                self._changed.notify_all()
                return _response(released=released)
            locks.require_none_lost()
            self._connection.execute("delete from entry where expires_at <= ?", (now,))
            return _write(Table(self._connection, store, now), operation, request)

    def _lock(self, store: int, request: Mapping[str, Any]) -> bytes:
        name, holder = key_of(request.get("name")), request["holder"]
        ttl = lease_of(request.get("ttl"))
        wait = min(max(float(request.get("wait", 0)), 0), _MAX_WAIT_SECONDS)
        deadline = time.monotonic() + wait
        with self._changed:
            while True:
                with self._transaction() as now:
                    self._require_running(request["execution_id"])
                    locks = Locks(self._connection, store, request["execution_id"], now)
                    if locks.acquire(name, holder, ttl):
                        return _response(acquired=True)
                left = deadline - time.monotonic()
                if left <= 0:
                    return _response(acquired=False)
                self._changed.wait(min(left, _POLL_SECONDS))

    def _ensure(self, name: str) -> int:
        self._connection.execute("insert or ignore into store (name) values (?)", (name,))
        row = self._connection.execute("select id from store where name = ?", (name,)).fetchone()
        return int(row[0])

    def _require_running(self, execution: str) -> None:
        if execution != self._execution:
            raise Refused(409, "fenced", "The execution has ended.")

    @contextlib.contextmanager
    def _transaction(self) -> Generator[float]:
        """Run the block atomically; yields the current time, in seconds."""
        with self._changed:
            self._connection.execute("begin immediate")
            try:
                yield time.time()
            except BaseException:
                self._connection.execute("rollback")
                raise
            self._connection.execute("commit")


def _opened(path: Path) -> sqlite3.Connection:
    try:
        if not path.parent.exists():
            path.parent.mkdir(parents=True)
            (path.parent / ".gitignore").write_text("*\n", encoding="ascii")
        connection = sqlite3.connect(
            path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
    except (OSError, sqlite3.Error) as error:
        raise CannotRun(f"{path} can't be used for stores: {error}") from None
    try:
        connection.execute("pragma journal_mode = wal")
        connection.execute("pragma synchronous = normal")
        connection.executescript(SCHEMA)
    except sqlite3.Error as error:
        connection.close()
        raise CannotRun(f"{path} can't be used for stores: {error}") from None
    return connection


def _read(table: Table, operation: str, request: Mapping[str, Any]) -> bytes:
    if operation == "count":
        return _response(count=table.count(request))
    if operation == "scan":
        with_values = request.get("values", True)
        entries, more = table.page(request, request.get("limit", 1_000), with_values)
        found = [
            {
                "key": entry.key.decode(),
                "value": entry.value.decode() if with_values else None,
                "version": entry.version,
            }
            for entry in entries
        ]
        return _response(entries=found, next=found[-1]["key"] if more else None)
    entry = table.get(key_of(request["key"]))
    if entry is None:
        return _response(value=None, version=0, expires_at=None)
    return _response(
        value=entry.value.decode(), version=entry.version, expires_at=entry.expires_text
    )


def _write(table: Table, operation: str, request: Mapping[str, Any]) -> bytes:
    if operation == "clear":
        return _response(deleted=table.clear())
    if operation == "transaction":
        return run_transaction(table, request).encode()
    key = key_of(request["key"])
    if operation == "set":
        return _response(version=table.put(key, value_of(request["value"]), ttl_of(request)))
    if operation == "increment":
        total, version = table.increment(key, amount_of(request["amount"]))
        return _response(value=total, version=version)
    entry = table.delete(key)
    version = entry.version if entry else 0
    if operation == "pop":
        return _response(value=entry.value.decode() if entry else None, version=version)
    return _response(deleted=entry is not None, version=version)


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name twice")
    return found


def _response(**fields: Any) -> bytes:
    return json.dumps(fields).encode()
