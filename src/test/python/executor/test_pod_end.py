"""How the containers of a pod end: alone, together, by termination, and without memory."""

import os
import signal
from pathlib import Path
from typing import Any, Callable

import pytest
from executor import wait_until
from pod import MemoryGroup, Pod

TERMINATED = 128 + signal.SIGTERM
SLEEPER = "import time\ndef main():\n    print('on')\n    time.sleep(600)\n"
MakePod = Callable[[], Pod]


def sleeping(pod: Pod, script: str = SLEEPER, **changes: Any) -> str:
    """An execution that has begun and goes on."""
    name = pod.submit(script, **changes)
    pod.logged(name, "on")
    return name


def test_a_runner_that_is_killed_gets_no_last_frame(pod: Pod) -> None:
    name = sleeping(pod)
    os.kill(pod.runner.id, signal.SIGKILL)
    assert pod.sidecar.ended() == 1
    assert [frame["type"] for frame in pod.plane.frames[name]] == ["started", "log"]
    assert "failed" not in [frame["type"] for frame in pod.plane.frames[name] + pod.frames_printed()]


def test_frames_of_a_killed_runner_wait_for_the_control_plane(pod: Pod) -> None:
    script = """
        import os, time

        def main():
            print("on")
            while not os.path.exists("go"):
                time.sleep(0.01)
            for n in range(1000):
                print(n)
            while not os.path.exists("end"):
                time.sleep(0.01)
            print("end")
            time.sleep(600)
        """
    name = sleeping(pod, script)
    pod.plane.stop()
    work = pod.directory / "work/work" / name
    (work / "go").touch()
    wait_until(lambda: f"{name}/1001 stdout] 999" in pod.runner.output.read_text())
    (work / "end").touch()
    # The runner shows a line before it sends it: now it has sent those before.
    wait_until(lambda: f"{name}/1002 stdout] end" in pod.runner.output.read_text())
    os.kill(pod.runner.id, signal.SIGKILL)
    pod.runner.ended()
    assert pod.sidecar.process.poll() is None
    pod.plane.start()
    assert pod.sidecar.ended() == 1
    entries = [entry["message"] for frame in pod.plane.frames[name] for entry in frame.get("entries", ())]
    assert entries[:1001] == ["on", *map(str, range(1000))]
    assert pod.plane.frames[name][-1]["type"] == "log"


def test_frames_of_a_killed_runner_are_sent_until_they_are_rejected(pod: Pod) -> None:
    plane = pod.plane
    plane.fault = lambda call: (503, None) if call == "frames" else None
    pod.submit(SLEEPER)
    wait_until(lambda: "stdout] on" in pod.runner.output.read_text())
    os.kill(pod.runner.id, signal.SIGKILL)
    pod.runner.ended()
    asked = len(plane.requests)
    wait_until(lambda: len(plane.requests) > asked + 2)
    assert pod.sidecar.process.poll() is None
    plane.fault = lambda call: (409, {"code": "conflict"}) if call == "frames" else None
    assert pod.sidecar.ended() == 1


def test_a_runner_that_is_killed_while_idle_ends_the_sidecar(pod: Pod) -> None:
    pod.run("def main(): pass\n")
    os.kill(pod.runner.id, signal.SIGKILL)
    assert pod.sidecar.ended() == 1


def test_a_sidecar_that_is_killed_ends_the_runner_and_the_script(pod: Pod) -> None:
    sleeping(
        pod, "import os, time\ndef main():\n    os.system('setsid sleep 600 &')\n    print('on')\n    time.sleep(600)\n"
    )
    os.kill(pod.sidecar.id, signal.SIGKILL)
    assert pod.runner.ended() == 0


def test_410_ends_both_well(pod: Pod) -> None:
    pod.run("def main(): pass\n")
    with pod.plane.changed:
        pod.plane.stop_polls = True
        pod.plane.changed.notify_all()
    assert (pod.sidecar.ended(), pod.runner.ended()) == (0, 0)


def terminate(pod: Pod) -> None:
    for container in (pod.sidecar, pod.runner):
        container.send(signal.SIGTERM)


