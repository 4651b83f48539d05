"""Preloaded imports: what a template imports, what is left out and why, and that no execution fails for it."""

import ctypes
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable

import executor as executors
import pytest
from executor import PACKAGE, PYTHON, Executor, wait_until

sys.path.append(str(PACKAGE.parent))
from roost_executor.runner import template  # noqa: E402

LEARN = {"preload": {"modules": None}}
# Long enough to be worth a template.
SLOW = "import time; time.sleep(0.02)\n"


class Environment:
    """A virtual environment whose packages a test writes."""

    def __init__(self, directory: Path) -> None:
        subprocess.run([PYTHON, "-m", "venv", "--without-pip", str(directory)], check=True)
        self.python = str(directory / "bin/python")
        self._packages = next((directory / "lib").glob("python*")) / "site-packages"

    def module(self, name: str, text: str) -> None:
        """Installs a module."""
        path = self._packages / f"{name.replace('.', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    return Environment(tmp_path / "environment")


class Preloading:
    """An executor whose first execution has run and whose template has reported."""

    def __init__(self, executor: Executor, script: str, **changes: Any) -> None:
        self.executor = executor
        self._script = script
        self._changes = {"agent": LEARN, **changes}
        self.first = executor.run(script, **self._changes)
        executor.plane.wait_for(lambda: executor.plane.preloaded)
        self.report = executor.plane.preloaded[-1]

    def run(self, **changes: Any) -> Any:
        """The value of a further execution."""
        return self.executor.run(self._script, **{**self._changes, **changes}).value

    @property
    def reasons(self) -> "dict[str, str]":
        return {item["module"]: item["reason"] for item in self.report["left_out"]}


@pytest.fixture
def preloading(environment: Environment, make_executor: "Callable[..., Executor]") -> "Callable[..., Preloading]":
    def make(script: str, sandbox: "dict[str, Any] | None" = None, **changes: Any) -> Preloading:
        return Preloading(make_executor(runner=environment.python, sandbox=sandbox), script, **changes)

    return make


WHERE = "import os, where\ndef main(): return [where.PROCESS, os.getpid(), os.getppid()]\n"


@pytest.fixture
def where(environment: Environment) -> None:
    """A module that knows which process has imported it."""
    environment.module("where", SLOW + "import os\nPROCESS = os.getpid()\n")


def test_modules_are_imported_once_and_each_execution_is_a_process_of_its_own(
    preloading: "Callable[..., Preloading]", where: None
) -> None:
    started = preloading(WHERE)
    imported, process, parent = started.first.value
    assert imported == process
    found = [started.run() for _ in range(3)]
    assert len({imported for imported, _, _ in found}) == 1, "imported once"
    assert len({process for _, process, _ in found} | {process, found[0][0]}) == 5
    assert {parent for _, _, parent in found} == {parent}, "the runner's child, not the template's"
    report = started.report
    assert report["modules"] == report["packages"] == ["where"] and report["left_out"] == []
    assert report["revision"] == 1
    assert report["import_seconds"] >= 0.02 and report["memory_bytes"] >= 0


def test_the_script_itself_is_imported_anew(environment: Environment, preloading: "Callable[..., Preloading]") -> None:
    environment.module("state", SLOW + "CALLS = []\n")
    script = "import state\nCALLS = []\ndef main():\n    CALLS.append(1); state.CALLS.append(1)\n"
    started = preloading(script + "    return [CALLS, state.CALLS]\n")
    assert [started.run() for _ in range(2)] == [[[1], [1]]] * 2


def test_without_the_setting_each_execution_imports(
    environment: Environment, make_executor: "Callable[..., Executor]", where: None
) -> None:
    executor = make_executor(runner=environment.python)
    for _ in range(3):
        imported, process, _ = executor.run(WHERE, agent={"preload": None}).value
        assert imported == process
    assert executor.plane.preloaded == []


# A template's forks have loaded what it runs.
FORKED = "import os, sys\ndef main(): return ['roost_executor.script.template' in sys.modules, os.getppid()]\n"


@pytest.mark.parametrize("preload", [None, {"modules": None}, {"modules": []}])
def test_with_nothing_to_import_executions_are_forked_from_a_template_too(
    make_executor: "Callable[..., Executor]", preload: "dict[str, Any] | None"
) -> None:
    executor = make_executor()
    agent = {"preload": preload}
    assert executor.run(FORKED, agent=agent).value == [False, executor.runner]
    wait_until(lambda: executor.run(FORKED, agent=agent).value == [True, executor.runner])


