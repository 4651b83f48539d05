"""Frames that the control plane has not acknowledged yet."""

import contextlib
import os
from collections import deque
from typing import Any

MEMORY_BYTES = 8 * 1024 * 1024
BATCH_BYTES = 4 * 1024 * 1024
# Memory for the case that the disk takes nothing; above it the runner has to wait.
LARGEST_MEMORY_BYTES = 64 * 1024 * 1024


class Spool:
    """The frames of one execution, in order: the oldest in memory, what doesn't fit there in a file.

    A frame leaves with its acknowledgement, not before.
    """

    def __init__(self, directory: str, execution_id: str) -> None:
        self._path = os.path.join(directory, "spool", execution_id + ".ndjson")
        self._memory: deque[tuple[int, bytes]] = deque()
        self._memory_bytes = 0
        self._file: Any = None
        self._sizes: deque[tuple[int, int]] = deque()  # of the frames in the file: (seq, bytes)
        self._read_at = 0
        self._write_at = 0

    @property
    def full(self) -> bool:
        """Whether no more frames should be taken."""
        return self._memory_bytes > LARGEST_MEMORY_BYTES

    @property
    def over_a_batch(self) -> bool:
        """Whether more waits than one request takes."""
        return bool(self._sizes) or self._memory_bytes > BATCH_BYTES

    def __bool__(self) -> bool:
        return bool(self._memory or self._sizes)

    def append(self, sequence: int, line: bytes) -> None:
        """Adds a frame (its line with the newline)."""
        over = self._memory_bytes + len(line) > MEMORY_BYTES and bool(self._memory)
        if not (self._sizes or over) or not self._append_to_file(sequence, line):
            self._memory.append((sequence, line))
            self._memory_bytes += len(line)

    def batch(self) -> "tuple[int, bytes]":
        """The oldest frames, up to 4 MiB but at least one: (seq of the last one, their lines)."""
        while self._sizes and self._memory_bytes < BATCH_BYTES:
            self._load_one()
        lines = []
        total = 0
        last = 0
        for sequence, line in self._memory:
            if lines and total + len(line) > BATCH_BYTES:
                break
            lines.append(line)
            total += len(line)
            last = sequence
        return last, b"".join(lines)

    def acknowledge(self, sequence: int) -> bool:
        """Forgets the frames up to `sequence`; False if there was none."""
        progress = False
        while self._memory and self._memory[0][0] <= sequence:
            self._memory_bytes -= len(self._memory.popleft()[1])
            progress = True
        return progress

    def close(self) -> None:
        """Forgets everything and removes the file."""
        self._memory.clear()
        self._sizes.clear()
        self._memory_bytes = 0
        if self._file is not None:
            self._file.close()
            self._file = None
            with contextlib.suppress(OSError):
                os.unlink(self._path)

    def _append_to_file(self, sequence: int, line: bytes) -> bool:
        try:
            if self._file is None:
                os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
                self._file = open(self._path, "w+b", buffering=0)  # noqa: SIM115
            if os.pwrite(self._file.fileno(), line, self._write_at) < len(line):
                raise OSError("the disk is full")
        except OSError:
            # The order must hold: once a frame is in the file, later ones can't go to memory before it.
            while self._sizes:
                self._load_one()
            return False
        self._sizes.append((sequence, len(line)))
        self._write_at += len(line)
        return True

    def _load_one(self) -> None:
        sequence, size = self._sizes.popleft()
        line = os.pread(self._file.fileno(), size, self._read_at)
        self._read_at += size
        self._memory.append((sequence, line))
        self._memory_bytes += size
        if not self._sizes:
            os.ftruncate(self._file.fileno(), 0)
            self._read_at = self._write_at = 0
