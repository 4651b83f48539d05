"""A control plane for one execution, on localhost (docs/executor-link.md)."""

from __future__ import annotations

import json
import secrets
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable
from urllib.parse import parse_qs, urlsplit

from .files import Files
from .frames import Entry, Intake, Outcome
from .steps import Steps
from .stores import Stores
from .stream import Stream

__all__ = ["ControlPlane"]

_PREFIX = "/internal/v1/"
_Response = tuple[int, bytes]


class ControlPlane:
    """Hands `work` to the first executor that polls, and receives its frames.

    `on_entries` is called with log entries, `on_values` with the JSON texts that the script emits;
    each in order, by one thread at a time.
    """

    def __init__(
        self,
        work: dict[str, Any],
        stores: Stores,
        files: Files,
        on_entries: Callable[[list[Entry]], None],
        on_values: Callable[[list[str]], None],
    ) -> None:
        self.token = secrets.token_urlsafe(32)
        self._work = work
        self._execution = work["execution_id"]
        self._stores = stores
        self._files = files
        self._steps = Steps()
        self._stream = Stream(on_values)
        self._intake = Intake(on_entries)
        self._changed = threading.Condition()
        self._cancelled = False
        self._server = _Server(self)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), name="roost-run", daemon=True
        )
        self._thread.start()

    @property
    def url(self) -> str:
        """The URL for executors."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def outcome(self) -> Outcome | None:
        """The outcome; None until the execution has ended."""
        return self._intake.outcome

    @property
    def entered_at(self) -> str | None:
        """When `main` was called, if known."""
        return self._intake.entered_at

    def wait(self, seconds: float) -> Outcome | None:
        """Wait up to `seconds` for the end; return the outcome, if any."""
        with self._changed:
            self._changed.wait_for(lambda: self.outcome is not None, seconds)
            return self.outcome

    def cancel(self) -> None:
        """Stop the script: SIGTERM, and SIGKILL after the grace period."""
        with self._changed:
            self._cancelled = True
            self._changed.notify_all()

    def close(self) -> None:
        """Stop listening and close all connections."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def handle(self, path: str, body: bytes) -> _Response:
        """Handle one request of the executor."""
        url = urlsplit(path)
        wait = float(parse_qs(url.query).get("wait", ["0"])[0])
        kind, _, rest = url.path[len(_PREFIX) :].partition("/")
        name, _, action = rest.partition("/")
        if (kind, action) == ("executors", "poll"):
            return self._poll()
        if (kind, name, action) == ("executions", self._execution, "frames"):
            return self._frames(body, wait)
        if (kind, name, action) == ("executions", self._execution, "steps"):
            return self._steps.operate(body)
        if (kind, name, action) == ("executions", self._execution, "stream"):
            return self._stream.operate(body)
        if (kind, name, action) == ("executions", self._execution, "files"):
            return self._files.operate(body)
        if (kind, action) == ("datastores", "operations"):
            return self._stores.operate(name, body)
        return 404, b'{"code": "not_found", "detail": "No such path."}'

    def _poll(self) -> _Response:
        with self._changed:
            if self.outcome is not None or self._intake.acknowledged:
                return 410, b""
        # Repeated if the first response got lost: no frame has arrived yet.
        return 200, json.dumps(self._work).encode()

    def _frames(self, body: bytes, wait: float) -> _Response:
        with self._changed:
            if not body and wait:
                self._changed.wait_for(lambda: self._cancelled or self.outcome is not None, wait)
            before = self.outcome
            acknowledged = self._intake.accept(body.splitlines())
            if self.outcome is not before:
                self._stores.end(self._execution)
                self._changed.notify_all()
            return 200, json.dumps(
                {"acknowledged": acknowledged, "cancel": self._cancelled}
            ).encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, plane: ControlPlane) -> None:
        self.plane = plane
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Don't log broken connections: the executor has ended, or retries."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def do_POST(self) -> None:
        """Handle one request."""
        body = self.rfile.read(int(self.headers["Content-Length"] or 0))
        assert isinstance(self.server, _Server)
        plane = self.server.plane
        expected = f"Bearer {plane.token}"
        if not secrets.compare_digest(self.headers["Authorization"] or "", expected):
            status, content = 401, b""
        else:
            status, content = plane.handle(self.path, body)
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Don't log requests."""
