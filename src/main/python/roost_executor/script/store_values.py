"""Keys, values, numbers and times, as a store's operations write them."""

import math
from collections.abc import Iterable, Mapping
from json.encoder import encode_basestring_ascii as quoted
from typing import TYPE_CHECKING, Any, NamedTuple

from roost_executor.script import store_errors
from roost_executor.script.jsonvalue import NotJson, decode, encode, with_article

if TYPE_CHECKING:
    import datetime

KEY_BYTES = 512
MOST_DIGITS = 10_000

__all__ = [
    "Entry",
    "added",
    "amount_text",
    "bytes_of",
    "checked_key",
    "checked_prefix",
    "pairs",
    "quoted",
    "seconds",
    "text_of",
    "value_of",
]


class Entry(NamedTuple):
    """What a store has under a key: `key`, `value`, `version` (int), `expires_at` (aware datetime in UTC, or None)."""

    key: str
    value: Any
    version: int
    expires_at: "datetime.datetime | None"


def checked_key(key: object, most_bytes: int, what: str = "key") -> str:
    """`key`, when it can be one; `what` names it in messages. Raises TypeError, NotSerializable, ValueTooLarge."""
    text = checked_prefix(key, what)
    size = bytes_of(text)
    if not 0 < size <= most_bytes:
        raise store_errors.ValueTooLarge(f"the {what} has {size:,} bytes of UTF-8; 1 to {most_bytes:,} are allowed")
    return text


def checked_prefix(prefix: object, what: str = "prefix") -> str:
    """`prefix`, when it is text that UTF-8 can hold. Raises TypeError, NotSerializable."""
    if not isinstance(prefix, str):
        raise TypeError(f"a {what} of a store is a str, not {with_article(prefix)}")
    try:
        prefix.encode()
    except UnicodeEncodeError:
        raise store_errors.NotSerializable(f"the {what} {prefix!r} holds a lone surrogate") from None
    return prefix


def bytes_of(text: str) -> int:
    """Its length in UTF-8."""
    return len(text) if text.isascii() else len(text.encode())


def text_of(key: str, value: object) -> str:
    """The JSON text of the value that `key` is to have. Raises NotSerializable."""
    try:
        return encode(value)
    except NotJson as error:
        raise store_errors.NotSerializable(f"value of {key!r}: {error}") from None


def value_of(key: str, text: str) -> Any:
    """The value of `key` from its JSON text. Raises StoreError."""
    try:
        return decode(text)
    except RecursionError:
        reason = "is nested too deeply for this Python"
    except ValueError as error:
        reason = f"can't be read by this Python: {error}"
    raise store_errors.StoreError(f"the value of {key!r} {reason}")


def seconds(name: str, value: object, or_zero: bool = False) -> "float | int":
    """`value`, when it is a time above 0 s. Raises TypeError, ValueError."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} is {with_article(value)}; it must be a number of seconds")
    if not (0 < value < math.inf or (or_zero and value == 0)):
        least = "0 or more" if or_zero else "above 0"
        raise ValueError(f"{name} is {value!r}; it must be a number of seconds, {least}")
    return value


def amount_text(amount: object) -> str:
    """The JSON text of what is to be added. Raises TypeError, ValueError."""
    if isinstance(amount, bool) or not isinstance(amount, (int, float)):
        raise TypeError(f"the amount is {with_article(amount)}; it must be an int or a float")
    if isinstance(amount, float) and not math.isfinite(amount):
        raise ValueError(f"the amount is {amount!r}; it must be finite")
    return encode(amount)


def added(key: str, text: "str | None", amount: str) -> str:
    """The sum of two JSON numbers, exact and written out as the server does; an absent one (None) counts as 0.

    Raises StoreError when `text` is no number, or the sum has more digits than anyone means.
    """
    if text is None:
        return amount
    value = value_of(key, text)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise store_errors.StoreError(f"the value of {key!r} is {with_article(value)}, no number to add to")
    increment = decode(amount)
    if isinstance(value, int) and isinstance(increment, int):
        return encode(value + increment)
    import decimal  # seldom needed, and it takes a while

    exact = decimal.Context(
        prec=MOST_DIGITS, Emax=MOST_DIGITS, Emin=-MOST_DIGITS, traps=[decimal.Inexact, decimal.InvalidOperation]
    )
    try:
        return f"{exact.add(exact.create_decimal(text.strip()), exact.create_decimal(amount)):f}"
    except decimal.DecimalException:
        raise store_errors.StoreError(f"{amount} can't be added to the value of {key!r}: too many digits") from None


def pairs(other: Any, more: "dict[str, Any]") -> "Iterable[tuple[Any, Any]]":
    """Keys and values of what `update` of a mapping takes."""
    if isinstance(other, Mapping):
        yield from other.items()
    elif hasattr(other, "keys"):
        for key in other.keys():  # noqa: SIM118 - it may be iterable in another way
            yield key, other[key]
    else:
        yield from other
    yield from more.items()
