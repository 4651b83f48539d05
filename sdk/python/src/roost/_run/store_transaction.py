"""Transactions on one store: all reads must be unchanged, then all writes are applied."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from .store_checks import Refused, amount_of, invalid, key_of, quote, ttl_of, value_of
from .store_entries import Table

__all__ = ["run_transaction"]

_MAX_PARTS = 10_000
_MAX_BYTES = 16 * 1024 * 1024


def run_transaction(table: Table, fields: Mapping[str, Any]) -> str:
    """Apply a transaction and return its result as JSON; on Refused, the caller rolls back."""
    reads, ranges, writes = (
        _parts(fields, "reads"),
        _parts(fields, "ranges"),
        _parts(fields, "writes"),
    )
    parts = len(reads) + len(ranges) + len(writes)
    if parts > _MAX_PARTS:
        raise Refused(
            413,
            "too_large",
            f"The transaction has {parts:,} reads, ranges and writes; the limit is {_MAX_PARTS:,}.",
        )
    checked = [(key_of(write.get("key")), write) for write in writes]
    _require_small(checked)
    for read in reads:
        _require_unchanged(table, read)
    for part in ranges:
        _require_range_unchanged(table, part)
    versions: list[int] = []
    sums: list[str] = []
    for key, write in checked:
        version, total = _write(table, key, write)
        versions.append(version)
        sums.append(total or "null")
    return f'{{"versions": {versions}, "sums": [{", ".join(sums)}]}}'


def _parts(fields: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    return fields.get(name) or []


def _require_small(writes: list[tuple[bytes, Mapping[str, Any]]]) -> None:
    seen: set[bytes] = set()
    size = 0
    for key, write in writes:
        if key in seen:
            raise invalid(f"The key {quote(key.decode())} is written twice. Write each key once.")
        seen.add(key)
        if not write.get("delete"):
            size += len(key) + len(write.get("value", write.get("increment", "")).encode())
    if size > _MAX_BYTES:
        raise Refused(
            413,
            "too_large",
            f"The values of the transaction have {size:,} bytes; the limit is {_MAX_BYTES:,}.",
        )


def _require_unchanged(table: Table, read: Mapping[str, Any]) -> None:
    entry = table.get(key_of(read.get("key")))
    version = entry.version if entry else 0
    if version == read["version"]:
        return
    key = quote(read["key"])
    if version == 0:
        detail = f"The entry {key} has been deleted or has expired since it was read."
    elif read["version"] == 0:
        detail = f"The entry {key} did not exist when it was read, and exists now."
    else:
        detail = f"The entry {key} has changed since it was read."
    raise Refused(409, "conflict", detail)


def _require_range_unchanged(table: Table, part: Mapping[str, Any]) -> None:
    """Compare a range's tag (SHA-256 over its versions), or the count of its entries."""
    if part.get("tag") is not None:
        versions = table.versions(part)
        tag = hashlib.sha256("".join(f"{version}\n" for version in versions).encode()).hexdigest()
        same = tag == part["tag"] and part.get("count", len(versions)) == len(versions)
    else:
        same = table.count(part) == part.get("count")
    if not same:
        named = f"of keys with the prefix {quote(part['prefix'])}" if part.get("prefix") else ""
        raise Refused(
            409,
            "conflict",
            f"The entries {named or 'of the range'} have changed since they were read.",
        )


def _write(table: Table, key: bytes, write: Mapping[str, Any]) -> tuple[int, str | None]:
    """Return a write's new version, 0 for a deletion, and an increment's sum."""
    if write.get("delete"):
        table.delete(key)
        return 0, None
    if "increment" in write:
        total, version = table.increment(key, amount_of(write["increment"]))
        return version, total
    return table.put(key, value_of(write.get("value")), ttl_of(write)), None
