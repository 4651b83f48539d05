"""The store that `main` gets: a mapping over the sidecar's Unix socket."""

import os
import socket
import threading
from collections.abc import ItemsView, Iterator, KeysView, MutableMapping, ValuesView
from typing import Any

from roost_executor import store_errors
from roost_executor.jsonvalue import NotJson, decode, encode
from roost_executor.sockets import LineReader, connect

KEY_BYTES = 512
PAGE = 1000


class Store(MutableMapping):  # type: ignore[type-arg]
    """A durable, ordered mapping of string keys to JSON values, shared by agents and executions.

    Every operation is one round trip and is durable when it returns. Changing a value that was read
    (`store["list"].append(1)`) changes the copy alone: assign it again to store it, as with `shelve`.
    Safe to use from several threads and, after a fork or a spawn, from several processes.

    Errors are attributes of the store: `store.Error` and below it `store.Conflict`, `store.Full`,
    `store.ValueTooLarge`, `store.NotSerializable`, `store.Unavailable`. A missing key is a KeyError.
    """

    Error = store_errors.StoreError
    Conflict = store_errors.StoreConflict
    Full = store_errors.StoreFull
    ValueTooLarge = store_errors.ValueTooLarge
    NotSerializable = store_errors.NotSerializable
    Unavailable = store_errors.StoreUnavailable

    def __init__(self, socket_path: str, store_id: str, name: str) -> None:
        """Connects at the first operation."""
        self._socket_path = socket_path
        self._id = store_id
        self._name = name
        self._process = -1
        self._lock = threading.Lock()
        self._connection: socket.socket | None = None

    def __getitem__(self, key: str) -> Any:
        found, value = self._read(key)
        if not found:
            raise KeyError(key)
        return value

    def __setitem__(self, key: str, value: Any) -> None:
        self.set(key, value)

    def __delitem__(self, key: str) -> None:
        if not self._ask("delete", key=_checked(key))["deleted"]:
            raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and self._read(key)[0]

    def __iter__(self) -> "Iterator[str]":
        return (key for key, _ in self._scan("", False))

    def __len__(self) -> int:
        return int(self._ask("count")["count"])

    def __repr__(self) -> str:
        return f"<Store {self._name!r}>"

    def __reduce__(self) -> "tuple[Any, ...]":
        return Store, (self._socket_path, self._id, self._name)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of `key`, or `default` when it is absent."""
        found, value = self._read(key)
        return value if found else default

    def set(self, key: str, value: Any, ttl: "float | None" = None) -> None:
        """Stores a JSON value; with `ttl`, for that many seconds.

        Raises NotSerializable, ValueTooLarge, Full, Unavailable.
        """
        if ttl is not None and not ttl > 0:
            raise ValueError(f"ttl is {ttl!r}; it must be a number of seconds above 0")
        try:
            text = encode(value)
        except NotJson as error:
            raise self.NotSerializable(f"value of {key!r}: {error}") from None
        self._ask("set", key=_checked(key), value=text, ttl=ttl)

    def clear(self) -> None:
        """Removes every entry, in one operation."""
        self._ask("clear")

    def keys(self, prefix: str = "") -> "KeysView[str]":
        """The keys, in order; with `prefix`, those that begin with it. Read in pages."""
        return _Keys(self, prefix)

    def items(self, prefix: str = "") -> "ItemsView[str, Any]":
        """Keys and values, in the order of the keys; with `prefix`, those that begin with it."""
        return _Items(self, prefix)

    def values(self, prefix: str = "") -> "ValuesView[Any]":
        """The values, in the order of their keys; with `prefix`, those whose key begins with it."""
        return _Values(self, prefix)

    def _read(self, key: str) -> "tuple[bool, Any]":
        text = self._ask("get", key=_checked(key))["value"]
        return (False, None) if text is None else (True, decode(text))

    def _scan(self, prefix: str, values: bool) -> "Iterator[tuple[str, Any]]":
        after = None
        while True:
            page = self._ask("scan", prefix=prefix, after=after, limit=PAGE, values=values)
            for entry in page["entries"]:
                yield entry["key"], decode(entry["value"]) if values else None
            after = page["next"]
            if after is None:
                return

    def _ask(self, operation: str, **fields: Any) -> "dict[str, Any]":
        """One operation's result; raises what `store_errors` lists."""
        question = encode({"store": self._id, "op": operation, **fields}).encode() + b"\n"
        if self._process != os.getpid():
            # After a fork the connection is the parent's, and the lock may be held by nobody left.
            self._process = os.getpid()
            self._lock = threading.Lock()
            self._connection = None
        with self._lock:
            answer = decode(self._exchange(question, operation))
        if "error" in answer:
            problem = answer["error"]
            kind = store_errors.BY_CODE.get(problem.get("code"), self.Error)
            raise kind(problem.get("detail") or problem.get("code"))
        result: dict[str, Any] = answer["result"]
        return result

    def _exchange(self, question: bytes, operation: str) -> str:
        try:
            if self._connection is None:
                self._connection = connect(self._socket_path)
            self._connection.sendall(question)
            reader = LineReader()
            while True:
                data = self._connection.recv(1 << 20)
                if not data:
                    raise ConnectionError("the sidecar closed the connection")
                lines = reader.feed(data)
                if lines:
                    return lines[0].decode()
        except OSError as error:
            self._disconnect()
            applied = "" if operation in ("get", "count", "scan") else "; it may have been applied"
            raise self.Unavailable(f"{operation}: the executor's store connection failed ({error}){applied}") from None
        except BaseException:
            # Interrupted halfway (a signal handler that raised): the answer would be taken for the next one's.
            self._disconnect()
            raise

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None


class _Keys(KeysView):  # type: ignore[type-arg]
    def __init__(self, store: Store, prefix: str) -> None:
        super().__init__(store)
        self._store = store
        self._prefix = prefix

    def __len__(self) -> int:
        return sum(1 for _ in self._store._scan(self._prefix, False)) if self._prefix else len(self._store)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and key.startswith(self._prefix) and key in self._store

    def __iter__(self) -> "Iterator[str]":
        return (key for key, _ in self._store._scan(self._prefix, False))


class _Items(ItemsView):  # type: ignore[type-arg]
    def __init__(self, store: Store, prefix: str) -> None:
        super().__init__(store)
        self._store = store
        self._prefix = prefix

    def __len__(self) -> int:
        return len(_Keys(self._store, self._prefix))

    def __iter__(self) -> "Iterator[tuple[str, Any]]":
        return self._store._scan(self._prefix, True)


class _Values(ValuesView):  # type: ignore[type-arg]
    def __init__(self, store: Store, prefix: str) -> None:
        super().__init__(store)
        self._store = store
        self._prefix = prefix

    def __len__(self) -> int:
        return len(_Keys(self._store, self._prefix))

    def __contains__(self, value: object) -> bool:
        return any(value == other for other in self)

    def __iter__(self) -> "Iterator[Any]":
        return (value for _, value in self._store._scan(self._prefix, True))


def _checked(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"keys of a store are str, not {type(key).__name__}")
    try:
        size = len(key.encode())
    except UnicodeEncodeError:
        raise store_errors.NotSerializable(f"the key {key!r} holds a lone surrogate") from None
    if not 0 < size <= KEY_BYTES:
        raise store_errors.ValueTooLarge(f"the key has {size} bytes of UTF-8; 1 to {KEY_BYTES} are allowed")
    return key
