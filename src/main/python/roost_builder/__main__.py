"""The command line of the builder.

::

    python -I -B -m roost_builder --uv PATH --directory TMP --requirements FILE
        --target venv --output DIR --timeout SECONDS

Everything is made in ``TMP``, which must be on the file system of ``DIR`` and is removed at the end; a
finished environment is renamed to ``DIR``, so that what is there is always complete. A ``DIR`` that exists
already is kept, since its name says what is in it.

What ``uv`` says goes to standard output line by line. The last line is a JSON object::

    {"outcome": "succeeded", "packages": [{"name", "version", "sha256"}, …], "size_bytes": 123}
    {"outcome": "failed", "reason": "requirements_conflict", "message": "Because …"}

The exit status is 0 in both cases; another one means that the builder was ended from outside. Which package
index is used is said in ``settings``.
"""

import argparse
import contextlib
import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn, Optional

from roost_builder.failures import BuildFailed, explain_os_error
from roost_builder.processes import end_session
from roost_builder.settings import uv_environment
from roost_builder.uv import Uv
from roost_builder.venv import build


class DeadlineExceeded(Exception):
    """The build's time is over."""


class Terminated(Exception):
    """Someone asked the builder to stop."""


def main(arguments: Optional[list[str]] = None) -> int:
    """Builds, and prints the result as the last line; 0 when the build has succeeded."""
    options = parse(arguments)
    start_session()
    sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")  # type: ignore[union-attr]
    signal.signal(signal.SIGALRM, raise_deadline_exceeded)
    signal.signal(signal.SIGTERM, raise_terminated)
    try:
        signal.setitimer(signal.ITIMER_REAL, options.timeout)
        result = run(options)
    except Terminated:
        return 128 + signal.SIGTERM
    finally:
        disarm()
        end_session()
        shutil.rmtree(options.directory, ignore_errors=True)
    print(json.dumps(result), flush=True)
    return 0


def parse(arguments: Optional[list[str]]) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(prog="roost_builder", description="Installs an agent's requirements.")
    parser.add_argument("--uv", required=True, type=Path, help="the uv executable")
    parser.add_argument("--directory", required=True, type=Path, help="where to work; removed at the end")
    parser.add_argument("--requirements", required=True, type=Path, help="name==version, one a line")
    parser.add_argument("--target", required=True, choices=["venv"], help="what to make")
    parser.add_argument("--output", required=True, type=Path, help="the finished environment's place")
    parser.add_argument("--timeout", required=True, type=float, help="seconds")
    return parser.parse_args(arguments)


def run(options: argparse.Namespace) -> dict[str, Any]:
    """The result of the build, success or failure; raises nothing that a build can cause."""
    try:
        options.directory.mkdir(parents=True, exist_ok=True)
        uv = Uv(options.uv, options.directory, uv_environment(os.environ))
        built = build(uv, options)
        disarm()
        return {"outcome": "succeeded", **built}
    except BuildFailed as failure:
        return failed(failure.reason, failure.message)
    except DeadlineExceeded:
        return failed("deadline_exceeded", f"The build did not end within {options.timeout:g} s.")
    except MemoryError:
        return failed("out_of_memory", "The builder ran out of memory.")
    except OSError as error:
        return failed(*explain_os_error(error))


def failed(reason: str, message: str) -> dict[str, Any]:
    """A result that says why there is no environment."""
    return {"outcome": "failed", "reason": reason, "message": message}


def start_session() -> None:
    """Leave the terminal's session, so that Ctrl-C doesn't end the build halfway."""
    with contextlib.suppress(PermissionError):  # It leads one already.
        os.setsid()


def disarm() -> None:
    """Turns the time-out off: the result is known."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def raise_deadline_exceeded(_signal: int, _frame: object) -> NoReturn:
    """Handler of SIGALRM."""
    raise DeadlineExceeded


def raise_terminated(_signal: int, _frame: object) -> NoReturn:
    """Handler of SIGTERM."""
    raise Terminated


if __name__ == "__main__":
    sys.exit(main())
