"""An executor's frames and the resulting Execution, by the server's rules."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Callable

__all__ = ["Entry", "Intake", "Outcome"]

Entry = dict[str, Any]  # of a log: seq, time, stream, level, logger, message, continued

_FIELDS = ("type", "message", "traceback", "line", "column")


@dataclass(frozen=True)
class Outcome:
    """How an execution ended.

    `state`, `reason`, `message`, `error` and `usage` are as in the API; `return_value` is the exact
    JSON text of the return value of `main`, None if it didn't return.
    """

    state: str
    reason: str | None = None
    message: str | None = None
    error: dict[str, Any] | None = None
    return_value: str | None = None
    logs_truncated: bool = False
    usage: dict[str, Any] | None = None
    time: str | None = None


class Intake:
    """Accepts the frames of one execution in order, each once; duplicates are ignored.

    `on_entries` receives new log entries.
    """

    def __init__(self, on_entries: Callable[[list[Entry]], None]) -> None:
        self._on_entries = on_entries
        self.acknowledged = 0
        self.entered_at: str | None = None
        self.outcome: Outcome | None = None

    def accept(self, lines: Iterable[bytes]) -> int:
        """Accept frames, one JSON object per line; return the number of the last accepted one."""
        for line in lines:
            frame = json.loads(line)
            if frame["seq"] == self.acknowledged + 1 and self.outcome is None:
                self.acknowledged += 1
                self._accept(frame)
        return self.acknowledged

    def _accept(self, frame: dict[str, Any]) -> None:
        kind = frame["type"]
        if kind == "started":
            self.entered_at = frame["time"]
        elif kind == "log":
            self._on_entries(frame["entries"])
        elif kind == "returned":
            self.outcome = _returned(frame)
        elif kind == "failed":
            self.outcome = _outcome(
                frame, frame["state"], frame["reason"], frame["message"], frame.get("error")
            )


def _returned(frame: dict[str, Any]) -> Outcome:
    value = frame["value"]
    try:
        json.loads(value, parse_int=str, parse_float=str, parse_constant=_refuse_constant)
    except (TypeError, ValueError, RecursionError):
        return _outcome(
            frame,
            "failed",
            "not_json",
            "The return value is not valid JSON. "
            "Check whether the script writes to a file descriptor that it did not open.",
        )
    return _outcome(frame, "succeeded", value=value)


def _outcome(
    frame: dict[str, Any],
    state: str,
    reason: str | None = None,
    message: str | None = None,
    error: dict[str, Any] | None = None,
    value: str | None = None,
) -> Outcome:
    return Outcome(
        state=state,
        reason=reason,
        message=message,
        error=None if error is None else {name: error.get(name) for name in _FIELDS},
        return_value=value,
        logs_truncated=frame["logs_truncated"],
        usage=frame["usage"],
        time=frame["time"],
    )


def _refuse_constant(name: str) -> None:
    raise ValueError(name)
