"""The sidecar's client of HTTP/1.1."""

import contextlib
import socket
import ssl
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Callable, Optional

import pytest
from executor import PACKAGE

sys.path.insert(0, str(PACKAGE.parent))

from roost_executor.sidecar.link import Address, BadResponse, Link  # noqa: E402

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Server:
    """Gives each connection the answers of its list, in pieces, then closes it when the last is None."""

    def __init__(self, connections: "list[list[Optional[list[bytes]]]]") -> None:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.received: list[bytes] = []
        self.closed = threading.Semaphore(0)
        self.connections = connections
        threading.Thread(target=self.run, daemon=True).start()

    def run(self) -> None:
        for answers in self.connections:
            connection, _ = self.listener.accept()
            with connection, contextlib.suppress(OSError):
                for answer in answers:
                    if answer is None:
                        break
                    self.received.append(self.request(connection))
                    for piece in answer:
                        connection.sendall(piece)
            self.closed.release()

    @staticmethod
    def request(connection: socket.socket) -> bytes:
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(65536)
        head, _, body = data.partition(b"\r\n\r\n")
        length = int(head.lower().split(b"content-length: ")[1].split(b"\r")[0])
        while len(body) < length:
            body += connection.recv(65536)
        return head + b"\r\n\r\n" + body


Serve = Callable[..., "tuple[Link, Server]"]


@pytest.fixture
def serve() -> "Iterator[Serve]":
    made: list[tuple[Link, Server]] = []

    def start(*connections: "list[Optional[list[bytes]]]") -> "tuple[Link, Server]":
        server = Server(list(connections))
        link = Link(Address(f"http://127.0.0.1:{server.listener.getsockname()[1]}/base", "secret"))
        made.append((link, server))
        return made[-1]

    yield start
    for link, server in made:
        link.close()
        server.listener.close()


def ask(link: Link, body: bytes = b"{}", before: bytes = b"") -> "tuple[int, bytes]":
    answer = link.call("/path", body, "application/json", 10, before)
    return answer.status, bytes(answer.body)


def test_a_request_is_one_plain_post(serve: Serve) -> None:
    link, server = serve([[OK], [OK]])
    assert ask(link) == (200, b"ok")
    assert ask(link, b'"b": 2}' * 30_000, b'{"a": 1, ') == (200, b"ok")
    head, _, body = server.received[0].partition(b"\r\n\r\n")
    assert head.split(b"\r\n")[0] == b"POST /base/path HTTP/1.1" and b"Authorization: Bearer secret" in head
    assert body == b"{}" and server.received[1].endswith(b'\r\n\r\n{"a": 1, ' + b'"b": 2}' * 30_000)


def test_answers_of_every_form_are_read(serve: Serve) -> None:
    chunked = (
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n5;x=y\r\nhello\r\n1\r\n!\r\n0\r\nTrailer: x\r\n\r\n"
    )
    large = b"x" * 3_000_000
    link, _ = serve(
        [
            [bytes([byte]) for byte in chunked],
            [b"HTTP/1.1 100 Continue\r\n\r\n" + OK],
            [b"HTTP/1.1 204 No Content\r\nX-Name:  Value \r\n\r\n"],
            [b"HTTP/1.1 503 \r\nContent-Length: 0\r\n\r\n"],
            [b"HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n", large],
            [b"HTTP/1.0 200 OK\r\n\r\nto the ", b"end"],
        ],
        [[b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok"]],
        [[OK]],
    )
    assert ask(link) == (200, b"hello!")
    assert ask(link) == (200, b"ok")
    assert link.call("/path", b"", "text/plain", 10).headers == {"x-name": "Value"}
    assert ask(link) == (503, b"")
    assert ask(link) == (200, large)
    assert ask(link) == (200, b"to the end") and link.socket is None
    assert ask(link) == (200, b"ok") and link.socket is None
    assert ask(link) == (200, b"ok") and link.socket is not None


def test_a_connection_that_was_closed_meanwhile_is_not_used(serve: Serve) -> None:
    link, server = serve([[OK], None], [[OK]])
    assert ask(link) == (200, b"ok")
    server.closed.acquire()
    assert ask(link) == (200, b"ok")


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 200",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"SSH-2.0-x\r\n\r\n",
        b"x" * 100_000,
    ],
)
def test_what_is_no_answer_is_a_broken_connection(serve: Serve, answer: bytes) -> None:
    link, _ = serve([[answer], None], [[OK]])
    with pytest.raises(OSError):
        ask(link)
    assert ask(link) == (200, b"ok")
    assert issubclass(BadResponse, OSError)


def test_addresses_have_a_host_and_maybe_a_port() -> None:
    for url, host, port in (
        ("http://localhost:8080", b"localhost", 8080),
        ("http://roost.svc/base/", b"roost.svc", 80),
        ("https://roost.svc", b"roost.svc", 443),
        ("http://[::1]:8080", b"::1", 8080),
        ("http://[::1]", b"::1", 80),
        ("http://bücher.example:1", "bücher.example", 1),
    ):
        address = Address(url, "")
        assert (address._host, address._port) == (host, port)


def test_an_answer_that_does_not_come_times_out(serve: Serve) -> None:
    link, _ = serve([[OK], [b"HTTP/1.1 200 OK\r\n"], [OK]])
    assert ask(link) == (200, b"ok")
    with pytest.raises(TimeoutError if sys.version_info >= (3, 10) else OSError):
        link.call("/path", b"{}", "application/json", 0.05)


TLS = Path(__file__).parents[2] / "resources" / "tls"


class SecureServer(Server):
    """The same over TLS, with the certificate `name` for localhost and 127.0.0.1."""

    def __init__(self, name: str, connections: "list[list[Optional[list[bytes]]]]") -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(TLS / f"{name}.crt", TLS / f"{name}.key")
        self.context = context
        super().__init__(connections)

    def run(self) -> None:
        for answers in self.connections:
            connection, _ = self.listener.accept()
            with connection, contextlib.suppress(OSError):
                secured = self.context.wrap_socket(connection, server_side=True)
                for answer in answers:
                    self.received.append(self.request(secured))
                    for piece in answer or []:
                        secured.sendall(piece)
            self.closed.release()


def secure_link(server: Server, ca: str, host: str = "localhost") -> Link:
    return Link(Address(f"https://{host}:{server.listener.getsockname()[1]}", "secret", str(TLS / ca)))


@pytest.mark.parametrize("name", ["old", "new"])
@pytest.mark.parametrize("host", ["localhost", "127.0.0.1"])
def test_during_a_rotation_both_authorities_are_trusted_and_the_connection_is_kept(name: str, host: str) -> None:
    server = SecureServer(name, [[[OK], [OK]]])
    link = secure_link(server, "both-ca.crt", host)
    link.prepare()
    prepared = link.socket
    assert prepared is not None
    assert ask(link) == (200, b"ok") and ask(link, b"x" * 300_000) == (200, b"ok")
    assert link.socket is prepared
    assert b"Bearer secret" in server.received[0]
    link.close()


def test_no_token_goes_to_whom_the_authority_does_not_vouch_for() -> None:
    server = SecureServer("old", [[[OK]], [[OK]]])
    link = secure_link(server, "new-ca.crt")
    with pytest.raises(ssl.SSLCertVerificationError):
        ask(link)
    # Its name is looked at, too.
    link = secure_link(server, "old-ca.crt", "127.1")
    with pytest.raises(ssl.SSLCertVerificationError, match="127.1"):
        ask(link)
    assert server.received == []
