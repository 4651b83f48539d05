"""What the script writes, kept in order across stdout, stderr, logging and child processes.

The output goes through three pipes, and a reader of three pipes can't know which was written first.
So a writer waits, before it writes to one, until the runner has emptied the others; and before the
script starts a process, until all are empty. The wait is a few microseconds when nothing is there.
"""

import contextlib
import functools
import io
import logging
import sys
import time
from typing import Any, Callable, Protocol

from roost_executor.linux import pipe_is_empty

TIMEOUT_SECONDS = 1.0
PAUSE_SECONDS = 0.00005
# Of `logging.basicConfig`.
DESTINATIONS = ("filename", "stream", "handlers")
STARTS_A_PROCESS = frozenset(("subprocess.Popen", "os.system", "os.posix_spawn", "os.exec", "os.fork", "os.forkpty"))


class LogChannel(Protocol):
    """What takes log records: a `Channel`, for one."""

    def send_log(self, level: str, logger: str, seconds: float, text: str) -> None:
        """Sends a log message; `seconds` is a Unix time."""


class PipeSync:
    """Makes writers wait until the runner has read the other pipes."""

    def __init__(self) -> None:
        self._timeouts = 0

    def barrier(self, *descriptors: int) -> "Callable[[], None]":
        """A function that returns when the runner has read all that was written to `descriptors`."""

        def wait() -> None:
            for descriptor in descriptors:
                if not pipe_is_empty(descriptor):
                    self._wait(descriptor)

        return wait

    def _wait(self, descriptor: int) -> None:
        if self._timeouts >= 3:
            return
        deadline = time.monotonic() + TIMEOUT_SECONDS
        while not pipe_is_empty(descriptor):
            if time.monotonic() > deadline:
                # The runner is slow, or the script has replaced this descriptor: a delay would be
                # worse than lines out of order.
                self._timeouts += 1
                return
            time.sleep(PAUSE_SECONDS)
        self._timeouts = 0


class OrderedFile(io.FileIO):
    """An output descriptor that waits for the other pipes before each write."""

    def __init__(self, descriptor: int, before_write: "Callable[[], None]") -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._before_write = before_write

    def write(self, data: Any) -> int:
        """Writes as FileIO does."""
        self._before_write()
        return super().write(data)


def text_stream(descriptor: int, before_write: "Callable[[], None]") -> io.TextIOWrapper:
    """`sys.stdout` or `sys.stderr`: UTF-8, line by line; lone surrogates come out escaped."""
    return io.TextIOWrapper(
        io.BufferedWriter(OrderedFile(descriptor, before_write)),
        encoding="utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )


def flush_streams() -> None:
    """Flushes stdout and stderr, also where the script has replaced them."""
    for stream in {id(s): s for s in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__)}.values():
        # Closed or replaced by the script: its own business.
        with contextlib.suppress(Exception):
            stream.flush()


def set_up_logging(channel: LogChannel) -> None:
    """Leaves the root logger without a handler, as in any process, but with the level INFO.

    So `basicConfig` works. What would go to stderr without a handler, or by `basicConfig`, keeps its level, logger
    and time.
    """
    configure = logging.basicConfig
    stderr = sys.stderr

    @functools.wraps(configure)
    def basic_config(**options: Any) -> None:
        if sys.stderr is stderr and all(options.get(name) is None for name in DESTINATIONS):
            for name in DESTINATIONS:
                options.pop(name, None)
            handler = ChannelHandler(channel)
            if options.get("format") is None:
                handler.setFormatter(logging.Formatter(datefmt=options.get("datefmt")))  # the message alone
            options["handlers"] = [handler]
        configure(**options)

    logging.basicConfig = basic_config
    logging.lastResort = ChannelHandler(channel)
    logging.root.handlers.clear()
    logging.root.setLevel(logging.INFO)


class ChannelHandler(logging.StreamHandler):  # type: ignore[type-arg]
    """Sends log records over the control pipe, with their level, logger and time.

    To the script it is a handler of stderr; one that is given another stream writes to that.
    """

    def __init__(self, channel: LogChannel) -> None:
        super().__init__(sys.stderr)
        self._channel = channel
        self._stderr = sys.stderr

    def emit(self, record: logging.LogRecord) -> None:
        """Formats as logging does by default: the message, then exception and stack, if there are."""
        if self.stream is not self._stderr:
            super().emit(record)
            return
        try:
            message = self.format(record)
            flush_streams()
            self._channel.send_log(record.levelname, record.name, record.created, message)
        except Exception:
            self.handleError(record)


def watch_for_processes(all_empty: "Callable[[], None]") -> None:
    """From now on, starting a process waits until all that was written before has been read."""

    def hook(event: str, _: object) -> None:
        if event in STARTS_A_PROCESS:
            flush_streams()
            all_empty()

    sys.addaudithook(hook)
