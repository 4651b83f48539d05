"""The streams of the control plane for tests: the operations of docs/executor-link.md, in memory."""

import json
import threading
from typing import Any

from store_plane import Refused, without_duplicates


class Streams:
    """The values of one attempt, whichever execution has emitted them, and what was said of its progress."""

    def __init__(self, changed: threading.Condition) -> None:
        self.changed = changed
        self.values: list[Any] = []
        # How many values each request had.
        self.requests: list[int] = []
        self.progress: list[dict[str, Any]] = []
        self.most = 1_000_000

    def operate(self, execution: str, body: bytes) -> "tuple[int, Any]":
        request = json.loads(body, object_pairs_hook=without_duplicates)
        assert request.pop("execution_id") == execution
        operation = request.pop("op")
        with self.changed:
            try:
                getattr(self, "_" + operation)(request)
                self.changed.notify_all()
                return 200, {}
            except Refused as refused:
                return refused.answer

    def _emit(self, request: "dict[str, Any]") -> None:
        assert set(request) == {"first", "values"}
        texts = request["values"].split("\n")
        assert 0 < len(texts) <= 10_000
        self.requests.append(len(texts))
        skipped = len(self.values) - request["first"] + 1
        assert skipped >= 0, "a gap between values"
        if len(self.values) + len(texts) > self.most:
            raise Refused(413, "too_large", "too many values")
        self.values += [json.loads(text) for text in texts[skipped:]]

    def _progress(self, request: "dict[str, Any]") -> None:
        assert set(request) <= {"fraction", "message"}
        self.progress.append(request)
