"""The keys, values and items of a store or of a transaction, read as they are needed."""

from collections.abc import ItemsView, Iterator, KeysView, MutableMapping, ValuesView
from typing import Any

from roost_executor.script.store_values import checked_prefix


class Keys(KeysView):  # type: ignore[type-arg]
    """The keys that begin with a prefix, in order; `len` counts them without reading them."""

    def __init__(self, mapping: Any, prefix: str) -> None:
        super().__init__(mapping)
        self._prefix = prefix

    def __len__(self) -> int:
        return int(self._mapping._count(self._prefix))

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key.startswith(self._prefix) and key in self._mapping

    def __iter__(self) -> "Iterator[str]":
        return (key for key, _ in self._mapping._walk(self._prefix, False))


class Items(ItemsView):  # type: ignore[type-arg]
    """Pairs of key and value for the keys that begin with a prefix, in their order."""

    def __init__(self, mapping: Any, prefix: str) -> None:
        super().__init__(mapping)
        self._prefix = prefix

    def __len__(self) -> int:
        return int(self._mapping._count(self._prefix))

    def __contains__(self, item: object) -> bool:
        if not isinstance(item, tuple) or len(item) != 2:
            return False
        key, value = item
        missing = object()
        found = self._mapping.get(key, missing) if isinstance(key, str) and key.startswith(self._prefix) else missing
        return found is not missing and bool(found == value)

    def __iter__(self) -> "Iterator[tuple[str, Any]]":
        return iter(self._mapping._walk(self._prefix, True))


class Values(ValuesView):  # type: ignore[type-arg]
    """The values of the keys that begin with a prefix, in the order of the keys."""

    def __init__(self, mapping: Any, prefix: str) -> None:
        super().__init__(mapping)
        self._prefix = prefix

    def __len__(self) -> int:
        return int(self._mapping._count(self._prefix))

    def __contains__(self, value: object) -> bool:
        return any(value == other for other in self)

    def __iter__(self) -> "Iterator[Any]":
        return (value for _, value in self._mapping._walk(self._prefix, True))


class PrefixMapping(MutableMapping):  # type: ignore[type-arg]
    """A mapping whose views can be of a prefix; it has `_walk(prefix, values)` and `_count(prefix)` for them."""

    def keys(self, prefix: str = "") -> Keys:
        """The keys, in order; with `prefix`, those that begin with it. Read in pages."""
        return Keys(self, checked_prefix(prefix))

    def items(self, prefix: str = "") -> Items:
        """Keys and values, in the order of the keys; with `prefix`, those that begin with it."""
        return Items(self, checked_prefix(prefix))

    def values(self, prefix: str = "") -> Values:
        """The values, in the order of their keys; with `prefix`, those whose key begins with it."""
        return Values(self, checked_prefix(prefix))
