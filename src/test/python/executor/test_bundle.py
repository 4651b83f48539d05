"""The files of a project: what a script finds, and how the sidecar fetches them."""

import hashlib
import json
import os
import signal
import stat
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Callable, Union

import pytest
from bundle_plane import PART_BYTES
from executor import PACKAGE, Executor, Jobs, Result, wait_until
from pod import Pod

sys.path.insert(0, str(PACKAGE.parent))

from roost_executor import sandbox  # noqa: E402
from roost_executor.files import remove_tree  # noqa: E402

Make = Callable[..., Executor]
Files = Mapping[str, Union[str, bytes]]

PROJECT: "Files" = {
    "src/main.py": """
import json, os, sys
from pathlib import Path

import helper
from pkg import mod
from pkg.deep import value
import top

def main(request):
    here = Path(__file__).resolve()
    return {
        "modules": [helper.NAME, mod.NAME, value.NAME, top.NAME],
        "name": __name__,
        "file": os.path.join(*here.parts[-2:]),
        "beside": (here.parent / "data.txt").read_text(),
        "relative": open("data/table.csv").read(),
        "root": (here.parent.parent / "data/table.csv").read_text(),
        "here": sorted(os.listdir(".")),
        "paths": [os.path.relpath(path, here.parent.parent) for path in sys.path[:2]],
        "own": os.access(os.getcwd(), os.W_OK) and open("own.txt", "w").write("x"),
    }
""",
    "src/helper.py": "NAME = 'helper'\n",
    "src/data.txt": "beside",
    "src/pkg/__init__.py": "",
    "src/pkg/mod.py": "from . import deep\nNAME = 'pkg.mod'\n",
    "src/pkg/deep/__init__.py": "",
    "src/pkg/deep/value.py": "from ..mod import NAME as OTHER\nNAME = 'deep of ' + OTHER\n",
    "top.py": "NAME = 'top'\n",
    "data/table.csv": "a,b\n",
}


def run(executor: Jobs, files: "Files", **changes: Any) -> Result:
    """Runs the first of the files."""
    return executor.finished(submit(executor, files, **changes))


def submit(executor: Jobs, files: "Files", **changes: Any) -> str:
    bundles = executor.plane.bundles
    if not bundles.packs:
        bundles.put(files, gap=changes.pop("gap", 0))
    script = next(iter(files))
    bundle = {"id": "bundle_1", "script": script}
    agent = {"script": files[script], "bundle": bundle, **changes.pop("agent", {})}
    return executor.submit("", **{**changes, "agent": agent})


@pytest.mark.parametrize("preload", ["off", "auto"])
def test_a_script_imports_its_modules_and_reads_its_files(executor: Executor, preload: str) -> None:
    agent = {} if preload == "off" else {"preload": {"modules": ["decimal"]}}
    expected = {
        "modules": ["helper", "pkg.mod", "deep of pkg.mod", "top"],
        "name": "main",
        "file": "src/main.py",
        "beside": "beside",
        "relative": "a,b\n",
        "root": "a,b\n",
        "here": ["data", "src", "top.py"],
        "paths": ["src", "."],
        "own": 1,
    }
    for _ in range(3):  # forked from the runner, and from the template
        assert run(executor, PROJECT, agent=agent).value == expected
    assert len(executor.plane.bundles.requests) == 2, "it is fetched once"


def test_packages_below_src_are_found_from_a_script_at_the_root(executor: Executor) -> None:
    files = {
        "main.py": "from library import VALUE\n\ndef main():\n    return VALUE\n",
        "src/library/__init__.py": "VALUE = 7\n",
    }
    assert run(executor, files).value == 7


def test_the_files_are_as_they_were_deployed_and_read_only(executor: Executor) -> None:
    executor.plane.bundles.put(
        {"main.py": "def main():\n    return 1\n", "bin/tool.sh": "#!/bin/sh\n", "empty/none": ""}, ("bin/tool.sh",)
    )
    assert run(executor, {"main.py": "def main():\n    return 1\n"}).value == 1
    root = executor.directory / "bundle" / "bundle_1"
    modes = {str(path.relative_to(root)): stat.S_IMODE(path.lstat().st_mode) for path in root.rglob("*")}
    assert modes == {
        "main.py": 0o444,
        "bin": 0o555,
        "bin/tool.sh": 0o555,
        "empty": 0o555,
        "empty/none": 0o444,
    }
    assert stat.S_IMODE(root.stat().st_mode) == 0o555
    assert os.listdir(root.parent) == ["bundle_1"]
    remove_tree(str(root))
    assert not root.exists()