@pytest.mark.parametrize("registers", [False, True], ids=["a sibling", "a fork of a fork"])
def test_forks_of_a_template_work_as_any_process(
    environment: Environment, make_executor: "Callable[..., Executor]", registers: bool, tmp_path: Path
) -> None:
    environment.module("loads", LOADS_HANDLERS.format(registering_library(tmp_path)) if registers else "")
    script = (
        "    import loads"
        + """
    import multiprocessing, os, random, signal, subprocess, sys, threading

    HOOKS = []
    os.register_at_fork(after_in_child=lambda: HOOKS.append(os.getpid()))

    def main():
        found = []
        thread = threading.Thread(target=lambda: found.append(threading.get_native_id()))
        thread.start()
        thread.join()
        child = os.fork()
        if child == 0:
            os._exit(7 if HOOKS == [os.getpid()] else 1)
        _, status = os.waitpid(child, 0)
        signal.signal(signal.SIGUSR1, lambda *_: found.append("signal"))
        signal.raise_signal(signal.SIGUSR1)
        with multiprocessing.get_context("fork").Pool(1) as pool:
            found.append(pool.apply(os.getppid) == os.getpid())
        return {
            "forked": "roost_executor.script.template" in sys.modules,
            "ids": threading.get_native_id() == os.getpid() and found[0] not in (None, os.getpid()),
            "fork": os.waitstatus_to_exitcode(status),
            "found": found[1:],
            "output": subprocess.run(["echo", "hello"], stdout=subprocess.PIPE).stdout.decode(),
            "random": random.random(),
        }
    """
    )
    executor = make_executor(runner=environment.python)
    seen: list[Any] = []

    def forked_twice() -> bool:
        value = executor.run(script, agent={"preload": {"modules": ["loads"]}}).value
        if value["forked"]:
            seen.append(value)
        return len(seen) == 2

    wait_until(forked_twice)
    assert seen[0].pop("random") != seen[1].pop("random")
    expected = {"forked": True, "ids": True, "fork": 7, "found": ["signal", True], "output": "hello\n"}
    assert seen == [expected, expected]


SIBLING = """
import os, sys
sys.path.append(sys.argv[1])
from roost_executor.script.sibling import fork_sibling, may_fork_siblings

if not may_fork_siblings():
    sys.exit(2)
runner = os.getppid()
reader, writer = os.pipe()
process = fork_sibling()
if process == 0:
    os.write(writer, b"%d %d" % (os.getpid(), os.getppid()))
    os._exit(0)
assert os.read(reader, 100) == b"%d %d" % (process, runner)
try:
    os.waitpid(process, 0)
except ChildProcessError:
    sys.exit(0)
"""


LOADS_HANDLERS = "import ctypes\nctypes.CDLL({!r})\n"


def registering_library(directory: Path) -> str:
    """The path of a copy of the C library's mathematics that seems to import `pthread_atfork`."""
    ctypes.CDLL("libm.so.6")
    path = next(line.split()[5] for line in Path("/proc/self/maps").read_text().splitlines() if "libm" in line)
    content = Path(path).read_bytes()
    assert content.count(b"\0lgamma_r\0") == 1
    made = directory / "libhandlers.so"
    made.write_bytes(content.replace(b"\0lgamma_r\0", b"\0a_atfork\0"))
    return str(made)


def test_a_sibling_is_the_parent_s_child(tmp_path: Path) -> None:
    """Not where a library may have registered handlers for forks."""
    assert subprocess.run([PYTHON, "-I", "-c", SIBLING, str(PACKAGE.parent)]).returncode == 0
    loads = LOADS_HANDLERS.format(registering_library(tmp_path))
    assert subprocess.run([PYTHON, "-I", "-c", loads + SIBLING, str(PACKAGE.parent)]).returncode == 2


def test_an_executor_begins_with_what_others_have_learnt(
    environment: Environment, make_executor: "Callable[..., Executor]", where: None
) -> None:
    environment.module("lazy", SLOW)
    executor = make_executor(runner=environment.python)
    names = ["where", "lazy", "absent.module", "not a name", "agent", "__main__"]
    known = {"agent": {"preload": {"modules": names}}}
    executor.run(WHERE, **known)
    executor.plane.wait_for(lambda: executor.plane.preloaded)
    imported, process, _ = executor.run(WHERE, **known).value
    assert imported != process
    (report,) = executor.plane.preloaded
    assert report["modules"] == ["where", "lazy"]
    assert [item["module"] for item in report["left_out"]] == ["absent"]
    assert "ModuleNotFoundError" in report["left_out"][0]["reason"]


