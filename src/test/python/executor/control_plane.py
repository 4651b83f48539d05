"""A control plane for tests: polls, frames and stores as docs/executor-link.md has them, with faults on demand."""

import contextlib
import json
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable, Optional
from urllib.parse import parse_qs, urlsplit

from bundle_plane import Bundles
from file_plane import JobFiles
from step_plane import JobSteps
from store_plane import Stores
from stream_plane import Streams

LAST = ("returned", "failed", "suspended")
# For what comes within milliseconds on a machine that has nothing else to do.
WAIT_SECONDS = 60
Answer = "tuple[int, Any]"


class ControlPlane:
    """Listens on 127.0.0.1; `frames[execution id]` are the frames it has stored, in order."""

    def __init__(self, port: int = 0) -> None:
        self.changed = threading.Condition()
        self.queue: list[dict[str, Any]] = []
        self.frames: dict[str, list[dict[str, Any]]] = {}
        self.arrived: dict[str, float] = {}
        self.requests: list[tuple[str, Any]] = []
        self.polls: list[tuple[float, dict[str, Any]]] = []
        self.close_connections = False
        # Empty requests for frames that have arrived, by execution.
        self.heartbeats: dict[str, int] = {}
        # What templates have reported.
        self.preloaded: list[dict[str, Any]] = []
        self.cancelled: set[str] = set()
        self.gone: set[str] = set()
        self.stop_polls = False
        self.protocol = 1
        self.stores = Stores(self.changed)
        self.job = JobSteps(self.changed)
        self.stream = Streams(self.changed)
        self.files = JobFiles()
        self.bundles = Bundles()
        self.fault: Optional[Callable[[str], Optional[tuple[int, Any]]]] = None
        self.acknowledge_at_most: Optional[int] = None
        self.new_token: Optional[str] = None
        self.connections: set[socket.socket] = set()
        self.port = port
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        plane = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = -1

            def setup(self) -> None:
                super().setup()
                plane.connections.add(self.connection)

            def do_POST(self) -> None:
                plane.answer(self)

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, *_: Any) -> None:
                pass

        self.server = Server(("127.0.0.1", self.port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Goes away as a killed process does: every connection breaks."""
        self.server.shutdown()
        self.server.server_close()
        for connection in list(self.connections):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self.connections.clear()

    def answer(self, handler: Any) -> None:
        body = handler.rfile.read(int(handler.headers["Content-Length"] or 0))
        url = urlsplit(handler.path)
        wait = float(parse_qs(url.query).get("wait", ["0"])[0])
        parts = url.path.split("/")
        self.requests.append((url.path, handler.headers["Authorization"]))
        status, content = self._answer(parts, body, wait)
        if status is None:
            handler.close_connection = True
            return
        data = content if isinstance(content, bytes) else b"" if content is None else json.dumps(content).encode()
        handler.send_response(status)
        if self.new_token and parts[-1] == "poll":
            handler.send_header("Roost-Token", self.new_token)
        if self.close_connections:
            handler.send_header("Connection", "close")
        if status != 204:
            handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)
        handler.wfile.flush()

    def _answer(self, parts: "list[str]", body: bytes, wait: float) -> Any:
        if parts[-1] == "poll":
            with self.changed:
                self.polls.append((time.monotonic(), json.loads(body)))
                self.changed.notify_all()
        fault = self.fault and self.fault(parts[-1])
        if fault:
            return fault
        if parts[-1] == "poll":
            return self._poll(json.loads(body), wait)
        if parts[-1] == "frames":
            return self._frames(parts[-2], body, wait)
        if parts[-1] == "steps":
            return self.job.operate(parts[-2], body)
        if parts[-1] == "files":
            return self.files.operate(parts[-2], body)
        if parts[-1] == "stream":
            return self.stream.operate(parts[-2], body)
        if parts[-1] == "bundle":
            return self.bundles.answer(json.loads(body))
        if parts[-1] == "preload":
            with self.changed:
                self.preloaded.append(json.loads(body))
                self.changed.notify_all()
            return 204, None
        return self._operation(parts[-2], body)

    def _poll(self, question: "dict[str, Any]", wait: float) -> Any:
        if question["protocol"] != self.protocol:
            detail = f"This control plane speaks version {self.protocol}; the executor speaks version 1."
            return 422, {"code": "validation_failed", "detail": detail}
        with self.changed:
            self.changed.wait_for(lambda: self.queue or self.stop_polls, wait)
            if self.queue:
                work = dict(self.queue.pop(0))
                if question["prepared"]:
                    work.pop("agent", None)
                return 200, work
            return (410, None) if self.stop_polls else (204, None)

    def _frames(self, execution: str, body: bytes, wait: float) -> Any:
        with self.changed:
            if execution in self.gone:
                return 409, {"code": "conflict"}
            stored = self.frames.setdefault(execution, [])
            fresh = [json.loads(line) for line in body.splitlines()]
            if self.acknowledge_at_most is not None:
                fresh = fresh[: self.acknowledge_at_most]
            for frame in fresh:
                if frame["seq"] <= len(stored):
                    assert stored[frame["seq"] - 1] == frame, "a frame sent again has changed"
                else:
                    assert frame["seq"] == len(stored) + 1, "a gap between frames"
                    stored.append(frame)
                    if frame["type"] in LAST:
                        self.arrived[execution] = time.perf_counter()
                        self.stores.end(execution)
            self.changed.notify_all()
            if not body:
                self.heartbeats[execution] = self.heartbeats.get(execution, 0) + 1
            if not body and wait:
                self.changed.wait_for(lambda: execution in self.cancelled or execution in self.gone, wait)
                if execution in self.gone:
                    return 409, {"code": "conflict"}
            return 200, {
                "acknowledged": len(stored),
                "cancel": execution in self.cancelled,
            }

    def cancel(self, execution: str) -> None:
        with self.changed:
            self.cancelled.add(execution)
            self.changed.notify_all()

    def disown(self, execution: str) -> None:
        with self.changed:
            self.gone.add(execution)
            self.changed.notify_all()

    def _operation(self, store: str, body: bytes) -> Any:
        return self.stores.operate(store, body)

    def wait_for(self, condition: "Callable[[], Any]", seconds: float = WAIT_SECONDS) -> Any:
        """Waits until `condition()` is true; fails when it isn't within `seconds`."""
        with self.changed:
            assert self.changed.wait_for(condition, seconds), "waited in vain"
            return condition()
