"""What breaks around an executor, and that nothing is lost by it."""

import os
import random
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any, Callable

from control_plane import ControlPlane
from executor import PACKAGE, PYTHON, WORK, Executor, merged, processes_of, wait_until

Make = Callable[..., Executor]
CHATTY = """
    import time

    def main():
        for n in range(300):
            print("line", n)
            if n % 3 == 0:
                time.sleep(0.002)
        return "done"
    """
LINES = [f"line {n}" for n in range(300)]


def test_a_control_plane_that_fails_at_random_loses_nothing(executor: Executor) -> None:
    chance = random.Random(7)

    def fault(call: str) -> Any:
        if call == "frames" and chance.random() < 0.3:
            return chance.choice([(503, None), (500, {"code": "internal"}), (None, None)])
        return None

    executor.plane.fault = fault
    result = executor.run(CHATTY)
    assert result.value == "done" and result.lines == LINES


def test_frames_that_are_acknowledged_in_part_are_sent_again(executor: Executor) -> None:
    executor.plane.acknowledge_at_most = 1
    result = executor.run(CHATTY)
    assert result.value == "done" and result.lines == LINES


def test_an_answer_that_is_lost_makes_a_harmless_repetition(executor: Executor) -> None:
    plane = executor.plane
    lost = [0]
    original = plane._frames

    def frames(*arguments: Any) -> Any:
        answer = original(*arguments)
        if arguments[1] and lost[0] < 3:
            lost[0] += 1
            return None, None
        return answer

    plane._frames = frames  # type: ignore[method-assign]
    result = executor.run(CHATTY)
    assert result.value == "done" and result.lines == LINES and lost[0] == 3


def test_a_control_plane_that_goes_away_finds_everything_when_it_is_back(
    executor: Executor,
) -> None:
    plane = executor.plane
    name = executor.submit(
        """
        import os, time

        def main():
            print("began")
            while not os.path.exists("go"):
                time.sleep(0.01)
            for n in range(100_000):
                print(n, "x" * 190)
            open("written", "w").close()
            while not os.path.exists("end"):
                time.sleep(0.01)
            return "done"
        """
    )
    executor.logged(name, "began")
    plane.stop()
    work = executor.directory / "work" / name
    (work / "go").touch()
    wait_until(lambda: (work / "written").exists())  # 20 MB, none of them delivered
    spool = executor.directory / "spool" / f"{name}.ndjson"
    wait_until(lambda: spool.exists() and spool.stat().st_size > 8_000_000)
    plane.start()
    (work / "end").touch()
    result = executor.finished(name)
    assert result.value == "done" and len(result.lines) == 100_001
    assert [line.split()[0] for line in result.lines[1:]] == [str(n) for n in range(100_000)]
    wait_until(lambda: not spool.exists())


def test_a_control_plane_that_is_not_there_yet_is_waited_for(make_executor: Make) -> None:
    plane = ControlPlane()
    plane.stop()
    executor = make_executor(plane=plane)
    wait_until(lambda: executor.processes("runner"))
    plane.start()
    assert executor.run("def main(): return 1\n").value == 1


def test_an_execution_that_is_not_ours_any_more_is_killed(executor: Executor) -> None:
    name = executor.submit("import time\ndef main():\n    print('on')\n    time.sleep(600)\n")
    executor.logged(name, "on")
    (process,) = set(executor.processes()) - {executor.process.pid, executor.runner}
    executor.plane.disown(name)
    wait_until(lambda: process not in executor.processes())
    executor.plane.gone.clear()
    quick = executor.submit("", timeout_seconds=0.2, limits={"grace_seconds": 0.1})
    assert executor.finished(quick).last["state"] == "timed_out"


def test_a_runner_that_is_killed_loses_the_execution_with_a_reason(executor: Executor) -> None:
    name = executor.submit(
        "import os, time\ndef main():\n    print('on')\n    os.system('setsid sleep 600 &')\n    time.sleep(600)\n"
    )
    executor.logged(name, "on")
    os.kill(executor.runner, signal.SIGKILL)
    result = executor.finished(name)
    assert (result.last["state"], result.reason) == ("lost", "executor_lost")
    assert "SIGKILL" in result.last["message"] and "memory" in result.last["message"]
    assert executor.ended() == 1
    wait_until(lambda: not executor.processes())


