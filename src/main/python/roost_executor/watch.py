"""Sidecar and runner watch each other: a script may have stopped one of them, or the runner may hang.

While an execution runs, the runner sends a heartbeat every second.
"""

import contextlib
import os
import signal
import time
from typing import Callable

HEARTBEAT = b'{"type": "alive"}\n'
HEARTBEAT_SECONDS = 1.0
# A runner that is silent for this long may have been stopped, and is continued if it has.
STOPPED_AFTER_SECONDS = 3.0
MOST_CONTINUED = 3
# It may be at work on a directory of a million files.
LOST_AFTER_SECONDS = 120.0
# A longer step is the sidecar's own: it was stopped, or the machine was suspended, and the runner with it.
LONGEST_STEP_SECONDS = 2.0


class Watch:
    """One execution's watch over the runner. `check` is called once a second or more often."""

    def __init__(self, process: "int | None", clock: "Callable[[], float]" = time.monotonic) -> None:
        """`process`: the runner's id; None where it is in another container."""
        self._process = process
        self._clock = clock
        self._checked_at = clock()
        self._silent_seconds = 0.0
        self._continued = 0

    def reset(self) -> None:
        """The runner has sent something, or can't be expected to."""
        self._checked_at = self._clock()
        self._silent_seconds = 0.0

    def check(self) -> "str | None":
        """Why the runner must be killed; None while it need not."""
        now = self._clock()
        self._silent_seconds += min(now - self._checked_at, LONGEST_STEP_SECONDS)
        self._checked_at = now
        if self._silent_seconds < STOPPED_AFTER_SECONDS:
            return None
        if self._process is not None and is_stopped(self._process):
            if self._continued == MOST_CONTINUED:
                return f"it was stopped (SIGSTOP) {MOST_CONTINUED + 1} times during the execution"
            self._continued += 1
            self._silent_seconds = 0.0
            continue_process(self._process)
        elif self._silent_seconds >= LOST_AFTER_SECONDS:
            return f"it has sent no heartbeat for {LOST_AFTER_SECONDS:g} s"
        return None


def is_stopped(process: int) -> bool:
    """Whether a signal has stopped the process."""
    try:
        with open(f"/proc/{process}/stat", "rb", buffering=0) as file:
            return file.read(1024).rpartition(b")")[2].split()[:1] == [b"T"]
    except OSError:
        return False


def continue_process(process: int) -> None:
    """Undoes SIGSTOP."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGCONT)
