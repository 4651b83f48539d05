"""Calls to the control plane over HTTP/1.1 with keep-alive.

A client of its own, since http.client costs three times as much for each call (it reads headers with the
parser for e-mail), and its import as much as the rest of the sidecar's start.
"""

import contextlib
import random
import select
import socket
from typing import Any, Callable, Union

FIRST_PAUSE_SECONDS = 0.1
LONGEST_PAUSE_SECONDS = 5.0
CONNECT_SECONDS = 5.0
RECEIVE_BYTES = 64 * 1024
MOST_HEAD_BYTES = 64 * 1024
# Up to this size a body is sent in one piece with the head, which is cheaper than a second call.
JOINED_BYTES = 64 * 1024
Bytes = Union[bytes, bytearray, memoryview]


class BadResponse(ConnectionError):
    """What came over the connection isn't a response in HTTP/1.1."""


class Address:
    """Where the control plane is, and the token for it; shared by all connections."""

    def __init__(self, url: str, token: str, ca_file: "str | None" = None) -> None:
        """`url`: `http://host:port` or `https://…`, with a path before `/internal` if there is one.

        `ca_file`: the only authorities to trust, in PEM; without it, the system's.
        """
        scheme, _, rest = url.partition("://")
        authority, slash, path = rest.partition("/")
        self.secure = scheme == "https"
        self.authority = authority
        self.prefix = (slash + path).rstrip("/")
        self.token = token
        self.errors = (OSError,)
        host, colon, port = authority.rpartition(":")
        if not colon or port.endswith("]"):
            host, port = authority, ""
        self._name = host.strip("[]")
        # As bytes, since Python would take a str through IDNA, whose tables are large.
        self._host: Any = self._name.encode() if self._name.isascii() else self._name
        self._port = int(port) if port else (443 if self.secure else 80)
        self.place = f"{scheme}://{self._name}:{self._port}"
        self._context: Any = None
        self._ca_file = ca_file

    def connect(self) -> socket.socket:
        """A new connection; the name is looked up anew. Raises OSError."""
        connection = socket.create_connection((self._host, self._port), CONNECT_SECONDS)
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return self._secured(connection) if self.secure else connection
        except BaseException:
            connection.close()
            raise

    def _secured(self, connection: socket.socket) -> socket.socket:
        if self._context is None:
            import ssl  # takes longer than all the rest, and is seldom needed

            context = ssl.create_default_context(cafile=self._ca_file)
            # In TLS 1.3 a server sends tickets whenever it likes, which would look like a response that can be read.
            context.maximum_version = ssl.TLSVersion.TLSv1_2
            context.set_alpn_protocols(["http/1.1"])
            self._context = context
        secured: socket.socket = self._context.wrap_socket(connection, server_hostname=self._name)
        return secured


class Response:
    """Status, headers (lower-case names) and body of a response."""

    def __init__(self, status: int, headers: "dict[str, str]", body: "bytes | bytearray") -> None:
        self.status = status
        self.headers = headers
        self.body = body


