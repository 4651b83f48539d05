"""Server-sent events (HTML Living Standard, section 9.2), from bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

__all__ = ["Event", "Parser", "events"]

# Only these end a line. str.splitlines() has eight more, which JSON text may contain.
_LINE_END = re.compile(rb"\r\n|\n|\r")


class Event(NamedTuple):
    """One event. `id` is the id of the last event that had one."""

    name: str
    data: str
    id: str | None


class Parser:
    """An incremental parser.

    `last_id` is the last id, also of events without data; unfinished events don't count.
    """

    def __init__(self) -> None:
        self.last_id: str | None = None
        self._parts: list[bytes] = []  # of an unfinished line
        self._after_return = False
        self._name = ""
        self._data: list[str] = []
        self._id: str | None = None

    def feed(self, chunk: bytes) -> list[Event]:
        """Return the events that this chunk completes."""
        found: list[Event] = []
        for line in self._lines(chunk):
            if line:
                self._take(line)
                continue
            self.last_id = self._id
            if self._data:
                found.append(Event(self._name or "message", "\n".join(self._data), self._id))
            self._name, self._data = "", []
        return found

    def _take(self, line: str) -> None:
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "event":
            self._name = value
        elif field == "data":
            self._data.append(value)
        elif field == "id" and "\0" not in value:
            self._id = value

    def _lines(self, chunk: bytes) -> Iterator[str]:
        if self._after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        if not chunk:
            return
        self._after_return = chunk.endswith(b"\r")
        first, *rest = _LINE_END.split(chunk)
        self._parts.append(first)
        for part in rest:
            yield b"".join(self._parts).decode("utf-8", "replace")
            self._parts = [part]


def events(chunks: Iterable[bytes]) -> Iterator[Event]:
    """Yield the events of a stream; an unfinished one at its end is dropped."""
    parser = Parser()
    for chunk in chunks:
        yield from parser.feed(chunk)
