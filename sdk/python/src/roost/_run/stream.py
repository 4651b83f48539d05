"""The values that a local run emits."""

from __future__ import annotations

import json
import threading
from typing import Callable

from .store_checks import problem

__all__ = ["Stream"]

# A server's defaults (docs/settings.md, roost.limits).
_MAX_BYTES = 256 * 1024 * 1024
_TOO_LARGE = (
    f"The values that an attempt emits can have at most {_MAX_BYTES:,} bytes together (setting "
    "roost.limits.stream-bytes); {:,} are stored."
)


class Stream:
    """The values of one execution, which are handed on as JSON texts. Thread-safe."""

    def __init__(self, on_values: Callable[[list[str]], None]) -> None:
        self._on_values = on_values
        self._lock = threading.Lock()
        self._last = 0
        self._bytes = 0

    def operate(self, body: bytes) -> tuple[int, bytes]:
        """Handle one operation; return the status and the JSON of the response."""
        request = json.loads(body)
        if request["op"] != "emit":
            return 200, b"{}"
        with self._lock:
            fresh = request["values"].split("\n")[self._last + 1 - request["first"] :]
            size = sum(len(text) + 1 for text in fresh)
            if self._bytes + size > _MAX_BYTES:
                return 413, problem("too_large", _TOO_LARGE.format(self._bytes))
            self._last += len(fresh)
            self._bytes += size
            self._on_values(fresh)
        return 200, b"{}"