def test_sigterm_lets_the_script_clean_up_and_its_log_arrive(pod: Pod) -> None:
    script = """
        import signal, sys, time

        def main():
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
            print("on")
            try:
                time.sleep(600)
            finally:
                print("cleaned up")
        """
    name = sleeping(pod, script)
    terminate(pod)
    result = pod.finished(name)
    assert (result.last["state"], result.reason) == ("lost", "executor_lost")
    assert result.last["message"] is None  # a pod doesn't learn why it is terminated
    assert result.lines == ["on", "cleaned up"]
    assert (pod.sidecar.ended(), pod.runner.ended()) == (TERMINATED, TERMINATED)


def test_sigterm_ends_a_script_that_ignores_it_after_the_grace(pod: Pod) -> None:
    script = """
        import os, signal, time

        def main():
            signal.signal(signal.SIGTERM, lambda *_: print("not yet"))
            os.system("setsid sleep 600 &")
            print("on")
            while True:
                time.sleep(0.1)
        """
    name = sleeping(pod, script, limits={"grace_seconds": 2.0})
    terminate(pod)
    result = pod.finished(name)
    assert result.last["state"] == "lost" and result.lines == ["on", "not yet"]
    assert (pod.sidecar.ended(), pod.runner.ended()) == (TERMINATED, TERMINATED)


def test_sigterm_brings_much_output_home(pod: Pod) -> None:
    script = """
        import signal, sys, time

        def stop(*_):
            for n in range(100_000):
                print(n, "x" * 190)
            sys.exit(0)

        def main():
            signal.signal(signal.SIGTERM, stop)
            print("on")
            time.sleep(600)
        """
    name = sleeping(pod, script)
    terminate(pod)
    result = pod.finished(name)
    assert [line.split()[0] for line in result.lines[1:]] == [str(n) for n in range(100_000)]
    assert (pod.sidecar.ended(), pod.runner.ended()) == (TERMINATED, TERMINATED)
    assert len(pod.runner.output.read_text().splitlines()) == 100_001


def test_sigterm_ends_an_idle_pod_at_once(pod: Pod) -> None:
    pod.run("def main(): pass\n")
    terminate(pod)
    assert pod.sidecar.ended(20) == TERMINATED  # its poll would be open for 30 s
    assert pod.runner.ended() in (0, TERMINATED)  # the sidecar may have gone before the signal came


@pytest.mark.parametrize("first", ["start_sidecar", "start_runner"])
def test_sigterm_ends_one_that_waits_for_the_other(make_pod: MakePod, first: str) -> None:
    pod = make_pod()
    container = getattr(pod, first)()
    # It has begun its own program, whatever it waits for.
    caught = f"/proc/{container.id}/status"
    mask = 1 << (signal.SIGTERM - 1)
    wait_until(lambda: int(Path(caught).read_text().partition("SigCgt:")[2].split()[0], 16) & mask)
    container.send(signal.SIGTERM)
    assert container.ended() == TERMINATED


@pytest.mark.parametrize("make_pod", ["containers"], indirect=True)
@pytest.mark.parametrize(
    "code",
    [
        "data = b'x' * 200_000_000",
        "subprocess.run([sys.executable, '-c', 'data = b\"x\" * 200_000_000'], check=True)",
        # One after the other, until one of them is killed.
        "started = []\n"
        "    while not any(process.poll() for process in started):\n"
        "        more = [sys.executable, '-c', 'd = b\"x\" * 9_000_000; input()']\n"
        "        started.append(subprocess.Popen(more, stdin=subprocess.PIPE))\n"
        "        time.sleep(0.01)\n"
        "    raise RuntimeError",
    ],
    ids=["in the script", "in a process of its own", "in many"],
)
def test_of_memory_that_runs_out_the_script_learns_and_the_runner_lives(
    memory: MemoryGroup, make_pod: MakePod, code: str
) -> None:
    pod = make_pod()
    pod.start_sidecar()
    pod.start_runner(memory)
    result = pod.run(f"import subprocess, sys, time\ndef main():\n    {code}\n", memory_mib=1000)
    assert result.reason == "out_of_memory" and "the kernel killed" in result.last["message"]
    assert pod.run("").reason == "out_of_memory"
