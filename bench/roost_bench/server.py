"""A server on a data directory of its own."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Optional

from roost_bench import processes
from roost_bench.environment import JAR

START_SECONDS = 300
STOP_SECONDS = 60
LOOK_SECONDS = 0.01
KEPT_SETTINGS = {"ROOST_BUILDS_INDEX_URL"}


def java() -> str:
    """The program that runs the server."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin/java")) if home else "java"


class Server:
    """A started server."""

    def __init__(self, data: Path, search_path: Optional[str] = None) -> None:
        """Starts it; `search_path` instead of the PATH."""
        self.data = data
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        own = {name: value for name, value in os.environ.items() if name in KEPT_SETTINGS or name[:6] != "ROOST_"}
        settings = {
            "ROOST_DATA": str(data),
            "ROOST_PORT": str(self.port),
            "ROOST_WELCOME": "false",
            "ROOST_EXIT_WITH_PARENT": "true",
            "PATH": search_path or os.environ["PATH"],
        }
        began = time.perf_counter()
        # A session of its own: Ctrl-C reaches it through `stop`, after the clients.
        self.process = subprocess.Popen(
            [java(), "-jar", JAR], env={**own, **settings}, stdout=subprocess.DEVNULL, start_new_session=True
        )
        try:
            self._await_ready()
        except BaseException:
            self.stop()
            raise
        self.start_seconds = time.perf_counter() - began
        self.key = (data / "api_key").read_text(encoding="ascii").strip()

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def uv(self) -> Path:
        """The uv that it builds with, unless one is on the PATH."""
        return next(self.data.glob("tools/uv-*/bin/uv"))

    def _await_ready(self) -> None:
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise SystemExit(f"the server ended with status {self.process.returncode}")
            if self._is_ready():
                return
            time.sleep(LOOK_SECONDS)
        raise SystemExit(f"the server was not ready within {START_SECONDS} s")

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(self.url + "/q/health/ready", timeout=5) as answer:
                return json.load(answer)["status"] == "UP"
        except (urllib.error.URLError, ConnectionError, json.JSONDecodeError):
            return False

    def stop(self) -> None:
        """Ends it and whatever it has started."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        for left in processes.using(self.data):
            print(f"the server left process {left.pid} behind: {left.command[:100]}", file=sys.stderr)
            with contextlib.suppress(ProcessLookupError):
                os.kill(left.pid, signal.SIGKILL)


@contextlib.contextmanager
def running(data: Path, search_path: Optional[str] = None) -> "Iterator[Server]":
    """A server that ends with the block."""
    server = Server(data, search_path)
    try:
        yield server
    finally:
        server.stop()