def test_nothing_is_reported_that_is_known(
    environment: Environment, make_executor: "Callable[..., Executor]", where: None
) -> None:
    executor = make_executor(runner=environment.python)
    known = {"agent": {"preload": {"modules": ["where"]}}}

    def forked() -> bool:
        imported, process, _ = executor.run(WHERE, **known).value
        return imported != process

    wait_until(forked)
    assert executor.plane.preloaded == []


def test_a_template_makes_room_for_an_execution_that_needs_a_pod_s_memory() -> None:
    for in_pod, used_mib, ends in ((True, 200, True), (True, 180, False), (False, 256, False)):
        reports: list[Any] = []
        started = template.Preloading(reports.append, lambda: None, in_pod)
        started.begin({"revision": 1, "preload": {"modules": None}})
        started.learn({"seconds": 1.0, "modules": ["large"]})
        started._connection, other_end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        started._connection.setblocking(False)
        other_end.send(
            json.dumps({"type": "ready", "import_seconds": 1, "memory_bytes": 100 << 20, "packages": []}).encode()
        )
        started.receive()
        assert len(reports) == 1
        started.make_room(used_mib << 20, 256 << 20)
        assert (started.connection is None) == ends
        started.drop()


def test_nothing_is_preloaded_for_a_script_that_imports_little(preloading: "Callable[..., Preloading]") -> None:
    started = preloading("import os\ndef main(): return 1\n")
    assert started.report["modules"] == [] and started.run() == 1


UNSAFE = {
    "import threading; threading.Thread(target=threading.Event().wait, daemon=True, name='pump').start()": (
        "starts a thread (pump)"
    ),
    "import subprocess; P = subprocess.Popen(['sleep', '600'])": "starts a process",
    "import os; D = os.open(__file__, os.O_RDONLY)": "opens or closes a file descriptor (",
    "import socket; S = socket.socketpair()": "opens or closes a file descriptor (socket:",
    "import signal; signal.signal(signal.SIGUSR1, lambda *_: None)": "changes a signal handler",
    "import signal; signal.setitimer(signal.ITIMER_VIRTUAL, 1000)": "starts a timer",
    "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))": "changes a resource limit",
    "import os; os.chdir('/')": "changes the working directory",
    "import os; os.umask(0o27)": "changes the umask",
    "print('hello')": "prints when it is imported",
    "import warnings; warnings.warn('old')": "prints when it is imported",
    "import logging; logging.warning('x')": "prints when it is imported",
    "import os; os.write(1, b'x')": "prints when it is imported",
    "import os\nif os.getpid() != os.getsid(0): os._exit(9)": "ends the process that imports it (status 9)",
    "import os, signal\nif os.getpid() != os.getsid(0): os.kill(os.getpid(), signal.SIGSEGV)": (
        "ends the process that imports it (signal 11)"
    ),
    "import os, sys\nif os.getpid() != os.getsid(0): sys.exit('no')": "can't be imported on its own: SystemExit: no",
}


@pytest.mark.parametrize("text", UNSAFE)
def test_a_module_that_forks_would_suffer_from_is_left_out(
    environment: Environment, preloading: "Callable[..., Preloading]", text: str, where: None
) -> None:
    environment.module("package.unsafe", SLOW + text + "\n")
    environment.module("package.__init__", "")
    environment.module("relies", "import package.unsafe\n")
    started = preloading("import relies, package.unsafe\n" + WHERE)
    assert started.reasons.keys() == {"package.unsafe", "relies"}
    assert all(reason.startswith(UNSAFE[text]) for reason in started.reasons.values()), started.reasons
    assert {"package", "where"} <= set(started.report["modules"])
    imported, process, _ = started.run()
    assert imported != process


def test_a_package_that_cannot_be_imported_is_tried_once(
    environment: Environment, make_executor: "Callable[..., Executor]", tmp_path: Path
) -> None:
    log = tmp_path / "log"
    environment.module("broken.__init__", f"open({str(log)!r}, 'a').write('x')\n1 / 0\n")
    executor = make_executor(runner=environment.python)
    known = {"agent": {"preload": {"modules": ["broken.one", "broken.two", "broken"]}}}
    executor.run("def main(): return 1\n", **known)
    executor.plane.wait_for(lambda: executor.plane.preloaded)
    (report,) = executor.plane.preloaded
    assert [item["module"] for item in report["left_out"]] == ["broken"] and report["modules"] == []
    assert log.read_text() == "x"


