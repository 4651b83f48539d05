"""Validation of a store's operations, with the server's messages."""

from __future__ import annotations

import decimal
import json
import re
from collections.abc import Mapping
from typing import Any

__all__ = [
    "Refused",
    "amount_of",
    "bound_of",
    "invalid",
    "key_of",
    "problem",
    "quote",
    "ttl_of",
    "value_of",
]

MAX_TTL_SECONDS = 1e10
VALUE_BYTES = 1024 * 1024
KEY_BYTES = 512
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][-+]?[0-9]+)?")
# The limits of PostgreSQL's numeric, before and after the decimal point.
_MAX_DIGITS, _MAX_DECIMALS = 131_072, 16_383


class Refused(Exception):
    """The operation is rejected with this status and a problem document."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail = status, code, detail


def problem(code: str, detail: str) -> bytes:
    """Return the JSON of a problem document."""
    return json.dumps({"code": code, "detail": detail}).encode()


def invalid(detail: str) -> Refused:
    """Return the rejection of an invalid field."""
    return Refused(422, "validation_failed", detail)


def quote(text: str) -> str:
    """Return a name for a message: quoted and truncated."""
    shown = text[:79] + "…" if len(text) > 80 else text
    return '"' + shown.replace("\n", "\\n").replace("\0", "\\0") + '"'


def key_of(text: Any, max_bytes: int = KEY_BYTES) -> bytes:
    """Return the bytes of a key that names one entry."""
    if not text:
        raise invalid("The key must not be empty.")
    key = bound_of(text)
    if len(key) > max_bytes:
        raise invalid(
            f"The key has {len(key):,} bytes of UTF-8; the limit is {max_bytes:,} "
            "(setting roost.limits.store-key-bytes)."
        )
    return key


def bound_of(text: Any) -> bytes:
    """Return the bytes of a prefix or of a bound of a range."""
    if not isinstance(text, str):
        raise invalid("The key must be text.")
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise invalid(
            "The key contains an unpaired surrogate. Keys must be valid Unicode."
        ) from None


def value_of(text: Any, max_bytes: int = VALUE_BYTES) -> bytes:
    """Return the bytes of a value given as JSON text."""
    try:
        value = text.encode()
        json.loads(text, parse_int=str, parse_float=str, parse_constant=_refuse_constant)
    except (AttributeError, TypeError, ValueError, RecursionError):
        raise invalid("The value is not valid JSON.") from None
    if len(value) > max_bytes:
        raise Refused(
            413,
            "too_large",
            f"The value has {len(value):,} bytes; the limit is {max_bytes:,} "
            "(setting roost.limits.store-value-bytes).",
        )
    return bytes(value)


def ttl_of(fields: Mapping[str, Any]) -> float | None:
    """Return an entry's time to live in seconds; None if unlimited."""
    ttl = fields.get("ttl")
    if ttl is None:
        return None
    if not isinstance(ttl, (int, float)) or not 0 < ttl <= MAX_TTL_SECONDS:
        raise invalid("A TTL must be a positive number of seconds.")
    return float(ttl)


def amount_of(text: Any) -> str:
    """Return the JSON number to add."""
    if not isinstance(text, str) or not _NUMBER.fullmatch(text):
        raise invalid("amount must be a number.")
    return text


def sum_of(value: bytes, amount: str, key: bytes) -> str:
    """Return the exact decimal sum. `key` is for the message."""
    if not _NUMBER.fullmatch(value.decode()):
        raise invalid(f"The value of {quote(key.decode())} is not a number.")
    numbers = decimal.Decimal(value.decode()), decimal.Decimal(amount)
    # Check before adding: the sum with 1e999999999 would have a billion digits.
    if any(number and number.adjusted() >= _MAX_DIGITS for number in numbers) or any(
        -int(number.as_tuple().exponent) > _MAX_DECIMALS for number in numbers
    ):
        raise invalid("The sum has more digits than can be stored.")
    with decimal.localcontext(decimal.Context(prec=_MAX_DIGITS + _MAX_DECIMALS)):
        total = numbers[0] + numbers[1]
        return f"{total:f}" if total else f"{abs(total):f}"


def _refuse_constant(name: str) -> None:
    raise ValueError(name)
