"""Waiting: for a short time in the process, for a long one without it.

A process ends at a long wait as if it were killed: no `finally`, no exit handler. What they would do, such as reporting
the end, is yet to come: another process replays the script up to the wait, and continues there. In a process that has
other executions as well, the tasks of this one stop where they are, and are never resumed.
"""

import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any, Callable

from roost_executor.script.step_history import SEPARATOR, Entry, History

# Waits whose end is unknown are short or very long: for this long, or as the control plane wants it if that is shorter,
# the process stays.
UNKNOWN_SECONDS = 0.5
FIRST_PAUSE_SECONDS = 0.01
LAST_PAUSE_SECONDS = 1.0
# In an event loop with other tasks, for this long no step may begin or end before the process ends.
QUIET_SECONDS = 1.0


class Waits:
    """The waits of one execution."""

    def __init__(
        self,
        suspend: "Callable[[Sequence[int], bool], None]",
        longest: "float | None",
        count_tasks: "Callable[[], int] | None" = None,
    ) -> None:
        """`suspend`: ends the process for the waits with these numbers, until one, or all of them, are over.

        It returns in a task of a process that has other executions. `longest`: seconds that a wait may last in the
        process; None if it has to stay, however long a wait is. `count_tasks`: of this execution; all if it is missing.
        """
        self._suspend = suspend
        self._count_tasks = count_tasks or _count_tasks
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
            self._suspend([number], False)
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
                    self._suspend(sorted(self._pending), False)
                    await asyncio.get_running_loop().create_future()  # for ever
                await asyncio.sleep(min(left, QUIET_SECONDS))
        finally:
            del self._pending[number]

    def outcomes(self, history: History, calls: "Sequence[Entry]") -> "list[Entry]":
        """Waits for the end of all calls."""
        ended: dict[int, Entry] = {}
        began = time.monotonic()
        for pause in _pauses():
            left = _open(calls, ended)
            ended.update(history.outcomes(left) if left else {})
            if not (left := _open(calls, ended)):
                break
            if self._is_over(began):
                self._suspend(left, True)
            time.sleep(pause)
        return [ended.get(call.number, call) for call in calls]

    async def outcomes_in_task(self, history: History, calls: "Sequence[Entry]") -> "list[Entry]":
        """The same, while other tasks go on."""
        import asyncio

        ended: dict[int, Entry] = {}
        began = self._changed = time.monotonic()
        try:
            for pause in _pauses():
                left = _open(calls, ended)
                ended.update(history.outcomes(left) if left else {})
                if not (left := _open(calls, ended)):
                    break
                self._pending.update((call.number, call.path) for call in calls if call.number in left)
                if self._is_over(began) and self._is_idle():
                    # All, if nothing else is waited for.
                    self._suspend(sorted(self._pending), len(self._pending) == len(left))
                    await asyncio.get_running_loop().create_future()  # for ever
                await asyncio.sleep(pause)
        finally:
            for call in calls:
                self._pending.pop(call.number, None)
        return [ended.get(call.number, call) for call in calls]

    def _is_over(self, began: float) -> bool:
        return self._longest is not None and time.monotonic() - began >= min(UNKNOWN_SECONDS, self._longest)

    def _is_long(self, seconds: float) -> bool:
        return self._longest is not None and seconds > self._longest

    def _is_idle(self) -> bool:
        """Whether every step that runs does nothing but wait, and so does the script outside of steps, as it seems."""
        waiting = tuple(self._pending.values())
        for step in self._running:
            if not any(path.startswith(step + SEPARATOR) for path in waiting):
                return False
        return self._count_tasks() == 1 or time.monotonic() - self._changed >= QUIET_SECONDS


def _count_tasks() -> int:
    asyncio: Any = sys.modules["asyncio"]
    return len(asyncio.all_tasks())


def _open(calls: "Sequence[Entry]", ended: "dict[int, Entry]") -> "list[int]":
    return [call.number for call in calls if call.is_waiting and call.number not in ended]


def _pauses() -> "Iterator[float]":
    pause = FIRST_PAUSE_SECONDS
    while True:
        yield pause
        pause = min(2 * pause, LAST_PAUSE_SECONDS)