@pytest.fixture
def hasty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The executor's package with shorter bounds."""
    package = tmp_path / "code/roost_executor"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    for name, line in (("runner", "MODULE_SECONDS = 30.0"), ("script", "LOADING_SECONDS = 30.0")):
        path = package / name / "template.py"
        text = path.read_text()
        assert f"\n{line}\n" in text
        path.write_text(text.replace(line, line.replace("30.0", "0.5")))
    monkeypatch.setattr(executors, "PACKAGE", package)


def test_an_import_that_hangs_is_ended(
    hasty: None, environment: Environment, make_executor: "Callable[..., Executor]", where: None
) -> None:
    environment.module("hangs", "import time\nwhile True: time.sleep(60)\n")
    environment.module("later", "")
    executor = make_executor(runner=environment.python)
    known = {"agent": {"preload": {"modules": ["where", "hangs", "later"]}}}
    executor.run(WHERE, **known)
    executor.plane.wait_for(lambda: executor.plane.preloaded)
    (report,) = executor.plane.preloaded
    assert {item["module"]: item["reason"] for item in report["left_out"]} == {
        "hangs": "takes longer than 0.5 s",
        "later": "was not tried: loading had taken 0.5 s",
    }
    assert report["modules"] == ["where", "hangs", "later"], "the next executor, on a faster machine, tries again"
    imported, process, _ = executor.run(WHERE, **known).value
    assert imported != process


def test_random_numbers_differ_from_execution_to_execution(
    environment: Environment, preloading: "Callable[..., Preloading]"
) -> None:
    environment.module(
        "generators",
        SLOW + "import random, uuid\nUNSEEDED = random.Random()\nSEEDED = random.Random(7)\nLATER = random.Random()\n"
        "LATER.seed(8)\n",
    )
    script = """
    import generators, os, random, ssl, tempfile, uuid

    def main():
        differ = [random.random(), generators.UNSEEDED.random(), str(uuid.uuid4()), ssl.RAND_bytes(8).hex()]
        differ += [tempfile.mktemp(), os.urandom(8).hex()]
        return [differ, [generators.SEEDED.random(), generators.LATER.random()]]
    """
    started = preloading(script)
    assert "generators" in started.report["modules"]
    found = [started.run() for _ in range(3)]
    for values in zip(*(differ for differ, _ in found)):
        assert len(set(values)) == 3, values
    assert found[0][1] == found[1][1] == found[2][1] == started.first.value[1]


def test_what_belongs_to_an_execution_is_its_own(
    environment: Environment, preloading: "Callable[..., Preloading]", where: None
) -> None:
    environment.module("early", SLOW + "import os, sys\nENV = dict(os.environ)\nARGV = list(sys.argv)\n")
    script = """
    import early, os, signal, sys, where

    def main(request):
        return {
            "directory": os.getcwd(), "files": os.listdir("."), "argv": sys.argv == early.ARGV,
            "main": "__file__" in vars(sys.modules["__main__"]), "session": os.getsid(0) == os.getpid(),
            "own": early.ENV.get("OWN"), "here": os.environ["HERE"], "execution": request.execution_id,
            "sigterm": signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, "gc": __import__("gc").isenabled(),
            "descriptors": sorted(os.readlink(f"/proc/self/fd/{n}").split(":")[0] for n in os.listdir("/proc/self/fd")
                                  if os.path.exists(f"/proc/self/fd/{n}")),
        }
    """
    changes = {"agent": {**LEARN, "env_vars": {"OWN": "yes"}}, "environment": {"HERE": "1", "OWN": "no"}}
    started = preloading(script, **changes)
    first = started.first.value
    found = started.run(environment={"HERE": "2", "OWN": "no"})
    assert found["own"] == "yes" and found["here"] == "2" and found["argv"] and not found["main"]
    assert found["directory"].endswith("/work/" + found["execution"]) and found["files"] == []
    assert {**found, "directory": "", "execution": "", "here": ""} == {
        **first, "directory": "", "execution": "", "here": "",
    }  # fmt: skip


