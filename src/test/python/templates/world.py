"""A local server that takes the place of the sites and services that templates use."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[4]
TEMPLATES = ROOT / "src/main/resources/templates"


class World:
    """Answers each path by what a test says, and keeps what was sent."""

    def __init__(self) -> None:
        self.pages: dict[str, Any] = {}
        self.received: list[tuple[str, str, dict[str, str], bytes]] = []
        world = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                world.received.append((self.command, self.path, dict(self.headers), body))
                status, kind, content = world.answer(self.command, self.path, body)
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                if status == 429:
                    self.send_header("Retry-After", "0")
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PUT = do_DELETE = answer  # noqa: N815

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def answer(self, method: str, path: str, body: bytes) -> "tuple[int, str, bytes]":
        found = self.pages.get(path.partition("?")[0])
        if callable(found):
            found = found(method, path, body)
        if isinstance(found, tuple):
            return found
        if found is None:
            return 404, "text/plain", b"not found"
        if isinstance(found, str):
            return 200, "text/html; charset=utf-8", found.encode()
        return 200, "application/json", json.dumps(found).encode()

    def sent(self, path: str) -> "list[bytes]":
        return [body for _, place, _, body in self.received if place.partition("?")[0] == path]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
