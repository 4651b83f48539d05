"""The SQL of a store alone, on the server's own PostgreSQL, in a scratch schema with the same tables."""

import hashlib
import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

from psycopg.types.numeric import Int8

from roost_bench import statements
from roost_bench import store_statements as sql

STORE = "store_1"
PAGE = 1000
CONNECTIONS = itertools.count()


def number(key: bytes) -> Int8:
    """Of the advisory lock of a key; of the store without one."""
    return scoped(STORE, key)


def scoped(scope: str, name: bytes) -> Int8:
    """Of the advisory lock of a name in a scope."""
    digest = hashlib.sha256(scope.encode() + b"\0" + name).digest()
    return Int8(int.from_bytes(digest[:8], "big", signed=True))


STORE_LOCK = number(b"")


class Floor:
    """The server's statements as a client of `store_work`: as an execution that has a connection to itself."""

    def __init__(self, data: Path) -> None:
        self.connection: Any = statements.connect(data)
        self.connection.prepare_threshold = 0
        name = f"bench_{os.getpid()}_{next(CONNECTIONS)}"
        self.access = {"store": STORE, "execution": name, "executor": name, "storeLock": STORE_LOCK, "channel": name}
        self.access["recordLock"] = scoped(f"record/{name}", name.encode())
        self.seq = itertools.count(1)
        with self.connection.transaction():
            for statement in sql.EXECUTION.split(";"):
                self.connection.execute(statement, self.access)

    def _one(self, statement: str, key: str, **values: Any) -> "tuple[Any, ...]":
        row: tuple[Any, ...] = self.connection.execute(
            statement, {**self.access, "key": key.encode(), **values}
        ).fetchone()
        if row is None or row[0] is not True:
            raise SystemExit("the SQL of a store was not granted access")
        return row

    def _write(self, statement: str, key: str, value: str, **values: Any) -> "tuple[Any, ...]":
        key_lock, seq = number(key.encode()), Int8(next(self.seq))
        return self._one(statement, key, value=value, keyLock=key_lock, seq=seq, **values)

    def get(self, key: str) -> Optional[str]:
        """The text under the key."""
        text: Optional[str] = self._one(sql.GET, key)[3]
        return text

    def version(self, key: str) -> int:
        """Its version."""
        return int(self._one(sql.GET, key)[4])

    def set(self, key: str, value: Any) -> None:
        """Stores in a transaction of its own."""
        self._write(sql.SET, key, json.dumps(value), ttl=None, onlyIfAbsent=False)

    def increment(self, key: str) -> int:
        """Adds one; the new number."""
        return int(self._write(sql.INCREMENT, key, "1", number=sql.NUMBER)[6])

    def transfer(self, source: str, target: str) -> None:
        """Moves one from here to there: two reads, then what was read is checked and both are written."""
        found = {key: self._one(sql.GET, key) for key in (source, target)}
        change = {source: -1, target: 1}
        reads = {key: row[4] for key, row in found.items()}
        self.commit(reads, {key: json.loads(row[3]) + change[key] for key, row in found.items()})

    def commit(self, reads: "dict[str, int]", writes: "dict[str, Any]") -> "list[int]":
        """A transaction; the versions that it gave."""
        locks = {STORE_LOCK: False, **{number(key.encode()): key in writes for key in {**reads, **writes}}}
        numbers = sorted(locks)
        with self.connection.transaction():
            self.connection.execute(
                sql.LOCK_KEYS, {"numbers": numbers, "exclusive": [locks[number] for number in numbers]}
            )
            keys, versions = [key.encode() for key in reads], [Int8(version) for version in reads.values()]
            checked = {"store": STORE, "keys": keys, "versions": versions}
            if self.connection.execute(sql.CHANGED, checked).fetchone() is not None:
                raise SystemExit("what a transaction has read has changed")
            return self._set_all(writes)

    def _set_all(self, pairs: "dict[str, Any]") -> "list[int]":
        keys = [key.encode() for key in pairs]
        values = [json.dumps(value) for value in pairs.values()]
        none = [None] * len(keys)
        rows = self.connection.execute(
            sql.SET_ALL, {"store": STORE, "keys": keys, "values": values, "ttls": none, "expires": none}
        )
        versions = {bytes(key): version for key, version in rows}
        return [versions[key] for key in keys]

    def update(self, pairs: "dict[str, Any]") -> None:
        """Stores all of them in one transaction, alone in the store."""
        with self.connection.transaction():
            self.connection.execute(sql.LOCK_STORE, self.access)
            self._set_all(pairs)

    def items(self, prefix: str) -> "Iterator[tuple[str, str]]":
        """Keys and texts."""
        for page in self.pages(prefix, PAGE):
            yield from page

    def pages(self, prefix: str, size: int) -> "Iterator[list[tuple[str, str]]]":
        """The same in pages."""
        low = prefix.encode()
        bounds = {"store": STORE, "from": low, "to": low[:-1] + bytes([low[-1] + 1]), "limit": size + 1}
        while True:
            rows = self.connection.execute(sql.SCAN, bounds).fetchall()
            yield [(bytes(row[0]).decode(), row[4]) for row in rows[:size]]
            if len(rows) <= size:
                return
            bounds["from"] = bytes(rows[size - 1][0]) + b"\0"

    def load(self, lines: bytes, pairs: "dict[str, Any]") -> None:
        """Stores the pairs in transactions of a thousand."""
        left = iter(pairs.items())
        while batch := dict(itertools.islice(left, PAGE)):
            self.update(batch)

    def plain(self, found: str) -> Any:
        """The value of a text."""
        return json.loads(found)

    def close(self) -> None:
        """Closes the connection."""
        self.connection.close()


class Bare(Floor):
    """Reads and writes without asking whether that is allowed, without locks and idempotency records."""

    def get(self, key: str) -> Optional[str]:
        """The text under the key."""
        row = self.connection.execute(sql.BARE_GET, {"store": STORE, "key": key.encode()}).fetchone()
        return None if row is None else str(row[1])

    def set(self, key: str, value: Any) -> None:
        """Stores in a transaction of its own."""
        values = {"store": STORE, "key": key.encode(), "value": json.dumps(value), "ttl": None}
        self.connection.execute(sql.BARE_SET, values).fetchone()
