"""The mapping interface of stores and transactions. Written by hand, unlike in `_async`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, ItemsView, Iterator, KeysView, MutableMapping, ValuesView
from typing import Any, cast

__all__ = ["PrefixMapping", "StoreMapping"]


class PrefixMapping(MutableMapping[str, Any]):
    """A mapping in the order of its keys, optionally with a prefix."""

    __slots__ = ()

    @abstractmethod
    def _value(self, key: str) -> Any:
        """Return the value of a key. Raises `KeyError`."""

    @abstractmethod
    def _has(self, key: object) -> bool:
        """Return whether the key exists."""

    @abstractmethod
    def _remove(self, key: str) -> None:
        """Remove a key. Raises `KeyError`."""

    @abstractmethod
    def _count(self) -> int:
        """Return the number of keys."""

    @abstractmethod
    def _pairs(self, prefix: str) -> Generator[tuple[str, Any], None, None]:
        """Return the pairs whose keys have the prefix, in order, fetched as they are needed."""

    @abstractmethod
    def _set(self, key: str, value: Any) -> None:
        """Store a value."""

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

    def __len__(self) -> int:
        return self._count()

    def __contains__(self, key: object) -> bool:
        return self._has(key)

    def __getitem__(self, key: str) -> Any:
        return self._value(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._set(key, value)

    def __delitem__(self, key: str) -> None:
        self._remove(key)


class StoreMapping(PrefixMapping):
    """A mapping with a `delete` for the whole store."""

    __slots__ = ()

    @abstractmethod
    def _delete_store(self, force: bool) -> None:
        """Delete the store with all of its entries."""

    def delete(self, *, force: bool = False) -> None:
        """Delete the store with all of its entries.

        Raises `Conflict` while agents use it, unless `force` is true.
        """
        self._delete_store(force)


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
        if not isinstance(pair, tuple):
            return False
        key, *rest = cast("tuple[object, ...]", pair) or (None,)
        if not isinstance(key, str) or len(rest) != 1 or not key.startswith(self._prefix):
            return False
        return super().__contains__((key, rest[0]))

    def __len__(self) -> int:
        return _count(self._source, self._prefix)
