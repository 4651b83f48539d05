"""Waiting: for a short time in the process, for a long one without it.

A process ends at a long wait as if it were killed: no `finally`, no exit handler. What they would do, such as reporting
the end, is yet to come: another process replays the script up to the wait, and continues there.
"""

import sys
import time
from collections.abc import Sequence
from typing import Any, Callable, NoReturn

from roost_executor.script.step_history import SEPARATOR

# In an event loop with other tasks, for this long no step may begin or end before the process ends.
QUIET_SECONDS = 1.0


class Waits:
    """The waits of one execution."""

    def __init__(self, suspend: "Callable[[Sequence[int]], NoReturn]", longest: "float | None") -> None:
        """`suspend`: ends the process for the waits with these numbers.

        longest: seconds that a wait may last in the process; None if it has to stay, however long a wait is.
        """
        self._suspend = suspend
        self._longest = longest
        self._pending: dict[int, str] = {}
        self._running: list[str] = []
        self._changed = 0.0

    def begin(self, path: str) -> None:
        """A step's function begins in an event loop."""
        self._running.append(path)
        self._changed = time.monotonic()

    def end(self, path: str) -> None:
        """It has ended."""
        self._running.remove(path)
        self._changed = time.monotonic()

    def sleep(self, number: int, until: float) -> None:
        """Waits until a Unix time."""
        left = until - time.time()
        if self._is_long(left):
            self._suspend([number])
        if left > 0:
            time.sleep(left)

    async def sleep_in_task(self, number: int, path: str, until: float) -> None:
        """The same, while other tasks go on."""
        import asyncio

        self._pending[number] = path
        self._changed = time.monotonic()
        try:
            while (left := until - time.time()) > 0:
                if self._is_long(left) and self._is_idle():
                    self._suspend(sorted(self._pending))
                await asyncio.sleep(min(left, QUIET_SECONDS))
        finally:
            del self._pending[number]

    def _is_long(self, seconds: float) -> bool:
        return self._longest is not None and seconds > self._longest

    def _is_idle(self) -> bool:
        """Whether every step that runs does nothing but wait, and so does the script outside of steps, as it seems."""
        waiting = tuple(self._pending.values())
        for step in self._running:
            if not any(path.startswith(step + SEPARATOR) for path in waiting):
                return False
        asyncio: Any = sys.modules["asyncio"]
        return len(asyncio.all_tasks()) == 1 or time.monotonic() - self._changed >= QUIET_SECONDS
