"""The control pipe: records from the script's processes to the runner.

Several processes may write to it (`multiprocessing` with fork), and the kernel keeps writes of up to
PIPE_BUF bytes in one piece. So a record travels in packets of at most that size: a header with the
writer's process id, the length and whether the record ends here, then the bytes. The first byte of a
record is its kind; the rest is JSON, and for a log record the JSON of its origin, a newline, its text. A process
that has several executions puts their records into records with their numbers.
"""

import json
import os
import struct
import threading
from collections.abc import Iterator
from typing import Any, Callable

HEADER = struct.Struct("<IH?")
PACKET = 4096  # PIPE_BUF on Linux
CONTENT = PACKET - HEADER.size

# The compiled script: the first record, sent before anything of the script runs, so that none can forge it.
CODE = b"C"
# What the import of the script has imported.
IMPORTED = b"I"
ENTERED = b"E"
ENDED = b"R"
LOG = b"L"
LOG_MORE = b"M"
# Of a process with several executions: a record that belongs to the execution with this number,
# `T<number> <record>`; what an execution has written to stdout and stderr; and that it takes no more executions.
TAGGED = b"T"
STDOUT = b"o"
STDERR = b"e"
RETIRED = b"X"
LOG_PIECE = 64 * 1024
MOST_CODE_BYTES = 12 * 1024 * 1024


class Channel:
    """The script's end of the control pipe."""

    def __init__(self, descriptor: int, before_write: "Callable[[], None]") -> None:
        self._descriptor = descriptor
        self._before_write = before_write
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._forget_lock)

    def _forget_lock(self) -> None:
        # Another thread of the parent may have held it during the fork.
        self._lock = threading.Lock()

    def send_code(self, content: bytes) -> None:
        """Sends the compiled script."""
        with self._lock:
            self._write(CODE + content)

    def send(self, kind: bytes, content: object) -> None:
        """Sends one record; returns when the pipe has taken it."""
        with self._lock:
            self._before_write()
            self._write(kind + json.dumps(content).encode())

    def send_log(self, level: str, logger: str, seconds: float, text: str) -> None:
        """Sends a log message, in pieces, so that the reader never holds a long one in memory."""
        origin = json.dumps([level, logger, seconds]).encode() + b"\n"
        content = text.encode("utf-8", "surrogatepass")
        with self._lock:
            self._before_write()
            start = 0
            while len(content) - start > LOG_PIECE:
                self._write(LOG_MORE + origin + content[start : start + LOG_PIECE])
                start += LOG_PIECE
            self._write(LOG + origin + content[start:])

    def _write(self, record: bytes) -> None:
        process = os.getpid()
        view = memoryview(record)
        for start in range(0, len(record), CONTENT):
            part = view[start : start + CONTENT]
            last = start + CONTENT >= len(record)
            os.write(self._descriptor, HEADER.pack(process, len(part), last) + part)


class TaggedChannel(Channel):
    """The share of one execution in the channel of a process that has several."""

    def __init__(self, channel: Channel, number: int) -> None:
        self._channel = channel
        self._tag = TAGGED + b"%d " % number

    @property
    def _lock(self) -> threading.Lock:  # type: ignore[override]
        return self._channel._lock

    def _before_write(self) -> None:  # type: ignore[override]
        """All that the execution writes goes through the channel, and so is in order."""

    def send_output(self, kind: bytes, content: bytes) -> None:
        """Sends what was written to stdout or stderr."""
        with self._lock:
            for start in range(0, len(content), LOG_PIECE):
                self._write(kind + content[start : start + LOG_PIECE])

    def _write(self, record: bytes) -> None:
        self._channel._write(self._tag + record)


class Records:
    """The runner's end: puts the packets together again."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._packets = b""
        self._open: dict[int, list[bytes]] = {}
        self._sizes: dict[int, int] = {}

    def feed(self, data: bytes) -> "Iterator[tuple[int, bytes]]":
        """The records that `data` completes: (process id, record).

        A record over `largest` bytes is dropped: only a script that writes to the pipe itself makes one.
        """
        buffer = self._packets + data if self._packets else data
        offset = 0
        while len(buffer) - offset >= HEADER.size:
            process, length, last = HEADER.unpack_from(buffer, offset)
            end = offset + HEADER.size + length
            if end > len(buffer):
                break
            part = buffer[offset + HEADER.size : end]
            offset = end
            size = self._sizes[process] = self._sizes.get(process, 0) + length
            if size <= self._largest and len(self._open) < 1024:
                self._open.setdefault(process, []).append(part)
            if last:
                del self._sizes[process]
                parts = self._open.pop(process, [])
                if parts and size <= self._largest:
                    yield process, parts[0] if len(parts) == 1 else b"".join(parts)
        self._packets = buffer[offset:]


def tagged_of(record: bytes) -> "tuple[int, bytes]":
    """The number of the execution and its record; raises ValueError for bytes that no TaggedChannel wrote."""
    number, _, inner = record[1:].partition(b" ")
    return int(number), inner


def content_of(record: bytes) -> Any:
    """What was sent as `content`; raises ValueError for bytes that no Channel wrote."""
    return json.loads(record[1:])


def log_content_of(record: bytes) -> "tuple[str, str, float, bytes]":
    """(level, logger, Unix time, text) of a log record; raises ValueError as above."""
    origin, _, text = record[1:].partition(b"\n")
    level, logger, seconds = json.loads(origin)
    return str(level), str(logger), float(seconds), text
