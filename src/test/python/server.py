"""A packaged server for tests, with everything that it needs."""

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

START_SECONDS = 180
STOP_SECONDS = 180


def free_port() -> int:
    """One that nobody takes meanwhile: outgoing connections get theirs from a range above."""
    while True:
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", random.randrange(11_000, 15_000)))
            return probe.getsockname()[1]


@contextlib.contextmanager
def server(jar: Path, **more: str):  # noqa: ANN201 - a generator of (url, key)
    """A server on an empty data directory and a free port; ends with everything that it started.

    `more` are further settings: ROOST_LOCAL_MAX_EXECUTORS="2".
    """
    with tempfile.TemporaryDirectory(prefix="roost-check-") as data:
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        settings = {"ROOST_DATA": data, "ROOST_PORT": str(port), "ROOST_WELCOME": "false"}
        settings["ROOST_WEBHOOKS_ALLOWED_NETWORKS"] = "127.0.0.0/8"  # where the tests' receivers are
        settings.update(more)
        java = Path(os.environ["JAVA_HOME"], "bin/java") if os.environ.get("JAVA_HOME") else "java"
        # Variables for tests are not settings; Roost rejects names that it doesn't know.
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("ROOST_TEST_")}
        process = subprocess.Popen(
            [java, "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+ExitOnOutOfMemoryError", "-jar", jar],
            env={**inherited, **settings},
        )
        try:
            await_ready(process, url)
            yield url, Path(data, "api_key").read_text(encoding="ascii").strip()
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(STOP_SECONDS)


def await_ready(process: "subprocess.Popen[bytes]", url: str) -> None:
    """Returns when the server says that it is ready."""
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise SystemExit(f"the server ended with status {process.returncode}")
        with contextlib.suppress(urllib.error.URLError, ConnectionError, json.JSONDecodeError):
            with urllib.request.urlopen(url + "/q/health/ready", timeout=5) as answer:
                if json.load(answer)["status"] == "UP":
                    return
        time.sleep(0.1)
    raise SystemExit(f"the server was not ready within {START_SECONDS} s")
