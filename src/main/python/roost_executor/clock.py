"""Times as the protocol writes them."""

import time

_second = -1
_text = ""


def time_text(seconds: "float | None" = None) -> str:
    """RFC 3339 in UTC with microseconds, of a Unix time or of now."""
    global _second, _text
    microseconds = time.time_ns() // 1000 if seconds is None else int(seconds * 1_000_000)
    whole, fraction = divmod(microseconds, 1_000_000)
    if whole != _second:
        # Most calls fall into the second of the one before.
        _text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))
        _second = whole
    return f"{_text}.{fraction:06d}Z"
