"""Sidecar and runner started apart from each other, as the containers of a pod are."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Callable

import pytest
from executor import PACKAGE, wait_until
from pod import BOOT, RUNNER_USER, Pod, children, interpreter, leftovers

MakePod = Callable[[], Pod]


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


def test_a_script_has_no_address_of_the_api_server(pod: Pod) -> None:
    script = """
        import os
        import subprocess
        import sys

        def main():
            places = {"variables": " ".join(os.environ), "of a child": subprocess.check_output(["env"], text=True)}
            for process in ("self", "1", str(os.getppid())):
                try:
                    with open(f"/proc/{process}/environ", encoding="utf-8", errors="replace") as file:
                        places[process] = file.read()
                except OSError:
                    pass
            assert "PATH=" in places["self"]
            return [place for place, text in places.items() if "KUBERNETES_" in text]
        """
    assert pod.run(script).value == []


def test_executions_are_forked_from_a_template(pod: Pod) -> None:
    script = "import sys\nEARLY = 'sqlite3' in sys.modules\nimport sqlite3, unittest.mock, xml.dom.minidom\n"
    script += "def main():\n    return EARLY\n"
    learn = {"preload": {"modules": None}}
    assert pod.run(script, agent=learn).value is False
    (report,) = pod.plane.wait_for(lambda: pod.plane.preloaded)
    assert "sqlite3" in report["modules"] and report["left_out"] == []
    assert pod.run(script, agent=learn).value is True
    assert pod.run(script, agent=learn).value is True
    wait_until(lambda: len(children(pod.runner.id)) == 2)  # the template, and the process of the next execution


def test_what_a_script_leaves_running_is_ended(pod: Pod) -> None:
    pod.run("import os\ndef main():\n    os.system('setsid sleep 600 & setsid setsid sleep 600 &')\n")
    assert leftovers(pod.runner.id) == []
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
    assert sources(PACKAGE) == sources(published)
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
    times = [moment for moment, _ in plane.polls[:50]]
    gaps = sorted(later - earlier for earlier, later in zip(times, times[1:]))
    assert gaps[len(gaps) // 2] < 0.05  # the shortest pause
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


@pytest.mark.parametrize("make_pod", ["containers"], indirect=True)
def test_the_first_process_of_the_container_takes_care_of_orphans(make_pod: MakePod) -> None:
    pod = make_pod().start()
    pod.run("def main(): pass\n")
    target = ["nsenter", "--target", str(pod.runner.id), "--pid", "--mount", "/bin/sh", "-c", "(sleep 0.05 & echo $!)"]
    subprocess.run(target, check=True, capture_output=True)
    wait_until(lambda: leftovers(pod.runner.id) == [])


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
        (["runner"], "runner requires --directory"),
        (["runner", "--directory"], "--directory requires a value"),
        (["runner", "--directory=d", "--url=u"], "runner has no option --url"),
    ],
)
def test_a_wrong_command_line_is_explained(arguments: "list[str]", message: str) -> None:
    ended = subprocess.run([sys.executable, str(PACKAGE), *arguments], capture_output=True, text=True, check=False)
    assert ended.returncode == 2 and message in ended.stderr


def sources(package: Path) -> "set[str]":
    return {str(path.relative_to(package)) for path in package.rglob("*.py")}


def test_published_code_is_for_all_and_stays_compiled(tmp_path: Path) -> None:
    command = "import sys; sys.path.append(sys.argv[1]); from roost_executor.sidecar.publish import publish; publish(sys.argv[2])"
    package = tmp_path / "image/roost_executor"
    for name in sources(PACKAGE):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_bytes((PACKAGE / name).read_bytes())
        os.utime(package / name, (1_700_000_000, 1_700_000_000))
    subprocess.run([sys.executable, "-m", "compileall", "-q", str(package)], check=True)
    code = tmp_path / "link/code"
    for _ in range(2):  # a second time changes nothing
        subprocess.run(
            ["sh", "-c", 'umask 077; exec "$@"', "sh", sys.executable, "-c", command, str(package.parent), str(code)],
            check=True,
        )
    published = code / "roost_executor"
    assert os.listdir(code) == ["roost_executor"]
    for directory in ("__pycache__", "runner/__pycache__"):
        assert sorted(os.listdir(published / directory)) == sorted(os.listdir(package / directory))
    assert (published / "runner/runner.py").stat().st_mtime == 1_700_000_000
    assert (published / "runner/runner.py").stat().st_mode & 0o777 == 0o644
    assert published.stat().st_mode & 0o777 == 0o755
    used = subprocess.check_output(
        [
            sys.executable,
            "-I",
            "-v",
            "-c",
            f"import sys; sys.path.append({str(code)!r}); import roost_executor.wire.clock",
        ],
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert f"matches {published}/wire/clock.py" in used
