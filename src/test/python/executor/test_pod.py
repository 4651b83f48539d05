"""Sidecar and runner started apart from each other, as the containers of a pod are."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest
from executor import PACKAGE, wait_until
from pod import BOOT, RUNNER_USER, MemoryGroup, Pod, children, interpreter, why_no_containers

TERMINATED = 128 + signal.SIGTERM
SLEEPER = "import time\ndef main():\n    print('on')\n    time.sleep(600)\n"
MakePod = Callable[[], Pod]


@pytest.fixture(params=["containers", "processes"])
def make_pod(request: Any, tmp_path: Path) -> "Iterator[MakePod]":
    isolated = request.param == "containers"
    if isolated and why_no_containers():
        pytest.skip(why_no_containers())
    with contextlib.ExitStack() as ends:

        def make() -> Pod:
            pod = Pod(tmp_path / "pod", isolated)
            ends.callback(pod.close)
            return pod

        yield make


@pytest.fixture
def pod(make_pod: MakePod) -> Pod:
    return make_pod().start()


def sleeping(pod: Pod, script: str = SLEEPER, **changes: Any) -> str:
    """An execution that has begun and goes on."""
    name = pod.submit(script, **changes)
    pod.logged(name, "on")
    return name


def test_a_script_runs_with_its_store_and_can_write_to_its_own_directory_alone(pod: Pod) -> None:
    script = f"""
        import os

        def main(request, store):
            store["a"] = 1
            open("mine", "w").close()
            refused = []
            for path in ({str(pod.link) if not pod.isolated else "/run/roost"!r}, "/"):
                try:
                    open(os.path.join(path, "not mine"), "w").close()
                    os.unlink(os.path.join(path, "not mine"))
                except OSError:
                    refused.append(path)
            return [store["a"], os.getuid(), os.getppid(), refused]
        """
    value = pod.run(script).value
    if pod.isolated:
        assert value == [1, RUNNER_USER, 1, ["/run/roost", "/"]]
        assert (pod.directory / "secret/token").exists()  # the sidecar can't remove it from a read-only mount
    else:
        assert value[:3] == [1, os.getuid(), pod.runner.id]


def test_what_a_script_leaves_running_is_ended(pod: Pod) -> None:
    pod.run("import os\ndef main():\n    os.system('setsid sleep 600 & setsid setsid sleep 600 &')\n")
    assert children(pod.runner.id) == []
    assert pod.run("").last["type"] == "returned"


def test_the_runner_may_come_first(make_pod: MakePod) -> None:
    pod = make_pod()
    pod.start_runner()
    assert pod.runner.id
    pod.start_sidecar()
    assert pod.run("def main(): return 1\n").value == 1


def test_the_sidecar_may_come_long_before(make_pod: MakePod) -> None:
    pod = make_pod()
    pod.start_sidecar()
    wait_until(lambda: (pod.link / "store.sock").exists())
    published = pod.link / "code/roost_executor"
    assert {path.name for path in PACKAGE.glob("*.py")} == {path.name for path in published.glob("*.py")}
    for name in ("runner.sock", "store.sock"):
        wait_until(lambda name=name: (pod.link / name).stat().st_mode & 0o777 == 0o666)
    pod.start_runner()
    assert pod.run("def main(): return 1\n").value == 1


def test_polls_are_counted(pod: Pod) -> None:
    pod.run("def main(): pass\n")
    pod.run("")
    pod.plane.fault = lambda call: (503, None) if len(pod.plane.polls) == 3 else None
    pod.plane.stop()
    pod.plane.start()
    pod.plane.wait_for(lambda: len(pod.plane.polls) >= 4)
    assert [body["polls"] for _, body in pod.plane.polls[:4]] == [1, 2, 3, 4]
    assert [body["prepared"] for _, body in pod.plane.polls[:4]] == [False, True, True, True]


def test_a_connection_that_the_control_plane_closes_costs_no_pause(pod: Pod) -> None:
    plane = pod.plane
    plane.close_connections = True
    plane.fault = lambda call: (204, None) if call == "poll" and len(plane.polls) < 50 else None
    plane.wait_for(lambda: len(plane.polls) >= 50)
    first, last = plane.polls[1][0], plane.polls[49][0]
    assert last - first < 48 * 0.05  # the shortest pause
    assert pod.run("def main(): return 1\n").value == 1


def test_a_replica_that_is_not_ready_is_asked_again_after_a_pause(pod: Pod) -> None:
    plane = pod.plane
    plane.fault = lambda call: (503, None) if call == "poll" and len(plane.polls) < 5 else None
    plane.wait_for(lambda: len(plane.polls) >= 1)
    plane.stop()  # the open poll breaks
    plane.start()
    assert pod.run("def main(): return 1\n").value == 1
    times = [moment for moment, _ in plane.polls]
    assert all(later - earlier >= 0.045 for earlier, later in zip(times[:4], times[1:5]))


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


def test_frames_of_a_killed_runner_are_sent_until_nobody_wants_them(pod: Pod) -> None:
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
    assert "the pod was told to end" in result.last["message"]
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
    name = sleeping(pod, script, limits={"grace_seconds": 0.5})
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
    started = time.monotonic()
    terminate(pod)
    assert pod.sidecar.ended() == TERMINATED
    assert pod.runner.ended() in (0, TERMINATED)  # the sidecar may have gone before the signal came
    assert time.monotonic() - started < 3


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
def test_the_first_process_of_the_container_takes_care_of_orphans(make_pod: MakePod) -> None:
    pod = make_pod().start()
    pod.run("def main(): pass\n")
    target = ["nsenter", "--target", str(pod.runner.id), "--pid", "--mount", "/bin/sh", "-c", "(sleep 0.05 & echo $!)"]
    subprocess.run(target, check=True, capture_output=True)
    wait_until(lambda: children(pod.runner.id) == [])


@pytest.fixture
def memory() -> "Iterator[MemoryGroup]":
    try:
        group = MemoryGroup(f"roost-test-{os.getpid()}", 120 << 20)
    except OSError as error:
        pytest.skip(f"no control group can be made: {error}")
    yield group
    wait_until(lambda: not (group.path / "cgroup.procs").read_text())
    group.close()


@pytest.mark.parametrize("make_pod", ["containers"], indirect=True)
@pytest.mark.parametrize(
    "code",
    [
        "data = b'x' * 200_000_000",
        "subprocess.run([sys.executable, '-c', 'data = b\"x\" * 200_000_000'], check=True)",
        "started = [subprocess.Popen([sys.executable, '-c', 'd = b\"x\" * 9_000_000; input()'], stdin=subprocess.PIPE)"
        " for _ in range(50)]\n"
        "    while not any(process.poll() for process in started): time.sleep(0.01)\n"
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
    result = pod.run(f"import subprocess, sys, time\ndef main():\n    {code}\n", memory_mib=1000, timeout_seconds=20.0)
    assert result.reason == "out_of_memory" and "the kernel killed" in result.last["message"]
    assert pod.run("").reason == "out_of_memory"


def test_boot_gives_up_with_a_message(tmp_path: Path) -> None:
    boot = BOOT.replace("SECONDS = 120", "SECONDS = 0.05")
    assert boot != BOOT
    command = [interpreter()[1], "-I", "-B", "-c", boot, str(tmp_path / "code"), "runner", "--directory", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert f"has published no code in {tmp_path}/code" in ended.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "the first argument"),
        (["runner"], "runner wants --directory"),
        (["runner", "--directory"], "--directory wants a value"),
        (["runner", "--directory=d", "--url=u"], "runner doesn't know --url"),
    ],
)
def test_a_wrong_command_line_is_explained(arguments: "list[str]", message: str) -> None:
    ended = subprocess.run([sys.executable, str(PACKAGE), *arguments], capture_output=True, text=True, check=False)
    assert ended.returncode == 2 and message in ended.stderr


def test_published_code_is_for_all_and_stays_compiled(tmp_path: Path) -> None:
    command = (
        "import sys; sys.path.append(sys.argv[1]); from roost_executor.publish import publish; publish(sys.argv[2])"
    )
    package = tmp_path / "image/roost_executor"
    (package / "__pycache__").mkdir(parents=True)
    for path in PACKAGE.glob("*.py"):
        (package / path.name).write_bytes(path.read_bytes())
        os.utime(package / path.name, (1_700_000_000, 1_700_000_000))
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(package)], check=True)
    code = tmp_path / "link/code"
    for _ in range(2):  # a second time changes nothing
        subprocess.run(
            ["sh", "-c", 'umask 077; exec "$@"', "sh", sys.executable, "-c", command, str(package.parent), str(code)],
            check=True,
        )
    published = code / "roost_executor"
    assert os.listdir(code) == ["roost_executor"]
    assert sorted(os.listdir(published / "__pycache__")) == sorted(os.listdir(package / "__pycache__"))
    assert (published / "runner.py").stat().st_mtime == 1_700_000_000
    assert (published / "runner.py").stat().st_mode & 0o777 == 0o644
    assert published.stat().st_mode & 0o777 == 0o755
    used = subprocess.check_output(
        [sys.executable, "-I", "-v", "-c", f"import sys; sys.path.append({str(code)!r}); import roost_executor.clock"],
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert f"matches {published}/clock.py" in used
