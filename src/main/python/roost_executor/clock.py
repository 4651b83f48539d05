"""Times as the protocol writes them."""

import time

YEAR_10000 = 253_402_300_800

_second = -1
_text = ""


def time_text(seconds: "float | None" = None) -> str:
    """RFC 3339 in UTC with microseconds, of a Unix time or of now.

    A script can write any time into its log records; one that RFC 3339 has no year for is taken for now.
    """
    global _second, _text
    usable = seconds is not None and 0 <= seconds < YEAR_10000
    microseconds = int(seconds * 1_000_000) if usable else time.time_ns() // 1000
    whole, fraction = divmod(microseconds, 1_000_000)
    if whole != _second:
        # Most calls fall into the second of the one before.
        _text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(whole))
        _second = whole
    return f"{_text}.{fraction:06d}Z"
