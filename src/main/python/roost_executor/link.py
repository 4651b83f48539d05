"""Calls to the control plane over HTTP/1.1 with keep-alive."""

import contextlib
import random
import select
import socket
import sys
from typing import Any

FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 5.0
CONNECT_SECONDS = 5.0


class Address:
    """Where the control plane is, and the token that it wants to see; shared by all connections."""

    def __init__(self, url: str, token: str) -> None:
        """`url`: `http://host:port` or `https://…`, with a path before `/internal` if there is one."""
        scheme, _, rest = url.partition("://")
        host, slash, path = rest.partition("/")
        self.secure = scheme == "https"
        self.prefix = (slash + path).rstrip("/")
        self.token = token
        if not self.secure:
            # http.client imports ssl if it can, which takes longer than the rest of the start-up.
            sys.modules.setdefault("ssl", None)  # type: ignore[arg-type]
        import http.client

        if not self.secure and sys.modules.get("ssl") is None:
            del sys.modules["ssl"]
        self.errors = (OSError, http.client.HTTPException)
        self._host = host
        self._kind: Any = http.client.HTTPSConnection if self.secure else http.client.HTTPConnection

    def connection(self) -> Any:
        """A new http.client connection, not yet connected."""
        return self._kind(self._host, timeout=CONNECT_SECONDS)


class Answer:
    """Status, headers (lower-case names) and body of an answer."""

    def __init__(self, status: int, headers: Any, body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body


class Link:
    """One connection, one call at a time; `send` and `receive` are apart, so that a caller can wait for
    other things too while an answer is due. Both raise `Address.errors`; the next call connects anew.
    """

    def __init__(self, address: Address) -> None:
        self._address = address
        self._connection: Any = None

    @property
    def socket(self) -> "socket.socket | None":
        """What to wait on for an answer."""
        return None if self._connection is None else self._connection.sock

    def prepare(self) -> None:
        """Connects, if the control plane is there: finding it in the DNS needn't wait for the first question."""
        connection = self._address.connection()
        with contextlib.suppress(*self._address.errors):
            connection.connect()
            self._connection = connection

    def send(self, path: str, body: bytes, content_type: str, answer_seconds: float) -> None:
        """Sends a POST. `answer_seconds`: how long `receive` waits for each part of the answer."""
        self._drop_if_stale()
        if self._connection is None:
            self._connection = self._address.connection()
        headers = {
            "Authorization": f"Bearer {self._address.token}",
            "Content-Type": content_type,
            "Accept": "application/json",
        }
        try:
            self._connection.request("POST", self._address.prefix + path, body, headers)
            self._connection.sock.settimeout(answer_seconds)
        except BaseException:
            self.close()
            raise

    def receive(self) -> Answer:
        """The answer to the last `send`."""
        try:
            response = self._connection.getresponse()
            body = response.read()
            answer = Answer(response.status, response.headers, body)
        except BaseException:
            self.close()
            raise
        if self._connection.sock is None:
            self._connection = None  # the server said `Connection: close`
        return answer

    def call(self, path: str, body: bytes, content_type: str, answer_seconds: float) -> Answer:
        """`send`, then `receive`."""
        self.send(path, body, content_type, answer_seconds)
        return self.receive()

    def close(self) -> None:
        """Closes the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def interrupt(self) -> None:
        """Makes a `receive` in another thread fail at once."""
        current = self.socket
        if current is not None:
            with contextlib.suppress(OSError):
                current.shutdown(socket.SHUT_RDWR)

    def _drop_if_stale(self) -> None:
        """A connection with something to read before we asked has been closed by the other side."""
        current = self.socket
        if current is not None:
            poll = select.poll()
            poll.register(current, select.POLLIN)
            if poll.poll(0):
                self.close()


class Pause:
    """Pauses between attempts: 0.1 s, doubled up to 5 s, with jitter so that executors don't march in step."""

    def __init__(self) -> None:
        self._seconds = FIRST_PAUSE_SECONDS

    def next(self) -> float:
        """How long to wait now, in seconds."""
        seconds = self._seconds * (0.5 + random.random() / 2)
        self._seconds = min(self._seconds * 2, LONGEST_PAUSE_SECONDS)
        return seconds

    def reset(self) -> None:
        """After a success."""
        self._seconds = FIRST_PAUSE_SECONDS
