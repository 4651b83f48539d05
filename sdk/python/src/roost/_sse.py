"""Server-sent events (HTML Living Standard, section 9.2), from bytes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

__all__ = ["Event", "events"]

# Only these end a line. str.splitlines() has eight more, which JSON text may hold as they are.
_LINE_END = re.compile(rb"\r\n|\n|\r")


class Event(NamedTuple):
    """One event. `id` is that of the last event that had one."""

    name: str
    data: str
    id: str | None


def events(chunks: Iterable[bytes]) -> Iterator[Event]:
    """Yield the events of a stream; an unfinished one at its end is dropped."""
    name, last_id = "", None
    data: list[str] = []
    for line in _lines(chunks):
        if not line:
            if data:
                yield Event(name or "message", "\n".join(data), last_id)
            name, data = "", []
            continue
        field, _, value = line.partition(":")
        value = value[1:] if value.startswith(" ") else value
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif field == "id" and "\0" not in value:
            last_id = value


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    parts: list[bytes] = []  # of a line that goes on
    after_return = False
    for chunk in chunks:
        if after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
        if not chunk:
            continue
        after_return = chunk.endswith(b"\r")
        first, *rest = _LINE_END.split(chunk)
        parts.append(first)
        for part in rest:
            yield b"".join(parts).decode("utf-8", "replace")
            parts = [part]
