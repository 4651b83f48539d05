"""The published clients of SwarmNode work unchanged: through TLS, against a packaged Roost, with every class and method."""

import contextlib
import http.server
import json
import os
import socket
import socketserver
import ssl
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from server import server  # noqa: E402 - found by now
from tools import environment  # noqa: E402

CLIENTS = ["0.4.1", "0.3.0"]
LIMIT_SECONDS = 400
CERTIFICATES = """
import sys, trustme
authority = trustme.CA()
authority.cert_pem.write_to_path(sys.argv[1] + "/authority.pem")
authority.issue_cert("localhost").private_key_and_cert_chain_pem.write_to_path(sys.argv[1] + "/server.pem")
"""


class Proxy(socketserver.ThreadingTCPServer):
    """Ends TLS, and says so in the request; each connection of these clients has one."""

    daemon_threads = True
    allow_reuse_address = True
    block_on_close = False

    def __init__(self, target: "tuple[str, int]", certificate: Path) -> None:
        super().__init__(("localhost", 0), Connection)
        self.target = target
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate)


class Connection(socketserver.BaseRequestHandler):
    server: Proxy

    def handle(self) -> None:
        with contextlib.suppress(OSError):
            client = self.server.context.wrap_socket(self.request, server_side=True)
            with client, socket.create_connection(self.server.target) as roost:
                head = b""
                while b"\r\n" not in head:
                    piece = client.recv(65_536)
                    if not piece:
                        return
                    head += piece
                line, rest = head.split(b"\r\n", 1)
                roost.sendall(line + b"\r\nX-Forwarded-Proto: https\r\n" + rest)
                back = threading.Thread(target=self.pump, args=(roost, client), daemon=True)
                back.start()
                self.pump(client, roost)
                back.join()

    @staticmethod
    def pump(source, target) -> None:  # noqa: ANN001 - sockets, one of them with TLS
        with contextlib.suppress(OSError):
            while piece := source.recv(65_536):
                target.sendall(piece)
        with contextlib.suppress(OSError):
            target.shutdown(1)


@contextlib.contextmanager
def serving(listener: socketserver.TCPServer) -> "Iterator[int]":
    """The port of a server in a thread."""
    threading.Thread(target=listener.serve_forever, daemon=True).start()
    try:
        yield listener.server_address[1]
    finally:
        listener.shutdown()
        listener.server_close()


def key_that_reads(url: str, key: str) -> str:
    request = urllib.request.Request(
        f"{url}/v1/keys",
        data=json.dumps({"name": "reads", "role": "read"}).encode(),
        headers={"Authorization": f"Bearer {key}", "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)["key"]


def test_every_method_of_the_published_clients_works(tmp_path: Path) -> None:
    if "ROOST_TEST_JAR" not in os.environ:
        pytest.skip("ROOST_TEST_JAR says which Roost")
    pythons = {version: environment(HERE / f"client-{version}.txt") for version in CLIENTS}
    subprocess.run([pythons["0.4.1"], "-c", CERTIFICATES, tmp_path], check=True)
    authority = str(tmp_path / "authority.pem")
    env = {name: value for name, value in os.environ.items() if not name.startswith("ROOST_")}
    # A proxy of this machine is not for localhost.
    env.update(SSL_CERT_FILE=authority, REQUESTS_CA_BUNDLE=authority, NO_PROXY="*", no_proxy="*")
    (tmp_path / "some.bytes").write_bytes(b"some bytes")
    files = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), lambda *a: http.server.SimpleHTTPRequestHandler(*a, directory=str(tmp_path))
    )
    with server(Path(os.environ["ROOST_TEST_JAR"]).resolve()) as (url, key):
        proxy = Proxy(("127.0.0.1", int(url.rsplit(":", 1)[1])), tmp_path / "server.pem")
        with serving(proxy) as port, serving(files) as files_port:
            arguments = [f"localhost:{port}/compat/swarmnode", key, key_that_reads(url, key)]
            arguments += [f"http://127.0.0.1:{files_port}/some.bytes", url, str(tmp_path / "lock")]
            processes = {
                version: subprocess.Popen(
                    [python, HERE / "every_method.py", *arguments],
                    env=env,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
                for version, python in pythons.items()
            }
            outputs = {version: process.communicate(timeout=LIMIT_SECONDS)[0] for version, process in processes.items()}
    for version, process in processes.items():
        assert process.returncode == 0, f"{version}: {outputs[version]}"
        assert f"every method: {version}" in outputs[version]
