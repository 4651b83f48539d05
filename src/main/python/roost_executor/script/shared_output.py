"""Output in a process that has several executions: each line goes to the execution in whose context it was written.

The context is that of `contextvars`: it goes along with tasks, and with threads of `asyncio.to_thread`. What is written
outside of all of them goes to the process's own stdout and stderr, which the runner adds to the executor's own output.
"""

import io
import os
from contextvars import ContextVar
from typing import Any, Protocol

from roost_executor.script.output import text_stream
from roost_executor.wire.control import STDERR, STDOUT, TaggedChannel

KINDS = {"stdout": STDOUT, "stderr": STDERR}


class Owner(Protocol):
    """An execution, as far as its output is concerned."""

    channel: TaggedChannel
    streams: "dict[str, io.TextIOWrapper]"
    is_over: bool


# The execution that the running code belongs to.
current: "ContextVar[Owner | None]" = ContextVar("roost_execution", default=None)


def execution_here() -> "Owner | None":
    """The execution that the running code belongs to; None outside of all of them, and when it is over."""
    execution = current.get()
    return None if execution is None or execution.is_over else execution


class ChannelFile(io.RawIOBase):
    """What one execution writes to stdout, or to stderr."""

    def __init__(self, channel: TaggedChannel, kind: bytes) -> None:
        super().__init__()
        self._channel = channel
        self._kind = kind

    def writable(self) -> bool:
        """True."""
        return True

    def write(self, data: Any) -> int:
        """Sends it to the runner."""
        content = bytes(data)
        self._channel.send_output(self._kind, content)
        return len(content)


def stream_of(channel: TaggedChannel, name: str) -> io.TextIOWrapper:
    """`stdout` or `stderr` of one execution, like those of a process that has a single one."""
    return io.TextIOWrapper(
        io.BufferedWriter(ChannelFile(channel, KINDS[name])),
        encoding="utf-8",
        errors="backslashreplace",
        line_buffering=True,
    )


class ContextStream(io.TextIOBase):
    """`sys.stdout` or `sys.stderr`: the stream of the execution in whose context it is used."""

    def __init__(self, name: str, descriptor: int) -> None:
        self._name = name
        self._descriptor = descriptor
        self._outside = text_stream(descriptor, lambda: None)

    def _stream(self) -> io.TextIOWrapper:
        execution = execution_here()
        return self._outside if execution is None else execution.streams[self._name]

    @property
    def name(self) -> str:
        """As of Python's own."""
        return f"<{self._name}>"

    @property
    def mode(self) -> str:
        """As of Python's own."""
        return "w"

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Of the text."""
        return self._stream().encoding

    @property
    def errors(self) -> "str | None":  # type: ignore[override]
        """What becomes of text that can't be encoded."""
        return self._stream().errors

    @property
    def line_buffering(self) -> bool:
        """Whether a newline sends the line."""
        return self._stream().line_buffering

    @property
    def buffer(self) -> Any:
        """For bytes."""
        return self._stream().buffer

    def write(self, text: str) -> int:
        """Writes text."""
        return self._stream().write(text)

    def flush(self) -> None:
        """Sends what was written."""
        self._stream().flush()

    def reconfigure(self, **options: Any) -> None:
        """As of TextIOWrapper, for this execution."""
        self._stream().reconfigure(**options)

    def writable(self) -> bool:
        """True."""
        return True

    def isatty(self) -> bool:
        """False."""
        return False

    def fileno(self) -> int:
        """The process's own descriptor, which has no context."""
        return self._descriptor


class ContextChannel:
    """Takes log records, as a `Channel` does, for the execution in whose context they are made."""

    def send_log(self, level: str, logger: str, seconds: float, text: str) -> None:
        """Sends a log message."""
        execution = execution_here()
        if execution is None:
            line = f"{level} {logger}: {text}\n".encode("utf-8", "backslashreplace")
            while line:
                line = line[os.write(2, line) :]
        else:
            execution.channel.send_log(level, logger, seconds, text)
