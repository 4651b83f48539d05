"""The entries of a DataStore, and views over those with a common prefix."""

from __future__ import annotations

import re
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

import httpx

from ._errors import ServerError
from ._values import parse_time

if TYPE_CHECKING:
    from ._data_store import DataStore

__all__ = ["Entry", "Items", "Keys", "Values", "version_of"]


@dataclass(frozen=True)
class Entry:
    """A key with its value, the version that every change makes grow, and when it expires.

    `expires_at` and `updated_at` are `None` for what never expires, and for an entry that was
    fetched alone.
    """

    key: str
    value: Any
    version: int
    expires_at: datetime | None = None
    updated_at: datetime | None = None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Entry:
        """Return the entry that is `data` in the API."""
        expires_at, updated_at = data.get("expires_at"), data.get("updated_at")
        return cls(
            data["key"],
            data["value"],
            data["version"],
            None if expires_at is None else parse_time(expires_at),
            None if updated_at is None else parse_time(updated_at),
        )


def version_of(response: httpx.Response) -> int:
    """Return the version that an answer's `ETag` is."""
    tag = response.headers.get("ETag", "")
    match = re.fullmatch(r'(?:W/)?"?(\d+)[^"]*"?', tag)
    if match is None:
        raise ServerError(f"the answer's ETag is not a version: {tag!r}")
    return int(match[1])


def _count(store: DataStore, prefix: str) -> int:
    if prefix:
        # list() asks for a length first, and does without one after a TypeError. To count here
        # would fetch everything twice.
        raise TypeError("how many keys have a prefix is not known without going through them")
    return len(store)


class Keys(KeysView[str]):
    """The keys with a prefix, in order."""

    def __init__(self, store: DataStore, prefix: str) -> None:
        super().__init__(store)
        self._store, self._prefix = store, prefix

    def __iter__(self) -> Iterator[str]:
        return (entry.key for entry in self._store.scan(self._prefix))

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key.startswith(self._prefix) and key in self._store

    def __len__(self) -> int:
        return _count(self._store, self._prefix)


class Values(ValuesView[Any]):
    """The values whose keys have a prefix, in the order of the keys."""

    def __init__(self, store: DataStore, prefix: str) -> None:
        super().__init__(store)
        self._store, self._prefix = store, prefix

    def __iter__(self) -> Iterator[Any]:
        return (entry.value for entry in self._store.scan(self._prefix))

    def __contains__(self, value: object) -> bool:
        return any(value == each for each in self)

    def __len__(self) -> int:
        return _count(self._store, self._prefix)


class Items(ItemsView[str, Any]):
    """The pairs whose keys have a prefix, in order."""

    def __init__(self, store: DataStore, prefix: str) -> None:
        super().__init__(store)
        self._store, self._prefix = store, prefix

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return ((entry.key, entry.value) for entry in self._store.scan(self._prefix))

    def __len__(self) -> int:
        return _count(self._store, self._prefix)
