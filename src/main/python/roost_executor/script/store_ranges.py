"""What a transaction has read of ranges of keys, as the control plane can check it."""

from typing import Any

from roost_executor.script.store_values import quoted

try:
    from _sha2 import sha256  # hashlib would load OpenSSL, into each executor's memory
except ImportError:
    try:
        from _sha256 import sha256
    except ImportError:
        from hashlib import sha256


class RangeRead:
    """The keys with a prefix, in order, as far as an iteration has come."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._versions: Any = sha256()
        self._through: str | None = None
        self._finished = False
        self._is_repetition = False

    def add(self, key: str, version: int) -> None:
        """The iteration has come to a stored key."""
        self._versions.update(b"%d\n" % version)
        self._through = key

    def reach(self, key: str) -> None:
        """The iteration has come as far as `key`, which isn't stored."""
        self._through = key

    def finish(self) -> None:
        """The iteration has come to the end."""
        self._finished = True

    def repeats(self, other: "RangeRead") -> bool:
        """Whether it has found the same as `other`, of the same prefix; then it needn't be checked too."""
        self._is_repetition = other._versions.digest() == self._versions.digest()
        return self._is_repetition

    def json(self) -> "str | None":
        """As the control plane takes it; None when there is nothing to check."""
        if self._is_repetition or not (self._finished or self._through is not None):
            return None
        through = "" if self._finished or self._through is None else f'"through": {quoted(self._through)}, '
        return f'{{"prefix": {quoted(self.prefix)}, {through}"tag": "{self._versions.hexdigest()}"}}'


class CountRead:
    """The number of keys with a prefix."""

    def __init__(self, prefix: str, count: int) -> None:
        self.prefix = prefix
        self.count = count

    def json(self) -> str:
        """As the control plane takes it."""
        return f'{{"prefix": {quoted(self.prefix)}, "count": {self.count}}}'


def name_of(prefix: str) -> str:
    """The range, for a message."""
    return f"the range {prefix!r}" if prefix else "the store"
