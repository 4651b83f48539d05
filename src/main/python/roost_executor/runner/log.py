"""The log of an execution: bounded, in order, numbered without gaps."""

from collections import deque

from roost_executor.runner.lines import LineSplitter, text_of
from roost_executor.wire.clock import time_text

# Of a log record: (level, logger, time); all None for stdout and stderr.
Origin = "tuple[str | None, str | None, str | None]"
PLAIN = (None, None, None)


class Log:
    """Turns bytes of the streams into log entries.

    After `log_bytes` bytes only the last `tail_bytes` are kept, as bytes, so that a log storm costs
    neither memory nor decoding. They come at the end, after an entry that says what was left out.
    """

    def __init__(self, line_bytes: int, log_bytes: int, tail_bytes: int) -> None:
        self._line_bytes = line_bytes
        self._left = log_bytes
        self._tail_bytes = tail_bytes
        self._tail: deque[tuple[str, int, bytes, Origin, bool]] = deque()
        self._tail_size = 0
        self._splitters: dict[tuple[str, int], LineSplitter] = {}
        self._sequence = 0
        self._dropped = 0
        self.entries: list[dict[str, object]] = []
        self.pending_bytes = 0

    @property
    def truncated(self) -> bool:
        """Whether something was left out."""
        return self._dropped > 0

    def feed(self, stream: str, data: bytes, source: int = 0, origin: Origin = PLAIN, ends: bool = False) -> None:
        """Takes what `source` (a process id, where several share a stream) wrote to `stream`.

        `ends`: the line ends here, with or without a newline.
        """
        if self._left > 0:
            now = data[: self._left]
            self._left -= len(data) + (1 if ends else 0)
            self._make_entries(stream, now, source, origin, ends and len(now) == len(data))
            data = data[len(now) :]
            if not data:
                return
        self._tail.append((stream, source, data, origin, ends))
        self._tail_size += len(data)
        while self._tail_size > self._tail_bytes:
            excess = self._tail_size - self._tail_bytes
            stream, source, first, origin, ends = self._tail[0]
            if len(first) <= excess:
                self._tail.popleft()
            else:
                self._tail[0] = (stream, source, first[excess:], origin, ends)
            cut = min(excess, len(first))
            self._tail_size -= cut
            self._dropped += cut

    def end_line(self, stream: str) -> None:
        """Ends the line that `stream` has begun, if it has."""
        self.feed(stream, b"", ends=True)

    def finish(self) -> None:
        """Makes entries of what is left: unfinished lines, the tail and what was left out."""
        if self._dropped:
            self._end_lines()
            self._splitters.clear()
            self._add(
                "system",
                f"{self._dropped:,} bytes of output were left out here: the log had reached its limit.",
            )
        for stream, source, data, origin, ends in self._tail:
            self._make_entries(stream, data, source, origin, ends)
        self._tail.clear()
        self._end_lines()

    def take(self) -> "list[dict[str, object]]":
        """The entries made since the last call."""
        entries = self.entries
        self.entries = []
        self.pending_bytes = 0
        return entries

    def _make_entries(self, stream: str, data: bytes, source: int, origin: Origin, ends: bool) -> None:
        splitter = self._splitters.get((stream, source))
        if splitter is None:
            splitter = self._splitters[stream, source] = LineSplitter(self._line_bytes)
        for line, continued in splitter.feed(data):
            self._add(stream, text_of(line), continued, origin)
        if ends:
            for line, continued in splitter.end():
                self._add(stream, text_of(line), continued, origin)
            if source:
                del self._splitters[stream, source]

    def _end_lines(self) -> None:
        for (stream, _), splitter in self._splitters.items():
            for line, continued in splitter.end():
                self._add(stream, text_of(line), continued)

    def _add(self, stream: str, message: str, continued: bool = False, origin: Origin = PLAIN) -> None:
        level, logger, time = origin
        self._sequence += 1
        self.pending_bytes += len(message) + 150
        self.entries.append(
            {
                "seq": self._sequence,
                "time": time or time_text(),
                "stream": stream,
                "level": level,
                "logger": logger,
                "message": message,
                "continued": continued,
            }
        )


def readable(execution_id: str, entry: "dict[str, object]") -> str:
    """An entry as `kubectl logs` and `agent.log` show it, without the newline.

    A carriage return or an escape sequence stays as the script wrote it. Names of levels and loggers are a script's
    own too: what would break the line in them is left out.
    """
    more = "+" if entry["continued"] else ""
    origin = ""
    if entry["stream"] == "logging":
        level = "".join(str(entry["level"]).split()) or "-"
        origin = f" {level} {' '.join(str(entry['logger']).split()) or '-'}"
    return f"[{entry['time']} {execution_id}/{entry['seq']} {entry['stream']}{more}{origin}] {entry['message']}"
