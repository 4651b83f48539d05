"""Writes to a DataStore, and the body of a transaction."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from ._errors import Conflict, FieldError, TooLarge, ValidationError
from ._ranges import Range, name_of
from ._values import dump_json

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = [
    "Batch",
    "Delete",
    "Increment",
    "Set",
    "Write",
    "Written",
    "checked_amount",
    "checked_key",
    "conflict_message",
    "named",
    "total",
    "transaction_body",
]


@dataclass(frozen=True)
class Set:
    """Store a value, given as JSON text, for `ttl` seconds or permanently."""

    text: bytes
    ttl: float | None = None

    @classmethod
    def of(cls, key: str, value: Any, ttl: float | None = None) -> Set:
        """Return a write of the current value."""
        if not key:
            raise ValueError("the empty string can't be a key")
        if ttl is not None and not ttl > 0:
            raise ValueError(f"ttl must be a number of seconds above 0, not {ttl!r}")
        return cls(dump_json(value, f"the value of {key!r}"), ttl)


@dataclass(frozen=True)
class Delete:
    """Remove the entry, if it exists."""


@dataclass(frozen=True)
class Increment:
    """Add to the stored number; an absent one counts as 0."""

    amount: int | float


Write = Union[Set, Delete, Increment]


@dataclass(frozen=True)
class Written:
    """A write's result: the new version, 0 for a deletion, and an increment's sum."""

    version: int
    sum: Any


_BATCH_WRITES = 1000
_BATCH_BYTES = 4 << 20


def checked_key(key: str) -> str:
    """Return the key. The server checks its length."""
    if not isinstance(key, str):
        raise TypeError(f"keys must be strings, not {type(key).__name__}")
    try:
        key.encode()
    except UnicodeEncodeError:
        message = f"the key {key!r} contains half of a surrogate pair; keys are Unicode"
        raise ValueError(message) from None
    return key


def checked_amount(amount: int | float) -> int | float:
    """Return the amount if it is a JSON number."""
    if isinstance(amount, bool) or not isinstance(amount, (int, float)):
        raise TypeError(f"the amount must be an int or a float, not {type(amount).__name__}")
    if isinstance(amount, float) and not math.isfinite(amount):
        raise ValueError(f"the amount must be finite, not {amount}")
    return amount


def total(key: str, value: Any, amount: int | float) -> int | float:
    """Return the sum, in decimal as on the server: 0.1 + 0.2 is 0.3.

    Raises `ValidationError` if the value isn't a number, as the server does.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        kind = "null" if value is None else f"a {type(value).__name__}"
        message = f"the value of {key!r} is {kind}, not a number: it can't be incremented"
        raise ValidationError(message, code="validation_failed")
    number: int | float = value
    if isinstance(number, int) and isinstance(amount, int):
        return number + amount
    if isinstance(number, float) and not math.isfinite(number):
        return number
    exact = _exact(number) + _exact(amount)
    try:
        return float(exact)
    except OverflowError:  # as when parsing a number that is too large for a float
        return math.inf if exact > 0 else -math.inf


def _exact(number: int | float) -> Fraction:
    """Return the decimal value of a float's repr, not its binary value."""
    from fractions import Fraction

    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


class Batch:
    """Writes, split into transactions of up to 1,000 writes and 4 MiB."""

    def __init__(self) -> None:
        self._writes: dict[str, Write] = {}
        self._size = 0

    def add(self, key: str, write: Write) -> dict[str, Write]:
        """Add a write; return the full batch before it, or an empty one."""
        cost = len(key.encode()) + (len(write.text) if isinstance(write, Set) else 0)
        full = len(self._writes) == _BATCH_WRITES or self._size + cost > _BATCH_BYTES
        before = self.rest() if full else {}
        self._writes[key] = write
        self._size += cost
        return before

    def rest(self) -> dict[str, Write]:
        """Return and clear the remaining writes."""
        rest, self._writes, self._size = self._writes, {}, 0
        return rest


def transaction_body(
    reads: Mapping[str, int], ranges: Sequence[Range], writes: Mapping[str, Write]
) -> bytes:
    """Return the JSON text of a transaction."""
    checks = [{"key": key, "version": version} for key, version in reads.items()]
    parts = [_json(key, write) for key, write in writes.items()]
    return b"".join(
        (
            b'{"reads":' + dump_json(checks, "reads"),
            b',"ranges":' + dump_json(ranges, "ranges"),
            b',"writes":[' + b",".join(parts) + b"]}",
        )
    )


def _json(key: str, write: Write) -> bytes:
    name = b'{"key":' + dump_json(key, "key")
    if isinstance(write, Set):
        ttl = b"" if write.ttl is None else b',"ttl":' + dump_json(write.ttl, "ttl")
        return name + b',"value":' + write.text + ttl + b"}"
    if isinstance(write, Delete):
        return name + b',"delete":true}'
    return name + b',"increment":' + dump_json(write.amount, "the amount") + b"}"


def conflict_message(error: Conflict, keys: Sequence[str], ranges: Sequence[Range]) -> str:
    """Return a message that names what has changed."""
    names: list[str] = []
    for each in error.errors:
        place = _place(each)
        if place is not None and place[0] == "reads" and place[1] < len(keys):
            names.append(repr(keys[place[1]]))
        elif place is not None and place[0] == "ranges" and place[1] < len(ranges):
            names.append(name_of(ranges[place[1]]))
    if not names:
        return str(error)
    return f"changed since it was read: {', '.join(names)}; nothing was written (409 conflict)"


def named(error: TooLarge | ValidationError, keys: Sequence[str]) -> str:
    """Return lines that name the keys of the error."""
    places = [_place(each) for each in error.errors]
    indexes = sorted({place[1] for place in places if place is not None and place[0] == "writes"})
    return "".join(f"\n  writes/{n} is {keys[n]!r}" for n in indexes if n < len(keys))


def _place(error: FieldError) -> tuple[str, int] | None:
    match = re.match(r"/(reads|ranges|writes)/(\d+)(?:/|$)", error.pointer or "")
    return None if match is None else (match[1], int(match[2]))
