"""Human-readable times and sizes."""

from __future__ import annotations

from datetime import datetime, timezone

__all__ = ["duration", "in_zone", "lapse", "moment", "size"]

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"), (1, "s"))
_DATED_AFTER_SECONDS = 30 * 86_400


def moment(time: datetime | None, now: datetime | None = None) -> str:
    """Return the time relative to now, or the date if it is more than 30 days away."""
    if time is None:
        return ""
    seconds = ((now or datetime.now(timezone.utc)) - time).total_seconds()
    if abs(seconds) >= _DATED_AFTER_SECONDS:
        return f"{time:%Y-%m-%d}"
    if abs(seconds) < 1:
        return "now"
    length = _rough(abs(seconds))
    return f"{length} ago" if seconds > 0 else f"in {length}"


def lapse(begin: datetime | None, end: datetime | None) -> str:
    """Return the time between the two; empty when either is None."""
    return "" if begin is None or end is None else duration((end - begin).total_seconds())


def duration(seconds: float | None) -> str:
    """Return a duration with about three digits: 0.34 s, 12.3 s, 4 min 5 s, 2 h 3 min."""
    if seconds is None:
        return ""
    if seconds < 10:
        return f"{seconds:.2f} s"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def in_zone(time: datetime, zone: str) -> str:
    """Return the time in that zone, or in UTC if this machine doesn't know the zone."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return f"{time.astimezone(ZoneInfo(zone)):%a %Y-%m-%d %H:%M:%S %Z}"
    except (ZoneInfoNotFoundError, ValueError):
        return f"{time.astimezone(timezone.utc):%a %Y-%m-%d %H:%M:%S} UTC"


def size(count: int | None) -> str:
    """Return a number of bytes with its unit, in powers of 1024."""
    if count is None:
        return ""
    value = float(count)
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


def _rough(seconds: float) -> str:
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{int(seconds // length)} {unit}"
    return "1 s"
