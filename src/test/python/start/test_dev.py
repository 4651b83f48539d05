"""The development mode (`scripts/dev`) on a copy of the sources; slow: it compiles and bundles everything."""

import os
import shutil
import signal
import subprocess
import time
import urllib.request
from pathlib import Path

import pytest
from server import free_port

ROOT = Path(__file__).parents[4]
NEEDED = ["mvnw", ".mvn", "pom.xml", "scripts", "src/main", "sdk", "docs", "bench"]
NEEDED += ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE"]
LIMIT_SECONDS = 600
APPLICATION = "src/main/java/dev/roost/start/LocalApplication.java"


def wait_for_line(log: Path, text: str, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + LIMIT_SECONDS
    while text not in log.read_text(encoding="utf-8"):
        assert process.poll() is None, log.read_text(encoding="utf-8")
        assert time.monotonic() < deadline, log.read_text(encoding="utf-8")
        time.sleep(0.2)


@pytest.mark.slow
def test_saved_java_takes_effect_with_the_next_request_and_sigterm_ends_everything(tmp_path: Path) -> None:
    for name in NEEDED:
        source, copy = ROOT / name, tmp_path / "roost" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copytree(source, copy) if source.is_dir() else shutil.copy(source, copy)
    port, log = free_port(), tmp_path / "log"
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("ROOST_")}
    with log.open("wb") as output:
        process = subprocess.Popen(
            [tmp_path / "roost/scripts/dev"],
            env={**inherited, "ROOST_PORT": str(port), "ROOST_DATA": str(tmp_path / "data"), "ROOST_WELCOME": "false"},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_for_line(log, f"Roost is ready at http://127.0.0.1:{port}", process)
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/help/", timeout=LIMIT_SECONDS) as page:
            assert b"Roost" in page.read()
        application = tmp_path / "roost" / APPLICATION
        changed = application.read_text(encoding="utf-8").replace("Roost is ready at", "Roost was reloaded at")
        application.write_text(changed, encoding="utf-8")
        deadline = time.monotonic() + LIMIT_SECONDS
        while f"Roost was reloaded at http://127.0.0.1:{port}" not in log.read_text(encoding="utf-8"):
            assert time.monotonic() < deadline, log.read_text(encoding="utf-8")
            urllib.request.urlopen(f"http://127.0.0.1:{port}/q/health/live", timeout=LIMIT_SECONDS).close()
            time.sleep(1)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(LIMIT_SECONDS)
    ours = [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(tmp_path).encode() in read(path)]
    assert ours == []


def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # It has ended meanwhile.
        return b""