@pytest.mark.skipif(sandbox.landlock_abi() < 1, reason="nothing can be confined here")
def test_a_confined_script_reads_its_files_and_cannot_change_them(tmp_path: Path, make_executor: Make) -> None:
    executor = make_executor(sandbox={"private": [str(tmp_path)]})
    files = {
        "main.py": """
import os, helper

def attempt(call, *arguments):
    try:
        call(*arguments)
        return "done"
    except OSError as error:
        return type(error).__name__

def main():
    root = os.path.dirname(__file__)
    return [
        helper.VALUE,
        open("data/x").read(),
        attempt(open, __file__, "a"),
        attempt(open, root + "/new.py", "w"),
        attempt(os.chmod, root, 0o777) and attempt(open, "data/new", "w"),
        attempt(os.unlink, root + "/data/x"),
        attempt(os.listdir, os.path.dirname(root)),
    ]
""",
        "helper.py": "VALUE = 1\n",
        "data/x": "x",
    }
    expected = [1, "x", *["PermissionError"] * 5]
    for _ in range(2):
        assert run(executor, files).value == expected
    draft = "import helper\n\ndef main():\n    return [helper.VALUE, open('data/x').read()]\n"
    assert run(executor, files, draft=draft).value == [1, "x"]


def test_failures_name_files_by_their_path_in_the_project(executor: Executor) -> None:
    files = {
        "src/main.py": "from pkg import mod\n\ndef main(request):\n    return mod.divide(request.payload)\n",
        "src/pkg/mod.py": "def divide(number):\n    return 1 / number\n",
    }
    for _ in range(2):
        error = run(executor, files, payload="0").last["error"]
        assert error["line"] == 4
        assert error["traceback"] == (
            "Traceback (most recent call last):\n"
            '  File "src/main.py", line 4, in main\n'
            "    return mod.divide(request.payload)\n"
            '  File "src/pkg/mod.py", line 2, in divide\n'
            "    return 1 / number\n"
            "ZeroDivisionError: division by zero"
        )


def test_syntax_errors_name_their_file(make_executor: Make) -> None:
    error = run(make_executor(), {"src/main.py": "def main(:\n    pass\n"}).last["error"]
    assert error["traceback"].startswith('  File "src/main.py", line 1\n')
    files = {"main.py": "import other\n\ndef main():\n    pass\n", "other.py": "x = = 1\n"}
    failed = run(make_executor(), files).last
    assert 'File "other.py", line 1' in failed["error"]["traceback"]
    assert 'File "main.py", line 1' in failed["error"]["traceback"]


def test_a_draft_runs_in_the_place_of_the_script(executor: Executor) -> None:
    draft = """
import os, sys
import multiprocessing
import helper
from pathlib import Path

def double(number):
    return 2 * number

def main(request):
    if request.payload:
        raise ValueError("of the draft")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        doubled = pool.map(double, [21])
    return [helper.NAME, (Path(__file__).parent / "data.txt").read_text(), open("data/table.csv").read(), doubled]
"""
    for _ in range(2):
        assert run(executor, PROJECT, draft=draft).value == ["helper", "beside", "a,b\n", [42]]
        assert run(executor, PROJECT).value["name"] == "main"
    error = run(executor, PROJECT, draft=draft, payload="1").last["error"]
    assert error["traceback"] == (
        "Traceback (most recent call last):\n"
        '  File "src/main.py", line 12, in main\n'
        '    raise ValueError("of the draft")\n'
        "ValueError: of the draft"
    )
    assert (executor.directory / "bundle/bundle_1/src/main.py").read_text() == PROJECT["src/main.py"]


def test_new_processes_import_the_script_and_its_modules(executor: Executor) -> None:
    files = {
        "src/main.py": """
import multiprocessing
import pickle

from pkg import mod

def double(number):
    return 2 * number

def main():
    assert pickle.loads(pickle.dumps(double)) is double
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.map(double, [21]) + pool.map(mod.triple, [3])
""",
        "src/pkg/mod.py": "def triple(number):\n    return 3 * number\n",
    }
    assert run(executor, files).value == [42, 9]


def test_a_script_with_the_name_of_a_module_of_python_hides_nothing(executor: Executor) -> None:
    assert run(executor, {"json.py": "def main():\n    return __name__\n"}).value == "agent"


def test_several_executions_share_the_files(executor: Executor) -> None:
    files = {
        "main.py": "import helper, os\n\nasync def main(request):\n    return [helper.VALUE, open('x').read(), os.getpid()]\n",
        "helper.py": "VALUE = 1\n",
        "x": "x",
    }
    agent = {"requests_per_process": 3}
    results = [executor.finished(submit(executor, files, agent=agent)).value for _ in range(4)]
    assert {tuple(result) for result in results} == {(1, "x", results[0][2])}
    draft = "import helper\n\nasync def main():\n    return ['draft', helper.VALUE, open('x').read()]\n"
    assert executor.finished(submit(executor, files, agent=agent, draft=draft)).value == ["draft", 1, "x"]
    assert run(executor, files, agent=agent).value[:2] == [1, "x"]
    assert len(executor.plane.bundles.requests) == 2


