"""The client's own connections, over real sockets."""

from __future__ import annotations

import io
import json
import ssl
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from support import KEY, FakeClock, entry, execution, job

import roost


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    seen: list[tuple[str, str, dict[str, str], bytes]]
    connections: set[Any]

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.connections.add(self.client_address)
        self.seen.append((self.command, self.path, dict(self.headers.items()), body))
        if "text/event-stream" in self.headers["Accept"]:
            self._send_stream()
            return
        if "/export" in self.path:
            self._send_export()
            return
        answer = {"data": [], "next_cursor": None} if self.command == "GET" else job()
        content = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = _answer  # noqa: N815

    def _send_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for n in (1, 2):
            self.wfile.write(f"id: {n}\nevent: log\ndata: {json.dumps(entry(n))}\n\n".encode())
            self.wfile.flush()
        self.wfile.write(f"event: end\ndata: {json.dumps(execution())}\n\n".encode())

    def _send_export(self) -> None:
        """One more line each time, then half of one, and the connection is gone before the end."""
        lines = [b'{"key":"%d","value":1,"expires_at":null}\n' % n for n in range(4)]
        rest = b"".join(lines[len(self.seen) - 1 :])
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        part = rest if len(self.seen) == 4 else rest[: len(lines[0]) * 3 // 2]
        self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
        if part is rest:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


@pytest.fixture
def handler() -> type[Handler]:
    return type("RecordingHandler", (Handler,), {"seen": [], "connections": set()})


@pytest.fixture
def client(handler: type[Handler]) -> Iterator[roost.Client]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        with roost.Client(KEY, f"http://127.0.0.1:{server.server_port}") as client:
            yield client
        server.shutdown()
        thread.join()


def test_requests_are_complete_and_share_a_connection(
    client: roost.Client, handler: type[Handler]
) -> None:
    agent = roost.Agent(client, {"id": "agent_1"})
    agent.execute({"text": "ü"})
    agent.submit().cancel()
    list(client.agents.list(q="ä b&c"))
    execute, _, cancel, listed = handler.seen
    assert execute[:2] == ("POST", "/v1/agents/agent_1/execute?wait=50")
    assert execute[3] == '{"payload":{"text":"ü"}}'.encode()
    headers = execute[2]
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert headers["Content-Type"] == "application/json"
    assert headers["User-Agent"].startswith("roost-python/")
    assert cancel[2]["Content-Length"] == "0"
    assert listed[1] == "/v1/agents?q=%C3%A4%20b%26c"
    assert len(handler.connections) == 1


def test_a_log_is_followed(client: roost.Client) -> None:
    run = roost.Execution(client, {"id": "exec_1", "state": "running"})
    assert [each.seq for each in run.logs(follow=True)] == [1, 2]
    assert run.state == "succeeded"


def test_an_export_outlives_connections_that_end_too_soon(
    client: roost.Client, handler: type[Handler]
) -> None:
    client._transport.clock = FakeClock()
    target = io.BytesIO()
    assert roost.DataStore(client, {"id": "store_1"}).export(target, prefix="ü") == 4
    assert [json.loads(line)["key"] for line in target.getvalue().splitlines()] == list("0123")
    assert [path.partition("?")[2] for _, path, _, _ in handler.seen] == [
        "prefix=%C3%BC" + after for after in ("", "&after=0", "&after=1", "&after=2")
    ]


def test_a_forked_process_makes_its_own_connections(
    client: roost.Client, handler: type[Handler]
) -> None:
    agent = roost.Agent(client, {"id": "agent_1"})
    agent.execute()
    of_parent = client._transport._http
    client._transport._process = -1  # as it looks after a fork
    agent.execute()
    assert len(handler.connections) == 2
    of_parent.close()


def test_nobody_there_says_so() -> None:
    lost = roost.Client(KEY, "http://127.0.0.1:9", max_retries=0)
    with lost, pytest.raises(roost.APIConnectionError, match="Is it running"):
        lost.runtime()


@pytest.mark.parametrize(("scheme", "read"), [("http", False), ("https", True)])
def test_certificates_are_read_only_for_what_is_encrypted(
    monkeypatch: pytest.MonkeyPatch, scheme: str, read: bool
) -> None:
    loaded: list[object] = []
    original = ssl.SSLContext.load_verify_locations

    def load(context: ssl.SSLContext, *arguments: Any, **options: Any) -> None:
        loaded.append(context)
        original(context, *arguments, **options)

    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", load)
    with roost.Client(KEY, f"{scheme}://127.0.0.1:1"):
        pass
    assert bool(loaded) == read
