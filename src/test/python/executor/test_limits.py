"""Time, memory, disk and processes: what the runner enforces, and that nothing is left behind."""

import os

import pytest
from executor import Executor, wait_until

LIMITS = {"grace_seconds": 0.5}


def alive(process: int) -> bool:
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_an_endless_loop_times_out(executor: Executor) -> None:
    result = executor.run("def main():\n    while True: pass\n", timeout_seconds=0.5, limits=LIMITS)
    assert (result.last["state"], result.reason) == ("timed_out", "deadline_exceeded")
    assert "0.5 s" in result.last["message"]


def test_a_script_that_ignores_sigterm_is_killed_after_the_grace(executor: Executor) -> None:
    result = executor.run(
        """
        import signal, time

        def main():
            signal.signal(signal.SIGTERM, lambda *_: print("not yet"))
            print("ready")
            while True:
                time.sleep(0.1)
        """,
        timeout_seconds=2.0,
        limits={"grace_seconds": 2.0},
    )
    assert result.last["state"] == "timed_out" and result.lines == ["ready", "not yet"]


def test_a_script_may_clean_up_when_its_time_is_over(executor: Executor) -> None:
    result = executor.run(
        """
        import signal, sys, time

        def main():
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
            try:
                time.sleep(600)
            finally:
                print("cleaned up")
        """,
        timeout_seconds=2.0,
    )
    assert result.last["state"] == "timed_out" and result.lines == ["cleaned up"]


def test_a_cancel_takes_effect_soon(executor: Executor) -> None:
    name = executor.submit("import time\ndef main():\n    print('on')\n    time.sleep(600)\n")
    executor.logged(name, "on")
    executor.plane.cancel(name)
    result = executor.finished(name, 20)
    assert (result.last["state"], result.reason) == ("cancelled", "cancelled")


def test_a_cancel_reaches_an_execution_under_way_for_longer(executor: Executor) -> None:
    name = executor.submit("import time\ndef main():\n    print('on')\n    time.sleep(600)\n")
    path = f"/internal/v1/executions/{name}/frames"
    wait_until(lambda: sum(1 for p, _ in executor.plane.requests if p == path) >= 2)  # a heartbeat
    executor.plane.cancel(name)
    assert executor.finished(name).last["state"] == "cancelled"


@pytest.mark.parametrize(
    "code",
    [
        "data = []\n    while True: data.append(bytearray(10_000_000)); time.sleep(0.005)",
        "data = b'x' * (1 << 36)",
        "subprocess.run([sys.executable, '-c', 'import time; d = bytearray(b\"x\" * 120_000_000); time.sleep(60)'])",
        "raise MemoryError",
    ],
)
def test_too_much_memory(executor: Executor, code: str) -> None:
    result = executor.run(f"import subprocess, sys, time\ndef main():\n    {code}\n", memory_mib=100)
    assert result.reason == "out_of_memory" and "100 MiB" in result.last["message"]
    assert executor.run("", memory_mib=100).reason == "out_of_memory"  # and the executor is unharmed


def test_memory_that_forks_share_counts_once(executor: Executor) -> None:
    result = executor.run(
        """
        import os, time

        def main():
            data = bytearray(b"x" * 60_000_000)
            for _ in range(6):
                if os.fork() == 0:
                    time.sleep(60)
            time.sleep(0.5)
            return len(data)
        """,
        memory_mib=150,
    )
    assert result.value == 60_000_000


def test_a_fork_bomb_is_ended(executor: Executor) -> None:
    result = executor.run(
        """
        import os, time

        def main():
            while True:
                if os.fork() == 0:
                    os.setsid()
                    time.sleep(600)
        """,
        limits={"processes": 40},
        memory_mib=4096,
    )
    assert result.reason == "too_many_processes" and "its limit is 40" in result.last["message"]
    executor.await_idle()


def test_a_fork_bomb_whose_children_fork_too_is_ended(executor: Executor) -> None:
    result = executor.run(
        """
        import os

        def main():
            while True:
                os.fork()
        """,
        limits={"processes": 20},
        memory_mib=4096,
    )
    assert result.reason == "too_many_processes"
    executor.await_idle()


def test_a_full_working_directory(executor: Executor) -> None:
    result = executor.run(
        """
        import time

        def main():
            with open("file", "wb") as file:
                file.write(b"x" * 5_000_000)
            time.sleep(60)
        """,
        limits={"disk_mib": 2},
    )
    assert result.reason == "out_of_disk" and "2 MiB" in result.last["message"]


def test_a_full_disk_under_the_script(executor: Executor) -> None:
    result = executor.run("def main():\n    with open('/dev/full', 'w') as f: f.write('x')\n")
    assert result.reason == "out_of_disk"


@pytest.mark.parametrize(
    "leftover",
    [
        "subprocess.Popen(['sleep', '600'])",
        "subprocess.Popen(['sleep', '600'], start_new_session=True)",
        "os.system('setsid sleep 600 & setsid setsid sleep 600 &')",
        "subprocess.Popen(['sh', '-c', 'trap \"\" TERM HUP; while :; do sleep 1; done'])",
        "subprocess.Popen(['yes'])",
    ],
)
def test_what_a_script_leaves_running_is_ended(executor: Executor, leftover: str) -> None:
    result = executor.run(
        f"import os, subprocess\ndef main():\n    {leftover}\n    return os.getpid()\n",
        limits={"log_bytes": 1000, "log_tail_bytes": 1000},
    )
    assert not alive(result.value)
    executor.await_idle()


def test_a_script_that_kills_its_parent_loses_the_execution_and_leaves_nothing(
    executor: Executor,
) -> None:
    result = executor.run(
        """
        import os, subprocess, time

        def main():
            subprocess.Popen(["sleep", "600"], start_new_session=True)
            print("shot")
            time.sleep(0.2)
            os.kill(os.getppid(), 9)
            time.sleep(600)
        """
    )
    assert (result.last["state"], result.reason) == ("lost", "executor_lost")
    assert "SIGKILL" in result.last["message"]
    assert executor.ended() != 0
    wait_until(lambda: not executor.processes())


def test_the_executor_serves_on_after_each_of_these(executor: Executor) -> None:
    script = """
        import os, time

        def main(request):
            eval(request.payload)
            return "fine"
        """
    for code in ("os._exit(1)", "os.abort()", "time.sleep(600)", "b'x' * (1 << 40)"):
        executor.run(script, payload=f'"{code}"', timeout_seconds=0.3, limits=LIMITS)
        assert executor.run(script, payload='"1"').value == "fine"
    assert os.path.isdir(executor.directory)
