"""One execution is no other's neighbour: what a hostile script (hostile.py) tries, and that it fails."""

import json
import os
from pathlib import Path
from typing import Any, Callable

import pytest
from executor import Executor, Jobs, wait_until
from pod import Pod, leftovers

HOSTILE = Path(__file__).with_name("hostile.py").read_text(encoding="utf-8")
MakePod = Callable[[], Pod]
EVERYWHERE = ["/tmp", "/work", "/dev/shm", "/dev/mqueue"]


def attack(jobs: Jobs, name: str, **arguments: Any) -> Any:
    """Runs a function of the hostile script; its result."""
    payload = json.dumps({"run": name, "with": arguments})
    return jobs.run(HOSTILE, payload=payload, memory_mib=512).value


def check_neighbour(jobs: Jobs) -> None:
    """The execution after it is what it would have been."""
    jobs.plane.stores.put("store_main", "source", json.dumps(HOSTILE))
    assert jobs.run(HOSTILE).value == {
        "source": True,
        "touched": False,
        "module": False,
        "beside": ["agent.py"],
        "here": [],
        "temporary": [],
        "arguments": True,
    }


@pytest.fixture
def container(make_pod: MakePod) -> Pod:
    """A pod in which `/tmp` and the like are its own."""
    pod = make_pod()
    if not pod.isolated:
        pytest.skip("only in containers")
    return pod.start()


@pytest.fixture
def neighbours(make_pod: MakePod) -> Pod:
    """A pod whose scripts aren't root, which may do all of this."""
    pod = make_pod()
    if not pod.isolated and os.geteuid() == 0:
        pytest.skip("root may trace everything; the pod of containers has its own user")
    return pod.start()


@pytest.mark.parametrize("name", ["change_script", "replace_directory", "replace_file", "replace_work", "forge_code"])
def test_the_next_execution_runs_the_script_as_it_came(executor: Executor, name: str) -> None:
    attack(executor, name)
    check_neighbour(executor)
    attack(executor, name)
    check_neighbour(executor)


def test_the_first_execution_cannot_leave_code_either_when_its_script_was_not_compiled(executor: Executor) -> None:
    broken = executor.run("def main(:\n")
    assert broken.reason == "syntax_error"
    assert executor.run("").reason == "syntax_error"


def test_a_forged_frame_of_another_execution_is_refused(executor: Executor) -> None:
    other = executor.submit(HOSTILE, payload='{"run": "forge_result", "with": {"execution": "exec_other"}}')
    executor.finished(other)  # which spoils no more than its own result
    assert "exec_other" not in executor.plane.frames
    check_neighbour(executor)


def test_the_local_temporary_directory_is_an_executions_own(executor: Executor, tmp_path: Path) -> None:
    script = """
        import os, tempfile

        def main(request):
            directory = tempfile.mkdtemp()
            found = os.listdir(os.environ["TMPDIR"])
            with open(os.path.join(directory, "large"), "wb") as file:
                file.write(b"x" * 3_000_000)
            while request.payload and True:
                pass
            return [found == [os.path.basename(directory)], os.path.realpath(directory), os.environ["TMPDIR"]]
        """
    first, second = executor.run(script).value, executor.run("").value
    assert first[0] and second[0] and first[2] == second[2]
    assert Path(first[1]).parent == executor.directory / "tmp" and not Path(first[1]).exists()
    assert len(first[2]) < 60  # a socket's path has 107 bytes
    result = executor.run("", payload="1", limits={"disk_mib": 2})
    assert result.reason == "out_of_disk" and "2 MiB" in result.last["message"]
    assert executor.run("").value[0]
    executor.close()
    assert not os.path.lexists(first[2])


def test_what_a_local_script_leaves_elsewhere_in_its_runners_directory_goes(executor: Executor) -> None:
    assert attack(executor, "leave_files", places=[])
    assert (
        attack(executor, "find_left", places=[str(executor.directory / "work"), str(executor.directory / "tmp")]) == []
    )
    check_neighbour(executor)


def test_what_a_script_leaves_in_a_container_goes(container: Pod) -> None:
    check_neighbour(container)
    left = attack(container, "leave_files", places=EVERYWHERE)
    assert {"/tmp", "/work", "/dev/shm"} <= set(left)
    assert attack(container, "find_left", places=EVERYWHERE) == []
    for _ in range(3):  # each alone fits, two of them would not
        attack(container, "fill_shared_memory")
    for _ in range(2):
        assert attack(container, "leave_queues") == [True, True, True]
    check_neighbour(container)


def test_files_outside_the_working_directory_count_in_a_container(container: Pod) -> None:
    script = "def main():\n    open('/tmp/x', 'wb').write(b'x' * 5_000_000)\n    while True: pass\n"
    assert container.run(script, limits={"disk_mib": 2}).reason == "out_of_disk"
    assert container.run("", limits={"disk_mib": 2}).reason == "out_of_disk"


def test_processes_that_went_far_away_are_killed(pod: Pod) -> None:
    assert len(attack(pod, "leave_processes")) == 3
    wait_until(lambda: leftovers(pod.runner.id) == [])
    check_neighbour(pod) if pod.isolated else None


def test_the_runner_cannot_be_looked_into(neighbours: Pod) -> None:
    assert attack(neighbours, "look_into_parent") == []


def test_a_script_can_still_look_at_its_own_processes(neighbours: Pod) -> None:
    readable, own, done = attack(neighbours, "look_into_itself")
    assert readable and own
    assert {"mem", "environ", "fd/1", "maps"} <= set(done)


def test_sidecar_and_runner_are_out_of_reach_for_other_programs_of_their_user(pod: Pod) -> None:
    pod.run("def main(): pass\n")
    for container in (pod.sidecar, pod.runner):
        # The owner of the files that only a tracer may open: root, unless it is dumpable.
        assert os.stat(f"/proc/{container.id}/fd").st_uid == 0
