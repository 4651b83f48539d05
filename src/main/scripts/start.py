"""Runs the server until somebody stops it: starts it again when it has crashed.

    python3 start.py java -XX:+ExitOnOutOfMemoryError ... -jar quarkus-run.jar

Java ends with status 3 when the heap is exhausted (ExitOnOutOfMemoryError), and by a signal when it crashes or the
machine is out of memory. What runs agents and the embedded database live on meanwhile; the new server takes them over.
Ends with the server's status when the server ends in any other way, and ends the server when its own parent is gone.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

OUT_OF_MEMORY = 3
CRASHES = (signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGKILL, signal.SIGSEGV)
LOOK_SECONDS = 0.5
SHORT_RUN_SECONDS = 60.0
MOST_SHORT_RUNS = 5


class Supervisor:
    """Starts a command again as long as it crashes."""

    def __init__(self, command: list[str]) -> None:
        self._command = command
        self._parent = os.getppid()
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def run(self) -> int:
        """The status of the last run; 128 and the signal's number when a signal has ended it."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._stop)
        short_runs = 0
        while True:
            started = time.monotonic()
            status = self._run_once()
            if self._stopped or not crashed(status):
                return status if status >= 0 else 128 - status
            short_runs = short_runs + 1 if time.monotonic() - started < SHORT_RUN_SECONDS else 0
            if short_runs == MOST_SHORT_RUNS:
                print(f"Roost {cause(status)} {short_runs} times in a row; giving up.", file=sys.stderr)
                return status if status >= 0 else 128 - status
            print(f"Roost {cause(status)}; starting it again.", file=sys.stderr, flush=True)

    def _run_once(self) -> int:
        self._process = subprocess.Popen(self._command)
        if self._stopped:
            self._process.terminate()  # The signal came before there was a process to pass it to.
        while True:
            try:
                return self._process.wait(LOOK_SECONDS)
            except subprocess.TimeoutExpired:
                if os.getppid() != self._parent and not self._stopped:
                    self._stop(signal.SIGTERM, None)

    def _stop(self, number: int, frame: object) -> None:
        """Passes the signal on; Ctrl-C in a terminal reaches the server as well, which takes both for one."""
        self._stopped = True
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)


def crashed(status: int) -> bool:
    """Whether a process with this status did not mean to end."""
    return status == OUT_OF_MEMORY or -status in CRASHES


def cause(status: int) -> str:
    """What has happened, for the terminal."""
    if status == OUT_OF_MEMORY:
        return "ran out of memory"
    return f"crashed ({signal.Signals(-status).name})"


if __name__ == "__main__":
    sys.exit(Supervisor(sys.argv[1:]).run())
