"""Log entries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ._html import pre
from ._values import parse_time

__all__ = ["Log", "LogEntry"]


@dataclass(frozen=True)
class LogEntry:
    """One line that a script wrote, or that Roost wrote about it (`stream` "system").

    `seq` counts from 1 without gaps; `level` and `logger` are only set for entries of `logging`;
    `continued` is true if the line was too long and continues in the next entry. `str()` is the
    message.
    """

    seq: int
    time: datetime
    stream: str
    level: str | None
    logger: str | None
    message: str
    continued: bool

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> LogEntry:
        """Return the entry that is `data` in the API."""
        return cls(
            data["seq"],
            parse_time(data["time"]),
            data["stream"],
            data.get("level"),
            data.get("logger"),
            data["message"],
            bool(data.get("continued")),
        )

    def __str__(self) -> str:
        return self.message

    def _repr_html_(self) -> str:
        return pre(self.message)


class Log(list[LogEntry]):
    """The entries of a log: a list that notebooks show as lines."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return pre("\n".join(entry.message for entry in self))
