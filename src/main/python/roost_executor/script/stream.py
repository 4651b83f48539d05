"""What a script says while it runs: the values that it emits, and its progress.

A thread sends them, so that the script goes on meanwhile. It waits only while more is unsent than the buffer takes.
"""

import os
import threading
import time
from collections import deque
from json.encoder import encode_basestring_ascii as quoted
from typing import Any

from roost_executor.script import store_errors
from roost_executor.script.jsonvalue import NotJson, encode, with_article
from roost_executor.script.store_connection import StoreConnection

# In place of a store's identifier.
STREAM = "stream"
BUFFER_BYTES = 1 << 20
# Of one request.
MOST_BYTES = 256 * 1024
MOST_VALUES = 5_000
# Between two messages about the progress; of those that come meanwhile, the last one is sent.
PROGRESS_SECONDS = 0.2
MOST_MESSAGE_CHARACTERS = 200


class StreamError(Exception):
    """A value can't be emitted, or can't be stored."""


class Counter:
    """How many values a step has emitted."""

    def __init__(self) -> None:
        self.count = 0


class Stream:
    """The values and the progress of one execution; for all threads of the script's process."""

    def __init__(self, socket_path: str, most_value_bytes: "int | None") -> None:
        """`most_value_bytes`: of a value's JSON text. Connects at the first value."""
        self._connection = StoreConnection(socket_path, STREAM)
        self._most_value_bytes = most_value_bytes
        self._process = os.getpid()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        # With their numbers.
        self._values: deque[tuple[int, str]] = deque()
        self._last = 0
        # What is being sent is part of it.
        self._unsent_bytes = 0
        self._progress: str | None = None
        self._progress_time = 0.0
        self._is_sending = False
        self._is_flushing = False
        self._is_closed = False
        self._failure: StreamError | None = None

    def emit(self, value: object, counters: "tuple[Counter, ...]" = ()) -> None:
        """See `Request.emit`. `counters`: those of the steps that emit it."""
        self._require_process()
        try:
            text = encode(value)
        except NotJson as error:
            raise TypeError(f"the value isn't JSON: {error}") from None
        if self._most_value_bytes is not None and len(text) > self._most_value_bytes:
            raise StreamError(
                f"the value is {len(text):,} bytes of JSON; the limit is {self._most_value_bytes:,}. "
                "Store large values elsewhere and emit a reference"
            )
        with self._changed:
            while self.is_full():
                self._changed.wait()
            self._check()
            self._last += 1
            self._values.append((self._last, text))
            self._unsent_bytes += len(text) + 1
            for counter in counters:
                counter.count += 1
            self._wake()

    def skip(self, values: int, counters: "tuple[Counter, ...]") -> None:
        """Counts values of this attempt that are stored, and that won't be emitted again."""
        with self._changed:
            self._last += values
            for counter in counters:
                counter.count += values

    async def emit_in_task(self, value: object) -> None:
        """The same, while other tasks go on."""
        import asyncio

        while self.is_full():
            await asyncio.sleep(0.005)
        self.emit(value)

    def is_full(self) -> bool:
        """Whether a further value has to wait."""
        return self._unsent_bytes >= BUFFER_BYTES and self._failure is None and not self._is_closed

    def report(self, fraction: object, message: object) -> None:
        """See `Request.progress`."""
        self._require_process()
        fields = []
        if fraction is not None:
            if isinstance(fraction, bool) or not isinstance(fraction, (int, float)):
                raise TypeError(f"the fraction is {with_article(fraction)}; it must be a number from 0 to 1")
            if not 0 <= fraction <= 1:
                raise ValueError(f"the fraction is {fraction!r}; it must be from 0 to 1")
            fields.append(f'"fraction": {float(fraction)!r}')
        if message is not None:
            if not isinstance(message, str):
                raise TypeError(f"the message is {with_article(message)}; it must be a str")
            fields.append(f'"message": {quoted(message[:MOST_MESSAGE_CHARACTERS])}')
        with self._changed:
            self._check()
            self._progress = "{" + ", ".join(fields) + "}"
            self._wake()

    def flush(self) -> None:
        """Returns when everything is stored. Raises StreamError."""
        with self._changed:
            self._is_flushing = True
            self._changed.notify_all()
            while self._failure is None and (self._values or self._is_sending or self._progress is not None):
                self._changed.wait()
            self._is_flushing = False
            if self._failure is not None:
                raise self._failure

    @property
    def is_unused(self) -> bool:
        """Whether nothing was emitted or reported."""
        return self._thread is None

    def close(self) -> None:
        """The same, at the end of `main`: later values are refused."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self.flush()

    def _check(self) -> None:
        if self._failure is not None:
            raise StreamError(*self._failure.args)
        if self._is_closed:
            raise StreamError("main has ended; no more values can be emitted")

    def _require_process(self) -> None:
        if os.getpid() != self._process:
            raise StreamError("values are emitted by the process of main; another process can't")

    def _wake(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="roost-stream", daemon=True)
            self._thread.start()
        self._changed.notify_all()

    def _run(self) -> None:
        while (request := self._next()) is not None:
            operation, body, size = request
            failure = None
            try:
                self._connection.request(operation, body)
            except (store_errors.StoreError, MemoryError) as error:
                # The progress is for people to look at: nothing depends on it.
                if operation == "emit":
                    failure = StreamError(f"the values can't be stored: {error or 'there is no memory'}")
            with self._changed:
                self._is_sending = False
                self._unsent_bytes -= size
                if failure is not None:
                    self._failure = failure
                    self._values.clear()
                    self._progress = None
                self._changed.notify_all()
            if failure is not None:
                return

    def _next(self) -> "tuple[str, str, int] | None":
        """The next request, as soon as there is one: operation, body, and how many bytes of values it sends.

        None when everything is stored and nothing can follow.
        """
        with self._changed:
            while True:
                wait = None
                if self._progress is not None:
                    wait = self._progress_time + PROGRESS_SECONDS - time.monotonic()
                    if wait <= 0 or self._is_flushing:
                        return self._next_progress()
                if self._values:
                    return self._next_values()
                if self._is_closed and self._progress is None:
                    return None
                self._changed.wait(wait)

    def _next_progress(self) -> "tuple[str, str, int]":
        body, self._progress = self._progress, None
        assert body is not None
        self._progress_time = time.monotonic()
        self._is_sending = True
        return "progress", body, 0

    def _next_values(self) -> "tuple[str, str, int]":
        first = self._values[0][0]
        texts: list[str] = []
        size = 0
        while self._values and len(texts) < MOST_VALUES:
            number, text = self._values[0]
            # What was skipped is stored, so that a gap is no gap there.
            if texts and (size + len(text) > MOST_BYTES or number != first + len(texts)):
                break
            size += len(text) + 1
            texts.append(text)
            self._values.popleft()
        self._is_sending = True
        lines = "\n".join(texts)
        return "emit", f'{{"first": {first}, "values": {quoted(lines)}}}', size


def drain(generator: Any, stream: Stream) -> Any:
    """Emits what a generator yields; returns what it returns. What can't be emitted is raised where it was yielded."""
    step, arguments = generator.__next__, ()
    while True:
        try:
            value = step(*arguments)
        except StopIteration as end:
            return end.value
        try:
            stream.emit(value)
        except (TypeError, StreamError) as error:
            step, arguments = generator.throw, (error,)
        else:
            step, arguments = generator.__next__, ()


async def drain_in_task(generator: Any, stream: Stream) -> None:
    """The same for an asynchronous generator, which returns nothing."""
    step, arguments = generator.__anext__, ()
    while True:
        try:
            value = await step(*arguments)
        except StopAsyncIteration:
            return
        try:
            await stream.emit_in_task(value)
        except (TypeError, StreamError) as error:
            step, arguments = generator.athrow, (error,)
        else:
            step, arguments = generator.__anext__, ()
