"""The entries of one store in SQLite. Each function runs in the caller's transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any, NamedTuple

from .store_checks import Refused, bound_of, sum_of

__all__ = ["Entry", "Table"]

STORE_BYTES = 1024 * 1024 * 1024
_PAGE_BYTES = 4 * 1024 * 1024
_MAX_ENTRIES = 1_000

SCHEMA = """
create table if not exists store (
  id integer primary key, name text not null unique, size_bytes integer not null default 0);
create table if not exists entry (
  store_id integer not null references store, key blob not null, value blob not null,
  version integer not null, expires_at real);
create unique index if not exists entry_key on entry (store_id, key);
create index if not exists entry_expires on entry (expires_at) where expires_at is not null;
create table if not exists counter (version integer not null);
insert into counter select 0 where not exists (select 1 from counter);
create table if not exists lock (
  store_id integer not null, name blob not null, holder text not null, execution_id text not null,
  expires_at real not null, lost integer not null default 0);
create trigger if not exists entry_added after insert on entry begin
  update store set size_bytes = size_bytes + length(new.key) + length(new.value)
  where id = new.store_id; end;
create trigger if not exists entry_changed after update of value on entry begin
  update store set size_bytes = size_bytes + length(new.value) - length(old.value)
  where id = new.store_id; end;
create trigger if not exists entry_removed after delete on entry begin
  update store set size_bytes = size_bytes - length(old.key) - length(old.value)
  where id = old.store_id; end;
"""


class Entry(NamedTuple):
    """`value` is JSON text; `expires_at` in seconds since the epoch, or None."""

    key: bytes
    value: bytes
    version: int
    expires_at: float | None

    @property
    def expires_text(self) -> str | None:
        """The time in RFC 3339."""
        if self.expires_at is None:
            return None
        moment = datetime.fromtimestamp(self.expires_at, timezone.utc)
        return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


class Table:
    """The entries of a store that haven't expired at the time `now`."""

    def __init__(self, connection: sqlite3.Connection, store: int, now: float) -> None:
        self._connection, self._store, self._now = connection, store, now

    def get(self, key: bytes) -> Entry | None:
        """Return the entry of that key."""
        row = self._connection.execute(
            "select key, value, version, expires_at from entry where store_id = ? and key = ?"
            " and (expires_at is null or expires_at > ?)",
            (self._store, key, self._now),
        ).fetchone()
        return None if row is None else Entry(*row)

    def put(self, key: bytes, value: bytes, ttl: float | None) -> int:
        """Store a value and return its version; Refused when the store is full."""
        return self._put(key, value, None if ttl is None else self._now + ttl)

    def increment(self, key: bytes, amount: str) -> tuple[str, int]:
        """Add to a number, an absent one being 0; return the sum and its version."""
        entry = self.get(key)
        if entry is None:
            return amount, self._put(key, amount.encode(), None)
        total = sum_of(entry.value, amount, key)
        return total, self._put(key, total.encode(), entry.expires_at)

    def delete(self, key: bytes) -> Entry | None:
        """Remove an entry and return what it was."""
        entry = self.get(key)
        self._connection.execute(
            "delete from entry where store_id = ? and key = ?", (self._store, key)
        )
        return entry

    def clear(self) -> int:
        """Remove all entries and return how many there were."""
        count = self.count({})
        self._connection.execute("delete from entry where store_id = ?", (self._store,))
        return count

    def count(self, limits: Mapping[str, Any]) -> int:
        """Return how many there are in a range, of which `prefix` and so on are `limits`."""
        where, bounds = self._range(limits)
        row = self._connection.execute(f"select count(*) from entry where {where}", bounds)
        return int(row.fetchone()[0])

    def versions(self, limits: Mapping[str, Any]) -> list[int]:
        """Return the versions of a range's entries, in the order of their keys."""
        where, bounds = self._range(limits)
        rows = self._connection.execute(
            f"select version from entry where {where} order by key", bounds
        )
        return [row[0] for row in rows]

    def page(
        self, limits: Mapping[str, Any], limit: int, with_values: bool
    ) -> tuple[list[Entry], bool]:
        """Return the first entries of a range, and whether more follow.

        At most `limit`, and with values no more than fit into 4 MiB, but at least one.
        """
        where, bounds = self._range(limits)
        value = "value" if with_values else "x''"
        rows = self._connection.execute(
            f"select key, {value}, version, expires_at from entry where {where} order by key",
            bounds,
        )
        found: list[Entry] = []
        size = 0
        for row in rows:
            if len(found) == min(limit, _MAX_ENTRIES) or size > _PAGE_BYTES:
                return found, True
            found.append(Entry(*row))
            size += len(found[-1].value)
        return found, False

    def _put(self, key: bytes, value: bytes, expires_at: float | None) -> int:
        row = self._connection.execute("select size_bytes from store where id = ?", (self._store,))
        size = row.fetchone()[0] + len(key) + len(value)
        if size > STORE_BYTES:
            raise Refused(
                413,
                "store_full",
                f"With this entry, the DataStore would have {size:,} bytes; the limit is "
                f"{STORE_BYTES:,} (setting roost.limits.store-bytes).",
            )
        self._connection.execute("update counter set version = version + 1")
        version = int(self._connection.execute("select version from counter").fetchone()[0])
        changed = self._connection.execute(
            "update entry set value = ?, version = ?, expires_at = ?"
            " where store_id = ? and key = ?",
            (value, version, expires_at, self._store, key),
        )
        if changed.rowcount == 0:
            self._connection.execute(
                "insert into entry (store_id, key, value, version, expires_at)"
                " values (?, ?, ?, ?, ?)",
                (self._store, key, value, version, expires_at),
            )
        return version

    def _range(self, limits: Mapping[str, Any]) -> tuple[str, list[Any]]:
        where = ["store_id = ?", "(expires_at is null or expires_at > ?)"]
        bounds: list[Any] = [self._store, self._now]
        prefix = bound_of(limits.get("prefix") or "")
        if prefix:
            where += ["key >= ?", "key < ?"]
            # No byte of UTF-8 is 0xff, so the last one can always be raised.
            bounds += [prefix, prefix[:-1] + bytes([prefix[-1] + 1])]
        for name, operator in (("start", ">="), ("after", ">"), ("through", "<=")):
            if limits.get(name) is not None:
                where.append(f"key {operator} ?")
                bounds.append(bound_of(limits[name]))
        return " and ".join(where), bounds