class Link:
    """One connection, one call at a time; `send` and `receive` are apart, so that a caller can wait for
    other things too while a response is due. Both raise `Address.errors`; the next call connects anew.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        # Called with the length of a response's body before it is read, where the headers have it.
        self.on_length: Callable[[int], None] | None = None
        self._socket: socket.socket | None = None
        self._poll: Any = None
        self._timeout = CONNECT_SECONDS

    @property
    def socket(self) -> "socket.socket | None":
        """What to wait on for a response."""
        return self._socket

    def prepare(self) -> None:
        """Connects, if the control plane is there: so the first request needn't wait for the DNS."""
        with contextlib.suppress(*self.address.errors):
            self._connect()

    def send(self, path: str, body: Bytes, content_type: str, response_seconds: float, before: bytes = b"") -> None:
        """Sends a POST. `response_seconds`: how long `receive` waits for each part of the response.

        `before` comes first in the body, which so needn't be copied to be put together.
        """
        address = self.address
        self._drop_if_stale()
        current = self._socket or self._connect()
        head = (
            f"POST {address.prefix}{path} HTTP/1.1\r\n"
            f"Host: {address.authority}\r\n"
            f"Authorization: Bearer {address.token}\r\n"
            f"Content-Type: {content_type}\r\n"
            "Accept: application/json\r\n"
            f"Content-Length: {len(before) + len(body)}\r\n\r\n"
        ).encode() + before
        try:
            if self._timeout != response_seconds:
                current.settimeout(response_seconds)
                self._timeout = response_seconds
            if len(body) <= JOINED_BYTES:
                current.sendall(head + body)
            else:
                current.sendall(head)
                current.sendall(body)
        except BaseException:
            self.close()
            raise

    def receive(self) -> Response:
        """The response to the last `send`."""
        try:
            response, lasting = self._read_response()
        except BaseException:
            self.close()
            raise
        if not lasting:
            self.close()
        return response

    def call(self, path: str, body: Bytes, content_type: str, response_seconds: float, before: bytes = b"") -> Response:
        """`send`, then `receive`."""
        self.send(path, body, content_type, response_seconds, before)
        return self.receive()

    def close(self) -> None:
        """Closes the connection."""
        current, self._socket = self._socket, None
        if current is not None:
            current.close()

    def interrupt(self) -> None:
        """Makes a `receive` in another thread fail at once."""
        current = self._socket
        if current is not None:
            with contextlib.suppress(OSError):
                # Not the TLS socket's own, which would take away what the other thread is reading with.
                socket.socket.shutdown(current, socket.SHUT_RDWR)

    def _connect(self) -> "socket.socket":
        connection = self.address.connect()
        self._timeout = CONNECT_SECONDS
        self._poll = select.poll()
        self._poll.register(connection, select.POLLIN)
        self._socket = connection
        return connection

    def _drop_if_stale(self) -> None:
        """An idle connection that is readable has been closed by the other side."""
        if self._socket is not None and self._poll.poll(0):
            self.close()

    def _read_response(self) -> "tuple[Response, bool]":
        """The response, and whether the connection can be used again."""
        current = self._socket
        if current is None:
            raise ConnectionError("there is no connection")
        source = _Source(current)
        status = 100
        while status < 200:  # 100 Continue and the like go before the response
            version, status, headers = _parsed(source.until(b"\r\n\r\n", MOST_HEAD_BYTES))
        connection_header = headers.get("connection", "").lower()
        lasting = "close" not in connection_header and (version == "HTTP/1.1" or "keep-alive" in connection_header)
        body: bytes | bytearray = b""
        if status in (204, 304):
            pass
        elif "chunked" in headers.get("transfer-encoding", "").lower():
            body = _chunks(source)
        elif "content-length" in headers:
            length = _number(headers["content-length"], 10)
            if self.on_length is not None:
                self.on_length(length)
            body = source.exactly(length)
        else:
            body, lasting = source.all(), False
        return Response(status, headers, body), lasting and not source.rest


class _Source:
    """What a connection receives; `rest` has come already and isn't used yet."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.rest = b""

    def until(self, end: bytes, most: int) -> bytes:
        """What comes before `end`, which is dropped; at most `most` bytes."""
        while True:
            found, separator, rest = self.rest.partition(end)
            if separator:
                self.rest = rest
                return found
            if len(self.rest) > most:
                raise BadResponse(f"a part of the response that may have {most} bytes has more")
            data = self._connection.recv(RECEIVE_BYTES)
            if not data:
                raise ConnectionError("the control plane closed the connection")
            self.rest += data

    def exactly(self, length: int) -> "bytes | bytearray":
        """The next `length` bytes."""
        have = len(self.rest)
        if have >= length:
            data, self.rest = self.rest[:length], self.rest[length:]
            return data
        whole = bytearray(length)
        whole[:have] = self.rest
        self.rest = b""
        with memoryview(whole) as view:
            while have < length:
                count = self._connection.recv_into(view[have:])
                if not count:
                    raise ConnectionError("the control plane closed the connection within a response")
                have += count
        return whole

    def all(self) -> bytes:
        """Everything up to the end of the connection."""
        parts = [self.rest]
        self.rest = b""
        while True:
            data = self._connection.recv(RECEIVE_BYTES)
            if not data:
                return b"".join(parts)
            parts.append(data)


def _parsed(head: bytes) -> "tuple[str, int, dict[str, str]]":
    """HTTP version, status and headers."""
    lines = head.decode("latin-1").split("\r\n")
    version, _, rest = lines[0].partition(" ")
    if not version.startswith("HTTP/1."):
        raise BadResponse(f"the response isn't HTTP/1.1: {lines[0][:80]!r}")
    headers = {}
    for line in lines[1:]:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    return version, _number(rest[:3], 10), headers


def _chunks(source: _Source) -> bytes:
    parts = []
    while True:
        size = _number(source.until(b"\r\n", MOST_HEAD_BYTES).partition(b";")[0].decode("latin-1"), 16)
        if size == 0:
            break
        parts.append(source.exactly(size))
        source.until(b"\r\n", 2)
    while source.until(b"\r\n", MOST_HEAD_BYTES):
        pass  # trailers
    return b"".join(parts)


def _number(text: str, base: int) -> int:
    try:
        number = int(text.strip(), base)
    except ValueError:
        number = -1
    if number < 0:
        raise BadResponse(f"the response has {text[:40]!r} where a number is due")
    return number


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
