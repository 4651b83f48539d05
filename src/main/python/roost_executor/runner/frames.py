"""The frames of one execution: its log in pieces, and the others between them."""

import json
import time
from typing import Any, Callable

from roost_executor.runner.log import Log, readable
from roost_executor.wire import control
from roost_executor.wire.clock import time_text

LOG_FRAME_BYTES = 256 * 1024
LOG_PAUSE_SECONDS = 0.005


class Frames:
    """Numbers them, and sends the log before whatever follows it."""

    def __init__(
        self, work: "dict[str, Any]", send: "Callable[[bytes], None]", show: "Callable[[bytes], None]"
    ) -> None:
        """`send` takes frames (JSON lines), `show` readable log lines."""
        self.id: str = work["execution_id"]
        self._work = work
        self._limits = work["limits"]
        self._send = send
        self._show = show
        self._sequence = 0
        self._log_since: float | None = None
        self._log = Log(
            self._limits["log_line_bytes"],
            self._limits["log_bytes"],
            self._limits["log_tail_bytes"],
        )

    def _feed_record(self, process: int, record: bytes) -> None:
        """Takes a log record. Raises ValueError for bytes that no Channel wrote."""
        level, logger, seconds, text = control.log_content_of(record)
        ends = record[:1] == control.LOG
        if ends and not text.endswith(b"\n"):
            text += b"\n"
        self._log.feed("logging", text, process, (level, logger, time_text(seconds)), ends)

    def _feed_printed(self, record: "dict[str, Any]") -> None:
        """Takes what the script's end, of which `record` is, prints."""
        printed = record.get("print")
        if printed:
            self._log.end_line("stderr")
            self._log.feed("stderr", printed.encode("utf-8", "replace") + b"\n")

    def _send_started(self, record: bytes) -> None:
        """Sends that main is called, with the schemas if they were wanted. Raises ValueError as above."""
        self._send_log()
        fields: dict[str, Any] = {"type": "started", "time": time_text()}
        schemas = control.content_of(record)
        if self._work.get("reports_schemas") and isinstance(schemas, dict):
            fields["schemas"] = schemas
        self._frame(fields)

    def _send_last(self, fields: "dict[str, Any]", cpu_seconds: float, peak_bytes: int) -> None:
        self._log.finish()
        self._send_log()
        self._frame(
            {
                **fields,
                "time": time_text(),
                "logs_truncated": self._log.truncated,
                "usage": {"cpu_seconds": round(cpu_seconds, 6), "max_memory_bytes": peak_bytes},
            }
        )

    def _send_log_if_large(self) -> None:
        if self._log.pending_bytes >= LOG_FRAME_BYTES:
            self._send_log()
        elif self._log.entries and self._log_since is None:
            self._log_since = time.monotonic()

    def _send_log(self) -> None:
        self._log_since = None
        entries = self._log.take()
        if entries:
            lines = "\n".join(readable(self.id, entry) for entry in entries)
            self._show(f"{lines}\n".encode())
            self._frame({"type": "log", "entries": entries})

    def _frame(self, fields: "dict[str, Any]") -> None:
        self._sequence += 1
        self._send(json.dumps({"seq": self._sequence, **fields}).encode() + b"\n")
