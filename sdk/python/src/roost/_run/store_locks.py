"""Locks with leases, in SQLite, so that runs in several terminals share them.

A lost lock keeps its row, with `lost`, until its execution unlocks it or ends; until then all
writes of that execution are rejected. Each function runs in the caller's transaction.
"""

from __future__ import annotations

import sqlite3
from typing import Any

from .store_checks import Refused, invalid, quote

__all__ = ["MIN_LEASE_SECONDS", "Locks"]

MIN_LEASE_SECONDS = 0.5
_MAX_LEASE_SECONDS = 86_400


class Locks:
    """The locks of one store at the time `now`, as seen by an execution."""

    def __init__(
        self, connection: sqlite3.Connection, store: int, execution: str, now: float
    ) -> None:
        self._connection, self._store, self._execution = connection, store, execution
        self._now = now

    def acquire(self, name: bytes, holder: str, ttl: float) -> bool:
        """Try to acquire a lock; return whether the holder has it."""
        lock = (self._store, name)
        # The holder's own lost lock is from a request whose response never arrived.
        self._connection.execute(
            "delete from lock where store_id = ? and name = ? and holder = ? and lost",
            (*lock, holder),
        )
        self._connection.execute(
            "update lock set lost = 1 where store_id = ? and name = ? and not lost"
            " and holder <> ? and expires_at <= ?",
            (*lock, holder, self._now),
        )
        current = self._connection.execute(
            "select holder, execution_id from lock where store_id = ? and name = ? and not lost",
            lock,
        ).fetchone()
        if current is None:
            self._connection.execute(
                "insert into lock (store_id, name, holder, execution_id, expires_at)"
                " values (?, ?, ?, ?, ?)",
                (*lock, holder, self._execution, self._now + ttl),
            )
            return True
        return current == (holder, self._execution) and self.renew(name, holder, ttl)

    def renew(self, name: bytes, holder: str, ttl: float) -> bool:
        """Renew the lease, also an expired one if nobody else has acquired the lock."""
        changed = self._connection.execute(
            "update lock set expires_at = ? where store_id = ? and name = ? and holder = ?"
            " and execution_id = ? and not lost",
            (self._now + ttl, self._store, name, holder, self._execution),
        )
        return changed.rowcount > 0

    def release(self, name: bytes, holder: str) -> bool:
        """Release a lock, also a lost one; return whether the holder still had it."""
        held = self.renew(name, holder, 0)
        self._connection.execute(
            "delete from lock where store_id = ? and name = ? and holder = ? and execution_id = ?",
            (self._store, name, holder, self._execution),
        )
        return held

    def require_none_lost(self) -> None:
        """Raise Refused while the execution has a lost lock that it hasn't released."""
        lost = self._connection.execute(
            "select name from lock where execution_id = ? and lost order by name limit 1",
            (self._execution,),
        ).fetchone()
        if lost is not None:
            raise Refused(
                409,
                "lock_lost",
                f"The lock {quote(lost[0].decode())} was lost: its lease expired, "
                "and another holder has acquired it. Nothing was written.",
            )


def lease_of(ttl: Any) -> float:
    """Return the duration of a lease in seconds."""
    fits = isinstance(ttl, (int, float)) and MIN_LEASE_SECONDS <= ttl <= _MAX_LEASE_SECONDS
    if not fits:
        raise invalid(f"ttl must be from {MIN_LEASE_SECONDS} to {_MAX_LEASE_SECONDS} s.")
    return float(ttl)
