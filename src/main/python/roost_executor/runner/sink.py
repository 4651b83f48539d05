"""Writing without waiting: what a slow reader doesn't take yet is kept, and counted."""

import os
from collections import deque


class Sink:
    """An output descriptor and what waits to be written to it."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self.waiting_bytes = 0
        self._waiting: deque[memoryview] = deque()
        self.broken = False
        os.set_blocking(descriptor, False)

    def write(self, data: bytes) -> None:
        """Writes at once what the reader takes and keeps the rest for `flush`."""
        if self.broken:
            return
        self._waiting.append(memoryview(data))
        self.waiting_bytes += len(data)
        self.flush()

    def flush(self) -> None:
        """Writes what waits, as far as the reader takes it. A closed pipe makes it `broken`."""
        try:
            while self._waiting:
                data = self._waiting[0]
                written = os.write(self.descriptor, data)
                self.waiting_bytes -= written
                if written < len(data):
                    self._waiting[0] = data[written:]
                else:
                    self._waiting.popleft()
        except BlockingIOError:
            pass
        except OSError:
            self.broken = True
            self._waiting.clear()
            self.waiting_bytes = 0