def test_only_needed_parts_are_fetched_through_failures(executor: Executor) -> None:
    large = os.urandom(2 * PART_BYTES + 1000)
    script = (
        "import hashlib\n\ndef main():\n"
        "    return [hashlib.sha256(open(name, 'rb').read()).hexdigest() for name in ('large', 'copy')]\n"
    )
    files: dict[str, Any] = {"main.py": script, "large": large, "copy": large, "other": "x"}
    bundles = executor.plane.bundles
    bundles.put({"main.py": script}, gap=5 * PART_BYTES - 10)
    bundles.files.clear()
    failures: dict[str, int] = {}

    def fault(request: "dict[str, Any]") -> Any:
        count = failures[str(request)] = failures.get(str(request), 0) + 1
        return [None, (503, {"code": "unavailable"}), (None, None)][3 - count] if count < 3 else None

    bundles.fault = fault
    bundles.put(files, gap=6 * PART_BYTES)
    bundles.packs.append(b"of no use")
    digest = hashlib.sha256(large).hexdigest()
    assert run(executor, files).value == [digest, digest]
    fetched = [(each["pack"], each["part"]) for each in bundles.requests if "part" in each]
    assert sorted(set(fetched)) == [(1, 6), (1, 7), (1, 8)]
    assert len(fetched) == 9 and fetched == sorted(fetched)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((410, {"code": "gone"}), "the storage of files"),
        ((404, {"code": "not_found"}), "the storage of files"),
        ((200, b"x" * 20), "another digest"),
        ((200, b"x" * 5), "5 bytes instead of"),
    ],
)
def test_lost_files_end_the_execution_for_good(executor: Executor, answer: "tuple[int, Any]", said: str) -> None:
    bundles = executor.plane.bundles
    bundles.fault = lambda request: answer if "part" in request else None
    files = {"main.py": "main = lambda: 12345"}
    result = run(executor, files)
    assert result.reason == "bundle_lost" and result.last["state"] == "failed"
    assert said in result.last["message"] and result.last["message"].endswith("Deploy the project again")
    assert result.frames == [result.last]
    assert os.listdir(executor.directory / "bundle") == []
    bundles.fault = None  # the next one of the same executor gets them
    assert run(executor, files).value == 12345


@pytest.mark.parametrize("path", ["../out.py", "/etc/out", "a/../../out", "a//b", ".", "a\\b", "a\nb", "x/" * 32 + "y"])
def test_a_path_outside_of_the_directory_is_refused(executor: Executor, path: str) -> None:
    result = run(executor, {"main.py": "def main():\n    pass\n", path: "out"})
    assert result.reason == "bundle_lost" and "path" in result.last["message"]
    assert not list(executor.directory.parent.rglob("out*.py"))


def test_paths_that_exclude_each_other_are_refused(executor: Executor) -> None:
    result = run(executor, {"main.py": "def main():\n    pass\n", "a": "1", "a/b": "2"})
    assert result.last["type"] == "failed"


def test_the_lease_is_kept_while_the_files_come(executor: Executor) -> None:
    bundles = executor.plane.bundles
    seen: list[int] = []

    def fault(request: "dict[str, Any]") -> Any:
        if "part" in request and len(seen) < 1:
            name = next(iter(executor.plane.heartbeats), "")
            wait_until(lambda: executor.plane.heartbeats.get(name or "exec_1", 0) >= 2)
            seen.append(executor.plane.heartbeats["exec_1"])
        return None

    bundles.fault = fault
    started = time.monotonic()
    assert run(executor, {"main.py": "def main():\n    return 1\n"}).value == 1
    assert seen[0] >= 2 and time.monotonic() - started < 20


def test_an_execution_is_cancelled_while_the_files_come(executor: Executor) -> None:
    executor.plane.bundles.fault = lambda request: (503, {"code": "unavailable"}) if "part" in request else None
    files = {"main.py": "def main():\n    return 1\n"}
    name = submit(executor, files)
    executor.plane.wait_for(lambda: executor.plane.heartbeats.get(name))
    executor.plane.cancel(name)
    last = executor.finished(name).last
    assert (last["state"], last["reason"]) == ("cancelled", "cancelled")
    executor.plane.bundles.fault = None
    assert run(executor, files).value == 1


