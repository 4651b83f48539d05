"""The durable steps of a local run: kept until its end, since it is the only attempt."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from typing import Any

from .store_checks import problem

__all__ = ["Steps"]

# A server's defaults (docs/settings.md, roost.limits).
_MAX_STEPS = 10_000
_MAX_BYTES = 16 * 1024 * 1024
_TOO_MANY = f"A job can have at most {_MAX_STEPS:,} steps (setting roost.limits.steps)."
_TOO_LARGE = (
    f"The results of a job's steps can have at most {_MAX_BYTES:,} bytes together "
    "(setting roost.limits.step-bytes); {:,} are stored, and this step has {:,}. "
    "Store large results elsewhere and return a reference."
)
_NO_CALLS = "A local run has no other agents. Deploy this one, and execute it on a server."
_NO_EVENTS = "A local run receives no events. Deploy the agent, and execute it on a server."
_NO_APPROVALS = "A local run asks nobody. Deploy the agent, and execute it on a server."
_TEXTS = ("path", "name", "result", "error_message", "error_traceback", "error_arguments")


class Steps:
    """The steps of one execution. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paths: list[str] = []
        self._bytes = 0

    def operate(self, body: bytes) -> tuple[int, bytes]:
        """Handle one operation; return the status and the JSON of the response."""
        request = json.loads(body)
        if request["op"] == "steps":
            return 200, b'{"steps": [], "more": false}'
        if request["op"] in ("call", "outcomes"):
            return 422, problem("validation_failed", _NO_CALLS)
        if request["op"] == "event":
            return 422, problem("validation_failed", _NO_EVENTS)
        if request["op"] == "approval":
            return 422, problem("validation_failed", _NO_APPROVALS)
        return self._save(request) if request["op"] in ("step", "timer") else (200, b"{}")

    def _save(self, step: Mapping[str, Any]) -> tuple[int, bytes]:
        number: int = step["seq"]
        path: str = step["path"]
        size = sum(len((step.get(name) or "").encode("utf-8", "replace")) for name in _TEXTS)
        with self._lock:
            if number <= len(self._paths):
                if self._paths[number - 1] == path:
                    return 200, b"{}"  # the first response was lost
                return 409, problem("conflict", "The step's number is that of another one.")
            if number > _MAX_STEPS:
                return 413, problem("too_large", _TOO_MANY)
            if self._bytes + size > _MAX_BYTES:
                return 413, problem("too_large", _TOO_LARGE.format(self._bytes, size))
            self._paths.append(path)
            self._bytes += size
            return 200, b"{}"
