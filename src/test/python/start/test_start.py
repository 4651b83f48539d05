"""The start command's supervisor, with scripts in place of the server."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

START = Path(__file__).parents[4] / "src/main/scripts/start.py"
LIMIT_SECONDS = 60

RUNS = """
import os, signal, sys
with open(sys.argv[1], "a") as runs:
    runs.write("x")
number = os.path.getsize(sys.argv[1])
"""


def start(directory: Path, code: str, *around: str) -> "subprocess.Popen[str]":
    script = directory / "server.py"
    script.write_text(RUNS + code, encoding="utf-8")
    command: list[str] = [*around, sys.executable, str(START), sys.executable, str(script), str(directory / "runs")]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def runs(directory: Path) -> int:
    path = directory / "runs"
    return path.stat().st_size if path.exists() else 0


def wait_for_runs(directory: Path, number: int) -> None:
    deadline = time.monotonic() + LIMIT_SECONDS
    while runs(directory) < number:
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("end", "said"),
    [
        ("sys.exit(3)", "Roost ran out of memory; starting it again."),
        ("os.kill(os.getpid(), signal.SIGKILL)", "Roost crashed (SIGKILL); starting it again."),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "Roost crashed (SIGSEGV); starting it again."),
    ],
)
def test_a_server_that_has_crashed_is_started_again(tmp_path: Path, end: str, said: str) -> None:
    process = start(tmp_path, f"if number == 1: {end}\n")
    _, errors = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 0
    assert runs(tmp_path) == 2
    assert errors.strip() == said


@pytest.mark.parametrize("status", [0, 1, 78])
def test_a_server_that_has_ended_stays_ended(tmp_path: Path, status: int) -> None:
    process = start(tmp_path, f"sys.exit({status})")
    assert process.wait(LIMIT_SECONDS) == status
    assert runs(tmp_path) == 1


def test_a_server_that_always_crashes_is_given_up(tmp_path: Path) -> None:
    process = start(tmp_path, "sys.exit(3)")
    _, errors = process.communicate(timeout=LIMIT_SECONDS)
    assert process.returncode == 3
    assert runs(tmp_path) == 5
    assert "5 times in a row; giving up" in errors


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_server_and_it_is_not_started_again(tmp_path: Path, number: signal.Signals) -> None:
    # Blocked until sigwait: a handler could run just before signal.pause(), which would then wait forever.
    code = "signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])\nprint(1, flush=True)\n"
    process = start(tmp_path, code + "signal.sigwait([signal.SIGTERM])\nsys.exit(3)")
    assert process.stdout is not None
    process.stdout.readline()
    process.send_signal(number)
    process.wait(LIMIT_SECONDS)
    assert runs(tmp_path) == 1


def test_the_server_ends_with_whoever_started_it(tmp_path: Path) -> None:
    starter = "import subprocess, sys; subprocess.Popen(sys.argv[1:]).wait()"
    code = "open(sys.argv[1] + '.pid', 'w').write(str(os.getpid()))\nsignal.pause()"
    process = start(tmp_path, code, sys.executable, "-c", starter)
    pid_file = tmp_path / "runs.pid"
    wait_for_runs(tmp_path, 1)
    while not pid_file.exists() or not pid_file.read_text():
        time.sleep(0.02)
    process.kill()
    process.communicate(timeout=LIMIT_SECONDS)
    deadline = time.monotonic() + LIMIT_SECONDS
    while Path("/proc", pid_file.read_text()).exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert os.path.getsize(tmp_path / "runs") == 1