def test_output_keeps_its_order_and_its_execution(
    environment: Environment, preloading: "Callable[..., Preloading]"
) -> None:
    environment.module(
        "speaks",
        SLOW
        + "import logging, sys\nSTREAM = sys.stderr\nHANDLER = logging.StreamHandler()\nLOG = logging.getLogger('s')\n"
        "def speak(name):\n    print(name, 1)\n    STREAM.write(name + ' 2\\n')\n    LOG.info('%s 3', name)\n"
        "    logging.warning('%s 4', name)\n",
    )
    started = preloading("import speaks\ndef main(request):\n    speaks.speak(request.execution_id)\n")
    for _ in range(2):
        name = started.executor.submit("import speaks\n", agent=LEARN)
        result = started.executor.finished(name)
        assert result.lines == [line.replace("exec_1", name) for line in started.first.lines]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_template_that_dies_or_is_stopped_fails_no_execution(
    preloading: "Callable[..., Preloading]", where: None, number: int
) -> None:
    script = """
    import os, signal, where

    def main(request):
        if request.payload:
            for name in filter(str.isdigit, os.listdir("/proc")):
                try:
                    parent = int(open(f"/proc/{name}/stat").read().rpartition(")")[2].split()[1])
                except (OSError, ValueError):
                    continue
                if parent == os.getppid() and int(name) != os.getpid():
                    os.kill(int(name), request.payload)
        return [where.PROCESS, os.getpid()]
    """
    started = preloading(script)
    before, _ = started.run()
    assert started.run(payload=str(int(number)))[0] == before

    def forked() -> int:
        imported, process = started.run()
        return 0 if imported == process else int(imported)

    # A new template replaces one that was killed; one that was stopped continues.
    assert (wait_until(forked) == before) == (number == signal.SIGSTOP)


def test_a_template_that_is_killed_again_and_again_is_given_up(
    preloading: "Callable[..., Preloading]", where: None
) -> None:
    started = preloading(WHERE)
    killed: set[int] = set()

    def another_template() -> int:
        imported, process, _ = started.run()
        return 0 if imported == process or imported in killed else int(imported)

    for _ in range(3):
        template = wait_until(another_template)
        killed.add(template)
        os.kill(template, signal.SIGKILL)
    wait_until(lambda: started.run()[0] not in killed)
    for _ in range(5):
        imported, process, _ = started.run()
        assert imported == process
        time.sleep(0.02)


def test_memory_that_the_template_shares_is_not_the_execution_s_alone(
    environment: Environment, preloading: "Callable[..., Preloading]"
) -> None:
    environment.module("large", SLOW + "DATA = bytes(range(256)) * (150 << 12)\n")
    script = "import large, time\ndef main(request):\n    own = bytes(range(256)) * ((request.payload or 0) << 12)\n"
    started = preloading(script + "    time.sleep(0.5)\n    return len(own)\n", memory_mib=250)
    assert "large" in started.report["modules"] and started.report["memory_bytes"] > 140 << 20
    assert started.run(payload="60") == 60 << 20
    result = started.executor.run("", agent=LEARN, memory_mib=250, payload="400")
    assert result.reason == "out_of_memory"


def test_an_execution_cannot_reach_the_template(preloading: "Callable[..., Preloading]", where: None) -> None:
    script = """
    import os, where

    def main():
        try:
            with open(f"/proc/{where.PROCESS}/mem", "rb") as memory:
                return "opened"
        except OSError as error:
            return type(error).__name__
    """
    started = preloading(script, sandbox={})
    assert started.run() == "PermissionError"


def test_a_template_is_confined_as_its_executions_are(
    environment: Environment, preloading: "Callable[..., Preloading]", tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text("x")
    environment.module(
        "curious",
        SLOW
        + f"try:\n    FOUND = open({str(tmp_path / 'secret')!r}).read()\nexcept OSError as e:\n    FOUND = str(e.errno)\n",
    )
    script = """
    import curious, os, tempfile

    def main():
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("x")
        with open("mine", "w") as file:
            file.write("x")
        return [curious.FOUND, os.listdir("..") == [os.path.basename(os.getcwd())], os.environ["HOME"] == os.getcwd()]
    """
    started = preloading(script, sandbox={"private": [str(tmp_path / "secret")]})
    assert "curious" in started.report["modules"]
    assert started.first.value == started.run() == started.run() == ["13", True, True]


def test_no_process_is_left(preloading: "Callable[..., Preloading]", where: None) -> None:
    started = preloading(WHERE)
    imported, process, _ = started.run()
    assert imported != process
    os.kill(started.executor.runner, signal.SIGKILL)
    started.executor.ended()
    wait_until(lambda: not started.executor.processes())
    wait_until(lambda: not os.path.exists(f"/proc/{imported}"))
