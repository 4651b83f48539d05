"""The mapping methods of stores and transactions. Written by hand: `_sync` has a real mapping."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, overload

from .._entries import pairs_of
from .._values import NOT_GIVEN, NotGiven

__all__ = ["PrefixMapping", "StoreMapping"]


class PrefixMapping(ABC):
    """Entries in the order of their keys, optionally with a prefix.

    `async for` iterates over the keys.
    """

    __slots__ = ()

    @abstractmethod
    async def _value(self, key: str) -> Any:
        """Return the value of a key. Raises `KeyError`."""

    @abstractmethod
    async def _has(self, key: object) -> bool:
        """Return whether the key exists."""

    @abstractmethod
    async def _remove(self, key: str) -> None:
        """Remove a key. Raises `KeyError`."""

    @abstractmethod
    async def _count(self) -> int:
        """Return the number of keys."""

    @abstractmethod
    def _pairs(self, prefix: str) -> AsyncGenerator[tuple[str, Any], None]:
        """Return the pairs whose keys have the prefix, in order, fetched as they are needed."""

    @abstractmethod
    async def _set(self, key: str, value: Any) -> None:
        """Store a value."""

    async def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, or the default when it is absent."""
        try:
            return await self._value(key)
        except KeyError:
            return default

    async def contains(self, key: str) -> bool:
        """Return whether the key exists."""
        return await self._has(key)

    async def count(self) -> int:
        """Return the number of keys."""
        return await self._count()

    async def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of a key, or store and return the default."""
        try:
            return await self._value(key)
        except KeyError:
            await self._set(key, default)
            return default

    async def update(self, other: Any = (), /, **values: Any) -> None:
        """Store the pairs of a mapping or an iterable."""
        for key, value in pairs_of(other, values):
            await self._set(key, value)

    async def delete(self, key: str, /) -> None:
        """Delete the entry of a key. Raises `KeyError` when it is absent."""
        await self._remove(key)

    async def keys(self, prefix: str = "") -> AsyncGenerator[str, None]:
        """Yield the keys with a prefix, in order."""
        async for key, _ in self._pairs(prefix):
            yield key

    async def values(self, prefix: str = "") -> AsyncGenerator[Any, None]:
        """Yield the values whose keys have a prefix, in the order of the keys."""
        async for _, value in self._pairs(prefix):
            yield value

    def items(self, prefix: str = "") -> AsyncGenerator[tuple[str, Any], None]:
        """Yield the pairs whose keys have a prefix, in order."""
        return self._pairs(prefix)

    def __aiter__(self) -> AsyncIterator[str]:
        return self.keys()


class StoreMapping(PrefixMapping):
    """A mapping with a `delete` for the whole store."""

    __slots__ = ()

    @abstractmethod
    async def _delete_store(self, force: bool) -> None:
        """Delete the store with all of its entries."""

    @overload
    async def delete(self, key: str, /) -> None: ...

    @overload
    async def delete(self, /, *, force: bool = ...) -> None: ...

    async def delete(self, key: str | NotGiven = NOT_GIVEN, /, *, force: bool = False) -> None:
        """Delete the entry of a key. Raises `KeyError` if it is absent.

        Without a key, deletes the store with all of its entries. Raises `Conflict` while agents use
        it, unless `force` is true.
        """
        if key is NOT_GIVEN:
            await self._delete_store(force)
        elif force:
            raise TypeError("force is only for deleting the whole store")
        else:
            await self._remove(key)