def test_a_runner_that_is_killed_while_idle_ends_the_executor(executor: Executor) -> None:
    executor.run("def main(): pass\n")
    os.kill(executor.runner, signal.SIGKILL)
    assert executor.ended() == 1


def test_a_sidecar_that_is_killed_leaves_no_process(executor: Executor) -> None:
    name = executor.submit(
        "import os, time\ndef main():\n    os.system('setsid sleep 600 &')\n    print('on')\n    time.sleep(600)\n"
    )
    executor.logged(name, "on")
    executor.process.kill()
    wait_until(lambda: not executor.processes())


def test_sigterm_ends_everything(executor: Executor) -> None:
    name = executor.submit(
        "import os, time\ndef main():\n    os.system('setsid sleep 600 &')\n    print('on')\n    time.sleep(600)\n"
    )
    executor.logged(name, "on")
    executor.process.terminate()
    executor.ended()
    wait_until(lambda: not executor.processes())


def test_410_ends_the_executor_well(executor: Executor) -> None:
    executor.run("def main(): pass\n")
    with executor.plane.changed:
        executor.plane.stop_polls = True
        executor.plane.changed.notify_all()
    assert executor.ended() == 0
    wait_until(lambda: not executor.processes())


def test_a_refused_token_ends_the_executor(make_executor: Make) -> None:
    plane = ControlPlane()
    plane.fault = lambda call: (401, {"code": "unauthenticated"})
    executor = make_executor(plane=plane)
    assert executor.ended() == 1
    assert "refused" in executor.output.read_text()


def test_another_version_of_the_protocol_ends_the_executor(make_executor: Make) -> None:
    plane = ControlPlane()
    plane.protocol = 2
    executor = make_executor(plane=plane)
    assert executor.ended() == 1
    assert executor.output.read_text() == (
        "roost sidecar: the control plane refused this executor (status 422 (validation_failed)): "
        "This control plane speaks version 2; the executor speaks version 1.\n"
    )
    assert set(plane.polls[0][1]) == {"protocol", "polls", "python", "prepared", "drafts"}
    assert len(plane.polls) == 1


def test_the_token_file_is_removed_and_a_new_token_taken(executor: Executor) -> None:
    executor.plane.new_token = "fresh"
    executor.run("def main(): pass\n")
    executor.run("")
    assert not executor.token.exists()
    tokens = [token for _, token in executor.plane.requests]
    assert tokens[0] == "Bearer secret" and tokens[-1] == "Bearer fresh"


def test_a_directory_that_vanishes_ends_the_executor(executor: Executor) -> None:
    executor.run("def main(): pass\n")
    executor.await_idle()
    # What the executor writes at this moment may keep a directory from being removed.
    while executor.directory.exists():
        shutil.rmtree(executor.directory, ignore_errors=True)
    assert executor.ended() == 1


def test_an_interpreter_that_does_not_start_ends_the_executor(
    make_executor: Make,
) -> None:
    executor = make_executor(runner="/bin/false")
    assert executor.ended() == 1
    assert "the runner didn't start" in executor.output.read_text()


def test_a_directory_with_a_long_path_will_do(tmp_path: Any) -> None:
    directory = tmp_path / ("d" * 120)
    executor = Executor(directory)
    try:
        result = executor.run("def main(r, store):\n    store['a'] = 1\n    return store['a']\n")
        assert result.value == 1
    finally:
        executor.close()


def test_a_sidecar_with_a_parent_ends_with_it_and_so_does_the_script(tmp_path: Path) -> None:
    plane = ControlPlane()
    plane.queue.append(merged(WORK, {"agent": {"script": "import time\ndef main():\n    time.sleep(600)"}}))
    directory, token = tmp_path / "executor", tmp_path / "token"
    token.write_text("secret\n")
    command = [PYTHON, "-I", "-B", str(PACKAGE), "sidecar", "--url", plane.url, "--executor", "executor_1"]
    command += ["--token-file", str(token), "--directory", str(directory), "--runner", PYTHON]
    start = "import os, subprocess, sys; subprocess.run([*sys.argv[1:], '--parent', str(os.getpid())])"
    parent = subprocess.Popen([PYTHON, "-c", start, *command])
    plane.wait_for(lambda: plane.frames.get("exec_contract"))
    assert processes_of(directory)
    parent.kill()
    parent.wait()
    wait_until(lambda: not processes_of(directory))
    plane.stop()
