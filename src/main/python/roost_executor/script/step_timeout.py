"""Time limits for plain functions, by an alarm signal in the main thread."""

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from typing import Any

# An alarm may come slightly before the time that it was set to.
TOLERANCE_SECONDS = 0.001


class Expired(BaseException):
    """Raised in the function at its deadline. Not an Exception, which the function might handle."""

    def __init__(self, limit: "Limit") -> None:
        super().__init__("the step's timeout has passed")
        self.limit = limit


class Limit:
    """One block with a deadline (monotonic time)."""

    def __init__(self, deadline: float) -> None:
        self.deadline = deadline


_limits: "list[Limit]" = []
_before: Any = None


@contextlib.contextmanager
def time_limit(seconds: float) -> "Iterator[Limit]":
    """Raises Expired with this limit in the block after `seconds`. Blocks may be nested. Main thread only."""
    global _before
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("a timeout of a plain function works in the main thread only; use an async function")
    limit = Limit(time.monotonic() + seconds)
    if not _limits:
        _before = signal.signal(signal.SIGALRM, _expire)
    _limits.append(limit)
    try:
        _set_alarm()
        yield limit
    finally:
        _limits.remove(limit)
        _set_alarm()
        if not _limits:
            signal.signal(signal.SIGALRM, _before)


def _set_alarm() -> None:
    left = min((limit.deadline for limit in _limits), default=None)
    signal.setitimer(signal.ITIMER_REAL, 0 if left is None else max(left - time.monotonic(), TOLERANCE_SECONDS))


def _expire(number: int, frame: Any) -> None:
    now = time.monotonic() + TOLERANCE_SECONDS
    for limit in _limits:  # the outermost first: its end ends the others
        if limit.deadline <= now:
            raise Expired(limit)
    _set_alarm()
