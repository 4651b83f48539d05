"""What the sidecar prints: why nobody answers, and a return value only when it may not arrive otherwise."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from executor import Executor, wait_until
from pod import Pod

sys.path.insert(0, str(Path(__file__).parents[4] / "src/main/python"))

from roost_executor.sidecar import outages  # noqa: E402
from roost_executor.sidecar.link import Response  # noqa: E402
from roost_executor.sidecar.outages import OutageLog  # noqa: E402

SECRET = "a value that is nobody's business"
RETURNS = f"def main():\n    return {SECRET!r}\n"
WAITS = f"""
    import os, time

    def main():
        print("on")
        while not os.path.exists("go"):
            time.sleep(0.01)
        return {SECRET!r}
    """


def said(executor: Executor) -> "list[str]":
    return [line for line in executor.output.read_text().splitlines() if line.startswith("roost sidecar")]


def test_a_failing_control_plane_is_logged_once_and_so_is_its_recovery(executor: Executor) -> None:
    plane = executor.plane
    executor.run(RETURNS)
    plane.fault = lambda call: (500, {"code": "internal", "detail": "x" * 1000}) if call == "poll" else None
    plane.stop_polls = False
    with plane.changed:
        asked = len(plane.polls)
    executor.submit(RETURNS)
    plane.wait_for(lambda: len(plane.polls) > asked + 4)
    plane.fault = None
    executor.finished("exec_2")
    lines = wait_until(lambda: said(executor) if len(said(executor)) > 1 else None)
    assert len(lines) == 2, lines
    assert lines[0].endswith(f"at {plane.url}: status 500 (internal) (attempt 1)")
    assert "answers again, after " in lines[1]
    assert "secret" not in executor.output.read_text()


def test_a_control_plane_that_is_away_is_logged(executor: Executor) -> None:
    executor.run(RETURNS)
    executor.plane.stop()
    wait_until(lambda: any("Connection refused" in line for line in said(executor)))
    executor.plane.start()
    wait_until(lambda: "answers again" in said(executor)[-1])


def test_the_same_cause_is_logged_again_after_a_minute(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [1000.0]
    monkeypatch.setattr(outages.time, "monotonic", lambda: now[0])
    log = OutageLog("http://roost:80")
    for _ in range(120):  # two causes in turn
        log.failed(OSError("refused"))
        log.failed(Response(502, {}, b"<html>"))
        now[0] += 1
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 4
    assert lines[0] == "roost sidecar: no answer from the control plane at http://roost:80: refused (attempt 1)"
    assert lines[1].endswith(": status 502 (attempt 2)")
    log.succeeded()
    log.succeeded()
    assert capsys.readouterr().err.splitlines() == [
        "roost sidecar: the control plane answers again, after 240 failed attempts in 120 s"
    ]


def test_a_return_value_that_arrives_is_printed_nowhere(pod: Pod) -> None:
    assert pod.run(RETURNS).value == SECRET
    assert pod.run(RETURNS).value == SECRET
    for container in (pod.sidecar, pod.runner):
        assert SECRET not in container.output.read_text()
    assert [frame["type"] for frame in pod.frames_printed()] == ["started", "started"]


def returned(pod: Pod) -> "list[Any]":
    return [frame["value"] for frame in pod.frames_printed() if frame["type"] == "returned"]


def test_a_return_value_that_cannot_arrive_is_printed_before_the_sidecar_ends(pod: Pod) -> None:
    name = pod.submit(WAITS)
    pod.logged(name, "on")
    pod.plane.stop()
    (pod.directory / "work/work" / name / "go").touch()
    wait_until(lambda: returned(pod))
    os.kill(pod.sidecar.id, signal.SIGKILL)
    assert returned(pod) == [f'"{SECRET}"']


def test_a_return_value_that_nobody_acknowledges_is_printed_within_seconds(pod: Pod) -> None:
    original = pod.plane._frames

    def frames(execution: str, body: bytes, wait: float) -> Any:
        if SECRET.encode() in body:
            with pod.plane.changed:  # frozen: it has the request and says nothing
                pod.plane.changed.wait_for(lambda: pod.plane.stop_polls, 20)
        return original(execution, body, wait)

    pod.plane._frames = frames  # type: ignore[method-assign]
    pod.submit(RETURNS)
    wait_until(lambda: returned(pod), 10)
    with pod.plane.changed:
        pod.plane.stop_polls = True
        pod.plane.changed.notify_all()


def test_a_refused_return_value_is_printed(pod: Pod) -> None:
    pod.plane.fault = lambda call: (413, {"code": "too_large"}) if call == "frames" else None
    pod.submit(RETURNS)
    assert pod.sidecar.ended() == 1
    assert returned(pod) == [f'"{SECRET}"']
