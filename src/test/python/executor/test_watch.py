"""Sidecar and runner watch each other: neither can be stopped by a script for good."""

import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any, Callable

import executor as executors
import pod as pods
import pytest
from executor import PACKAGE, Executor, processes_of, wait_until
from pod import Pod

sys.path.insert(0, str(PACKAGE.parent))

from roost_executor import watch  # noqa: E402

MakePod = Callable[[], Pod]


@pytest.fixture
def hasty(tmp_path: Path, monkeypatch: Any) -> Path:
    """The executor's package with shorter bounds."""
    package = tmp_path / "code/roost_executor"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    source = (package / "watch.py").read_text()
    for name, value in {"HEARTBEAT": 0.1, "STOPPED_AFTER": 0.3, "LOST_AFTER": 3.0}.items():
        line = next(line for line in source.splitlines() if line.startswith(f"{name}_SECONDS = "))
        source = source.replace(line, f"{name}_SECONDS = {value}")
    (package / "watch.py").write_text(source)
    for module in (executors, pods):
        monkeypatch.setattr(module, "PACKAGE", package)
    return package


def test_a_stopped_runner_continues_and_its_limits_hold(hasty: Path, executor: Executor) -> None:
    script = """
        import os, signal, time

        def main():
            os.kill(os.getppid(), signal.SIGSTOP)
            time.sleep(600)
        """
    result = executor.run(script, timeout_seconds=2.0)
    assert (result.last["state"], result.reason) == ("timed_out", "deadline_exceeded")
    name = executor.submit(script)
    path = f"/internal/v1/executions/{name}/frames"
    wait_until(lambda: any(asked == path for asked, _ in executor.plane.requests))
    executor.plane.cancel(name)
    assert executor.finished(name).last["state"] == "cancelled"
    executor.await_idle()


def test_a_runner_that_is_stopped_again_and_again_is_given_up(hasty: Path, executor: Executor) -> None:
    result = executor.run(
        """
        import os, signal, subprocess

        def main():
            subprocess.Popen(["sleep", "600"], start_new_session=True)
            while True:
                os.kill(os.getppid(), signal.SIGSTOP)
        """
    )
    assert (result.last["state"], result.reason) == ("lost", "executor_lost")
    assert "was killed: it was stopped (SIGSTOP) 4 times" in result.last["message"]
    assert executor.ended() == 1
    wait_until(lambda: not executor.processes())


@pytest.mark.parametrize("seconds", [0, 1])
def test_a_stopped_sidecar_continues(hasty: Path, executor: Executor, seconds: int) -> None:
    script = f"""
        import os, signal, time

        def main():
            with open(f"/proc/{{os.getppid()}}/stat") as file:
                sidecar = int(file.read().rpartition(")")[2].split()[1])
            os.kill(sidecar, signal.SIGSTOP)
            time.sleep({seconds})
            return "returned"
        """
    assert executor.run(script).value == "returned"


def test_a_runner_that_hangs_is_given_up(hasty: Path, make_pod: MakePod) -> None:
    pod = make_pod().start()
    name = pod.submit("import time\ndef main():\n    print('on')\n    time.sleep(600)\n")
    pod.logged(name, "on")
    os.kill(pod.runner.id, signal.SIGSTOP)
    result = pod.finished(name)
    assert (result.last["state"], result.reason) == ("lost", "executor_lost")
    assert "no heartbeat for 3 s" in result.last["message"]
    assert pod.sidecar.ended() == 1
    os.kill(pod.runner.id, signal.SIGCONT)
    assert pod.runner.ended() == 0
    assert not processes_of(pod.directory)


def test_what_suspends_the_sidecar_too_is_no_silence_of_the_runner() -> None:
    now = [0.0]
    observed = watch.Watch(None, lambda: now[0])
    now[0] = 10_000.0
    assert observed.check() is None
    while now[0] < 10_000.0 + watch.LOST_AFTER_SECONDS - watch.LONGEST_STEP_SECONDS - 1.0:
        now[0] += 1.0
        assert observed.check() is None
    observed.reset()
    now[0] += 1.0
    assert observed.check() is None
    for _ in range(int(watch.LOST_AFTER_SECONDS)):
        now[0] += 1.0
        reason = observed.check()
    assert reason == "it has sent no heartbeat for 120 s"
