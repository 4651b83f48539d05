"""A server on a data directory of its own."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

from roost_bench import processes
from roost_bench.environment import JAR

START_SECONDS = 300
STOP_SECONDS = 60
LOOK_SECONDS = 0.01
KEPT_SETTINGS = {"ROOST_BUILDS_INDEX_URL"}

# In the settings of `more`, this stands for the port, which is found at the start.
PORT = "{port}"

QUICK_COMPILER = "-XX:TieredStopAtLevel=1"
# As the start command has them.
JAVA_OPTIONS = ["-Xmx512m", "-XX:+UseSerialGC", QUICK_COMPILER, "-XX:+ExitOnOutOfMemoryError"]


def java() -> str:
    """The program that runs the server."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin/java")) if home else "java"


class Server:
    """A started server."""

    def __init__(
        self,
        data: Path,
        search_path: Optional[str] = None,
        host: str = "127.0.0.1",
        more: "Optional[dict[str, str]]" = None,
    ) -> None:
        """Starts it; `search_path` instead of the PATH, `more` environment variables."""
        self.data = data
        self.host = host
        with socket.socket() as probe:
            probe.bind((host, 0))
            self.port = probe.getsockname()[1]
        own = {name: value for name, value in os.environ.items() if name in KEPT_SETTINGS or name[:6] != "ROOST_"}
        settings = {
            "ROOST_DATA": str(data),
            "ROOST_HOST": host,
            "ROOST_PORT": str(self.port),
            "ROOST_WELCOME": "false",
            "ROOST_EXIT_WITH_PARENT": "true",
            "ROOST_EXECUTORS_POOL": "0",  # a cold start starts an executor, except where pools are measured
            "PATH": search_path or os.environ["PATH"],
            **{name: value.replace(PORT, str(self.port)) for name, value in (more or {}).items()},
        }
        began = time.perf_counter()
        # A session of its own: Ctrl-C reaches it through `stop`, after the clients.
        self.process = subprocess.Popen(
            [java(), *JAVA_OPTIONS, "-jar", JAR],
            env={**own, **settings},
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            self.key = self._await_ready()
        except BaseException:
            self.stop()
            raise
        self.start_seconds = time.perf_counter() - began
        self.start_cpu_seconds = processes.cpu_seconds(self.process.pid)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://{self.host}:{self.port}"

    @property
    def uv(self) -> Path:
        """The uv that it builds with, unless one is on the PATH."""
        return next(self.data.glob("tools/uv-*/bin/uv"))

    def _await_ready(self) -> str:
        """The API key, once it is taken: a fresh server makes it a little after it says that it is ready."""
        end = time.monotonic() + START_SECONDS
        key = self.data / "api_key"
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise SystemExit(f"the server ended with status {self.process.returncode}")
            if self._answers("/q/health/ready") and key.exists():
                text = key.read_text(encoding="ascii").strip()
                if self._answers("/v1/agents?limit=1", text):
                    return text
            time.sleep(LOOK_SECONDS)
        raise SystemExit(f"the server was not ready within {START_SECONDS} s")

    def _answers(self, path: str, key: str = "") -> bool:
        request = urllib.request.Request(self.url + path, headers={"Authorization": f"Bearer {key}"} if key else {})
        try:
            with urllib.request.urlopen(request, timeout=5) as answer:
                return bool(answer.status == 200)
        except (OSError, http.client.HTTPException):
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
def running(data: Path, search_path: Optional[str] = None, **settings: Any) -> "Iterator[Server]":
    """A server that ends with the block; arguments as of `Server`."""
    server = Server(data, search_path, **settings)
    try:
        yield server
    finally:
        server.stop()