def test_an_execution_that_was_given_away_is_forgotten(executor: Executor) -> None:
    executor.plane.bundles.fault = lambda request: (503, {"code": "unavailable"}) if "part" in request else None
    files = {"main.py": "def main():\n    return 1\n"}
    name = submit(executor, files)
    executor.plane.wait_for(lambda: executor.plane.heartbeats.get(name))
    executor.plane.disown(name)
    executor.plane.wait_for(lambda: len(executor.plane.polls) > 1)
    executor.plane.bundles.fault = None
    assert run(executor, files).value == 1
    assert not executor.plane.frames.get(name)


def test_files_that_do_not_come_in_time_end_the_execution(executor: Executor) -> None:
    executor.plane.bundles.fault = lambda request: (503, {"code": "unavailable"})
    result = run(executor, {"main.py": "def main():\n    return 1\n"}, timeout_seconds=1.0)
    assert (result.last["state"], result.reason) == ("timed_out", "deadline_exceeded")
    assert "files of the project" in result.last["message"]


def test_another_directory_and_one_that_is_there(tmp_path: Path, make_executor: Make) -> None:
    executor = make_executor(bundle=tmp_path / "shared")
    files = {"main.py": "import helper\n\ndef main():\n    return helper.__file__\n", "helper.py": ""}
    assert run(executor, files).value == str(tmp_path / "shared/bundle_1/helper.py")
    local = tmp_path / "local"
    local.mkdir()
    (local / "main.py").write_text("import helper\n\ndef main():\n    return helper.VALUE\n")
    (local / "helper.py").write_text("VALUE = 'local'\n")
    second = make_executor()
    bundle = {"directory": str(local), "script": "main.py"}
    assert second.run((local / "main.py").read_text(), agent={"bundle": bundle}).value == "local"
    assert second.plane.bundles.requests == []


def test_the_files_are_not_counted_as_the_execution_s(executor: Executor) -> None:
    files = {"main.py": "import time\n\ndef main():\n    time.sleep(1.5)\n    return 1\n", "large": b"x" * (3 << 20)}
    assert run(executor, files, limits={"disk_mib": 2}).value == 1


def test_a_script_of_a_store_step_fails_with_the_path_in_the_project(executor: Executor) -> None:
    files = {
        "src/main.py": """
from pkg import mod

def main(request):
    try:
        request.step("charge", mod.fail)
    except ValueError:
        return 1
""",
        "src/pkg/mod.py": "def fail():\n    raise ValueError('x')\n",
    }
    assert run(executor, files).value == 1
    assert 'File "src/pkg/mod.py", line 2, in fail' in json.dumps(executor.plane.job.steps).replace('\\"', '"')


def test_in_a_pod_the_sidecar_writes_and_the_script_reads(pod: Pod) -> None:
    for _ in range(3):
        value = run(pod, PROJECT).value
        assert value["modules"] == ["helper", "pkg.mod", "deep of pkg.mod", "top"]
        assert value["here"] == ["data", "src", "top.py"]
    files = (pod.directory / "bundle/bundle_1").rglob("*")
    assert all(path.is_dir() or path.stat().st_mode & 0o777 == 0o444 for path in files)


def test_a_pod_that_ends_while_the_files_come_gives_the_execution_away(pod: Pod) -> None:
    pod.plane.bundles.fault = lambda request: (503, {"code": "unavailable"}) if "part" in request else None
    name = submit(pod, PROJECT)
    pod.plane.wait_for(lambda: pod.plane.heartbeats.get(name))
    for container in (pod.sidecar, pod.runner):
        container.send(signal.SIGTERM)
    last = pod.finished(name).last
    assert (last["state"], last["reason"]) == ("lost", "executor_lost")
    assert pod.sidecar.ended() == 128 + signal.SIGTERM


def test_modules_are_compiled_once_for_later_executions(executor: Executor) -> None:
    files = {
        "src/main.py": (
            "from pkg import mod\n\ndef main(request):\n"
            "    return [type(mod.__loader__).__name__, mod.f(request.payload), mod.__spec__.origin[-14:]]\n"
        ),
        "src/pkg/mod.py": "import string\n\ndef f(number):\n    return 6 / number\n",
        "src/pkg/broken.py": "x = = 1\n",
        "src/pkg/other.py": "raise SystemExit('nothing of the project is run before it is imported')\n",
        "top.py": "x = '\\q'\n",
    }
    end = time.monotonic() + 60
    while (value := run(executor, files, payload="2").value)[0] != "PrecompiledLoader":
        assert value == ["SourceFileLoader", 3.0, "src/pkg/mod.py"]
        assert time.monotonic() < end
    assert value == ["PrecompiledLoader", 3.0, "src/pkg/mod.py"]
    error = run(executor, files, payload="0").last["error"]
    assert 'File "src/pkg/mod.py", line 4, in f\n    return 6 / number' in error["traceback"]
    assert not list((executor.directory / "bundle").rglob("__pycache__"))
