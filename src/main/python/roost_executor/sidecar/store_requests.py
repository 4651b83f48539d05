"""What a script's processes and the sidecar say to each other over `store.sock`.

A request is a line `<operation> <store id> <bytes>` and a body of that many bytes, a JSON object of the operation's
fields. A response is a line `<status> <bytes>` and a body: the control plane's response, unchanged. So a large
value goes through the sidecar without being read or written anew.
"""

import json
import socket
import threading
from typing import Union

from roost_executor.wire.sockets import MOST_STORE_BYTES

MOST_LINE_BYTES = 256
# Bodies up to this size are held without a reservation.
SMALL_BYTES = 64 * 1024
BUDGET_BYTES = 2 * MOST_STORE_BYTES
RECEIVE_BYTES = 64 * 1024
Bytes = Union[bytes, bytearray]


class MalformedRequest(Exception):  # noqa: N818
    """No request; after it the connection can't be read any further. `code` as in a problem document."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


class StoreRequest:
    """One operation as the script sent it; `body` begins and ends with a brace, no more is known of it."""

    def __init__(self, operation: str, store: str, body: memoryview, is_reserved: bool = False) -> None:
        self.operation = operation
        self.store = store
        self.body = body
        self.is_reserved = is_reserved


class MemoryBudget:
    """Bounds the bytes of bodies that all connections together hold; further ones wait."""

    def __init__(self, total: int = BUDGET_BYTES) -> None:
        self._total = total
        self._used = 0
        self._changed = threading.Condition()

    def reserve(self, count: int) -> None:
        """Waits until `count` bytes are free, or all are."""
        with self._changed:
            self._changed.wait_for(lambda: not self._used or self._used + count <= self._total)
            self._used += count

    def release(self, count: int) -> None:
        """Frees `count` bytes."""
        with self._changed:
            self._used -= count
            self._changed.notify_all()


class Reservation:
    """One body's share of the budget."""

    def __init__(self, budget: MemoryBudget) -> None:
        self._budget = budget
        self.count = 0

    def reserve(self, count: int) -> None:
        """Reserves memory for a body of `count` bytes, unless it is small."""
        self.release()
        if count > SMALL_BYTES:
            self._budget.reserve(count)
            self.count = count

    def release(self) -> None:
        """Frees it."""
        if self.count:
            self._budget.release(self.count)
            self.count = 0


class Requests:
    """Reads requests from a connection, one at a time: `next`, then `done` when its body isn't needed any more."""

    def __init__(self, connection: socket.socket, budget: MemoryBudget) -> None:
        self._connection = connection
        self._rest = b""
        self._reservation = Reservation(budget)

    def next(self) -> "StoreRequest | None":
        """The next request; None at the end of the connection. Raises MalformedRequest, OSError."""
        line = self._line()
        if line is None:
            return None
        try:
            operation, store, length_text = line.decode("ascii").split(" ")
            length = int(length_text) if length_text.isdecimal() else -1
        except ValueError:
            raise MalformedRequest("malformed_json", "not a store operation") from None
        if length > MOST_STORE_BYTES:
            raise MalformedRequest("too_large", f"the operation has {length:,} bytes; {MOST_STORE_BYTES:,} are allowed")
        if length < 2:
            raise MalformedRequest("malformed_json", "not a store operation")
        body = self._body(length)
        if body is None:
            return None
        if body[0] != 0x7B or body[-1] != 0x7D:
            raise MalformedRequest("malformed_json", "the operation's fields aren't a JSON object")
        return StoreRequest(operation, store, memoryview(body), self._reservation.count > 0)

    def done(self) -> None:
        """Frees the memory of the last request."""
        self._reservation.release()

    def _line(self) -> "bytes | None":
        while True:
            line, newline, rest = self._rest.partition(b"\n")
            if newline and len(line) <= MOST_LINE_BYTES:
                self._rest = rest
                return line
            if len(line) > MOST_LINE_BYTES:
                raise MalformedRequest("malformed_json", "not a store operation")
            data = self._connection.recv(RECEIVE_BYTES)
            if not data:
                return None
            self._rest += data

    def _body(self, length: int) -> "Bytes | None":
        have = len(self._rest)
        if have >= length:
            body, self._rest = self._rest[:length], self._rest[length:]
            return body
        self._reservation.reserve(length)
        whole = bytearray(length)
        whole[:have] = self._rest
        self._rest = b""
        with memoryview(whole) as view:
            while have < length:
                count = self._connection.recv_into(view[have:])
                if not count:
                    return None
                have += count
        return whole


def reply(status: int, body: Bytes) -> "tuple[Bytes, ...]":
    """A response, in one piece when it is small."""
    line = b"%d %d\n" % (status, len(body))
    return (line + body,) if len(body) <= SMALL_BYTES else (line, body)


def problem(code: str, detail: str) -> bytes:
    """The body of an response that the sidecar gives itself."""
    return json.dumps({"code": code, "detail": detail}).encode()
