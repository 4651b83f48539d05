"""Runs a command within its timeout, turns failures into a result, and ends all processes that it started."""

import contextlib
import json
import os
import signal
import sys
from typing import Any, Callable, NamedTuple, NoReturn

from roost_builder.failures import BuildFailed, explain_os_error
from roost_builder.processes import end_session


class DeadlineExceeded(Exception):
    """The command's timeout has passed."""


class Terminated(Exception):
    """The command received SIGTERM."""


class Outcome(NamedTuple):
    """The fields of the successful result, and whether it is not printed."""

    fields: dict[str, Any]
    silent: bool = False


class Ended(NamedTuple):
    """The exit status, and whether the command was ended from outside."""

    status: int
    terminated: bool = False


def supervised(work: Callable[[], Outcome], name: str, timeout_seconds: float) -> Ended:
    """Do the work and print its result as the last line; nothing is printed after SIGTERM.

    name: "build", "push" or "deletion", for a person.
    """
    start_session()
    sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    signal.signal(signal.SIGALRM, raise_deadline_exceeded)
    signal.signal(signal.SIGTERM, raise_terminated)
    try:
        signal.setitimer(signal.ITIMER_REAL, timeout_seconds)
        result, silent = attempt(work, name, timeout_seconds)
    except Terminated:
        return Ended(128 + signal.SIGTERM, terminated=True)
    finally:
        disarm()
        end_session()
    if not silent:
        print(json.dumps(result), flush=True)
    return Ended(0 if result["outcome"] == "succeeded" else 1)


def attempt(work: Callable[[], Outcome], name: str, timeout_seconds: float) -> "tuple[dict[str, Any], bool]":
    """The result, success or failure, and whether it need not be printed."""
    try:
        outcome = work()
        disarm()
        return {"outcome": "succeeded", **outcome.fields}, outcome.silent
    except BuildFailed as failure:
        return failed(failure.reason, failure.message), False
    except DeadlineExceeded:
        return failed("deadline_exceeded", f"The {name} did not end within {timeout_seconds:g} s."), False
    except MemoryError:
        return failed("out_of_memory", "The builder ran out of memory."), False
    except OSError as error:
        return failed(*explain_os_error(error)), False


def failed(reason: str, message: str) -> dict[str, Any]:
    """A failed result."""
    return {"outcome": "failed", "reason": reason, "message": message}


def start_session() -> None:
    """Leave the terminal's session, so that Ctrl-C doesn't end the build halfway."""
    with contextlib.suppress(PermissionError):  # It leads one already.
        os.setsid()


def disarm() -> None:
    """Turns the timeout off: the result is known."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def raise_deadline_exceeded(_signal: int, _frame: object) -> NoReturn:
    """Handler of SIGALRM."""
    raise DeadlineExceeded


def raise_terminated(_signal: int, _frame: object) -> NoReturn:
    """Handler of SIGTERM."""
    raise Terminated
