"""The entries of a DataStore, and views over those with a common prefix."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import ItemsView, Iterator, KeysView, Mapping, MutableMapping, ValuesView
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx

from ._errors import ServerError
from ._values import parse_time

__all__ = ["PAGE_MOST", "Entry", "PrefixMapping", "version_of"]

PAGE_MOST = 200


@dataclass(frozen=True)
class Entry:
    """A key with its value, the version that every change makes grow, and when it expires.

    `expires_at` is `None` for what never expires.
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


class PrefixMapping(MutableMapping[str, Any]):
    """A mapping that is read in the order of its keys, all or those with a prefix."""

    __slots__ = ()

    @abstractmethod
    def _pairs(self, prefix: str) -> Iterator[tuple[str, Any]]:
        """Return the pairs whose keys have the prefix, in order, fetched as they are needed."""

    def keys(self, prefix: str = "") -> KeysView[str]:
        """Return a view of the keys with a prefix."""
        return _Keys(self, prefix)

    def values(self, prefix: str = "") -> ValuesView[Any]:
        """Return a view of the values whose keys have a prefix."""
        return _Values(self, prefix)

    def items(self, prefix: str = "") -> ItemsView[str, Any]:
        """Return a view of the pairs whose keys have a prefix."""
        return _Items(self, prefix)

    def __iter__(self) -> Iterator[str]:
        return (key for key, _ in self._pairs(""))


def _count(mapping: PrefixMapping, prefix: str) -> int:
    if prefix:
        # list() asks for a length first, and does without one after a TypeError. To count here
        # would fetch everything twice.
        raise TypeError("how many keys have a prefix is not known without going through them")
    return len(mapping)


class _Keys(KeysView[str]):
    """The keys with a prefix, in order."""

    def __init__(self, mapping: PrefixMapping, prefix: str) -> None:
        super().__init__(mapping)
        self._source, self._prefix = mapping, prefix

    def __iter__(self) -> Iterator[str]:
        return (key for key, _ in self._source._pairs(self._prefix))

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key.startswith(self._prefix) and key in self._source

    def __len__(self) -> int:
        return _count(self._source, self._prefix)


class _Values(ValuesView[Any]):
    """The values whose keys have a prefix, in the order of the keys."""

    def __init__(self, mapping: PrefixMapping, prefix: str) -> None:
        super().__init__(mapping)
        self._source, self._prefix = mapping, prefix

    def __iter__(self) -> Iterator[Any]:
        return (value for _, value in self._source._pairs(self._prefix))

    def __contains__(self, value: object) -> bool:
        return any(value == each for each in self)

    def __len__(self) -> int:
        return _count(self._source, self._prefix)


class _Items(ItemsView[str, Any]):
    """The pairs whose keys have a prefix, in order."""

    def __init__(self, mapping: PrefixMapping, prefix: str) -> None:
        super().__init__(mapping)
        self._source, self._prefix = mapping, prefix

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return self._source._pairs(self._prefix)

    def __contains__(self, pair: object) -> bool:
        if not isinstance(pair, tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            return False
        return pair[0].startswith(self._prefix) and super().__contains__(pair)

    def __len__(self) -> int:
        return _count(self._source, self._prefix)
