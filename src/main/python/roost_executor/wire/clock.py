"""Times as the protocol writes them."""

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime

YEAR_10000 = 253_402_300_800

_second = -1
_text = ""


def time_text(seconds: "float | None" = None) -> str:
    """RFC 3339 in UTC with microseconds, of a Unix time or of now.

    A script can write any time into its log records; a year that RFC 3339 lacks becomes the current time.
    """
    global _second, _text
    usable = seconds is not None and 0 <= seconds < YEAR_10000
    microseconds = int(seconds * 1_000_000) if usable else time.time_ns() // 1000
    whole, fraction = divmod(microseconds, 1_000_000)
    if whole != _second:
        # Most calls are in the same second as the one before.
        _text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))
        _second = whole
    return f"{_text}.{fraction:06d}Z"


def timestamp(text: str) -> float:
    """The Unix time in seconds of RFC 3339 text."""
    found = moment(text)
    assert found is not None
    return found.timestamp()


def moment(value: "float | str | None") -> "datetime.datetime | None":
    """An aware datetime in UTC of a Unix time or of RFC 3339 text."""
    import datetime  # the sidecar doesn't need it

    if value is None:
        return None
    if isinstance(value, (int, float)):
        return datetime.datetime.fromtimestamp(value, datetime.timezone.utc)
    # Before Python 3.11 fromisoformat takes neither Z nor a fraction other than 3 or 6 digits.
    text = value.strip().replace("Z", "+00:00").replace("z", "+00:00")
    head, dot, tail = text.partition(".")
    if dot:
        digits = len(tail) - len(tail.lstrip("0123456789"))
        text = f"{head}.{tail[:digits][:6]:0<6}{tail[digits:]}"
    return datetime.datetime.fromisoformat(text).astimezone(datetime.timezone.utc)
