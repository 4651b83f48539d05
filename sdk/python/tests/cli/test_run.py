"""`roost run` as a person sees it: a process of its own, with its output and exit code."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Generator, Mapping
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "src"
PYTHON = "{}.{}".format(*sys.version_info[:2])
SECONDS = 180
# With --watch, a script that is slow to end is killed; these tests wait for what it says. A shell
# that has the tests run in the background makes them, and what they start, ignore Ctrl-C.
PROGRAM = f"""
import signal
from importlib import import_module
from roost._cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
import_module("roost._cli.run")._RESTART_SECONDS = {SECONDS}
main()
"""


class Roost:
    """Runs the command in a directory with a cache of its own."""

    def __init__(self, directory: Path, cache: Path) -> None:
        self.directory = directory
        self._environment: Mapping[str, str] = {
            **os.environ,
            "PYTHONPATH": str(SOURCES),
            "XDG_CACHE_HOME": str(cache),
            "TOKEN_OUTSIDE": "t",
        }

    def write(self, name: str, text: str) -> Path:
        path = self.directory / name
        path.write_text(text, encoding="utf-8")
        return path

    def run(
        self, *arguments: str, stdin: str = "", python: str = PYTHON
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self._command(*arguments, "--python", python),
            cwd=self.directory,
            env=self._environment,
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )

    @contextlib.contextmanager
    def start(self, *arguments: str) -> Generator[Running]:
        with subprocess.Popen(
            self._command(*arguments, "--python", PYTHON),
            cwd=self.directory,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            start_new_session=True,  # a Ctrl-C is for all of it, and not for the tests
        ) as process:
            timer = threading.Timer(SECONDS, process.kill)
            timer.start()
            try:
                yield Running(process)
            finally:
                timer.cancel()
                process.kill()

    def _command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-c", PROGRAM, "run", *arguments]


class Running:
    """A command at work, which is killed when it takes too long."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        self._lines = process.stdout

    def saw(self, *expected: str) -> str:
        """Wait for lines with these texts, each after the one before; return the last one."""
        line = ""
        for text in expected:
            line = next((line for line in self._lines if text in line), "")
            assert line, f"it ended and never said {text!r}"
        return line

    def interrupt(self) -> None:
        os.killpg(self.process.pid, signal.SIGINT)

    def ended(self) -> int:
        return self.process.wait(SECONDS)


@pytest.fixture(scope="session")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def roost(tmp_path: Path, cache: Path) -> Roost:
    directory = tmp_path / "project"
    directory.mkdir()
    return Roost(directory, cache)


def test_the_value_is_on_stdout_and_the_log_on_stderr(roost: Roost) -> None:
    roost.write(
        "greeter.py",
        """\
# /// script
# [tool.roost]
# env_vars = { GREETING = "Hello", TOKEN = { from_env = "TOKEN_OUTSIDE" } }
# ///
import logging, os

def main(request, store):
    logging.getLogger("app").warning("attention")
    print("greeting", request.payload["name"], os.environ["TOKEN"], "TOKEN_OUTSIDE" in os.environ)
    return {"greeting": os.environ["GREETING"], "n": store.increment("n"), "é": 1.5}
""",
    )
    roost.write("ada.json", '{"name": "Ada"}')
    for n, arguments in enumerate([["--payload", "@ada.json"], ["--payload", "-"]], 1):
        done = roost.run("greeter.py", *arguments, stdin='{"name": "Ada"}')
        assert done.returncode == 0, done.stderr
        assert done.stdout == json.dumps({"greeting": "Hello", "n": n, "é": 1.5}) + "\n"
        assert done.stderr == "WARNING app: attention\ngreeting Ada t False\n"
    done = roost.run("greeter.py", "--payload", '{"name": 1}', "--env", "GREETING=Hi")
    assert json.loads(done.stdout)["greeting"] == "Hi"


def test_json_is_one_document_with_the_logs(roost: Roost) -> None:
    roost.write("count.py", 'def main(request):\n    print("one")\n    return 1.50\n')
    done = roost.run("count.py", "--json")
    document = json.loads(done.stdout)
    assert (document["state"], document["return_value"]) == ("succeeded", 1.5)
    assert [(entry["stream"], entry["message"]) for entry in document["logs"]] == [
        ("stdout", "one")
    ]


def test_a_failure_names_the_file_and_the_line_of_the_script(roost: Roost) -> None:
    roost.write("sums.py", "def main(request):\n    one = 1\n    return one + request.payload\n")
    done = roost.run("sums.py", "--payload", '"a"')
    assert (done.returncode, done.stdout) == (1, "")
    assert '  File "sums.py", line 3, in main\n' in done.stderr
    last = done.stderr[done.stderr.index("failed after") :].splitlines()
    assert last[0].endswith(
        "TypeError: unsupported operand type(s) for +: 'int' and 'str' (exception)"
    )
    assert last[1:3] == ["  sums.py:3", "    return one + request.payload"]


@pytest.mark.parametrize(
    ("script", "arguments", "code", "said"),
    [
        ("import time\ndef main(): time.sleep(60)\n", ["--timeout", "0.3"], 124, "timed out"),
        ("def mian(): pass\n", [], 1, "Did you mean `mian`?"),
        ("def main(): return {1}\n", [], 1, "return value: $ is a set (not_json)"),
        (
            "import time\ndef main():\n    text = 'x' * (90 << 20)\n    time.sleep(60)\n",
            [],
            1,
            "(out_of_memory)",
        ),
    ],
)
def test_what_goes_wrong_has_its_exit_code(
    roost: Roost, script: str, arguments: list[str], code: int, said: str
) -> None:
    header = "# /// script\n# tool.roost.memory = 40\n# ///\n"
    roost.write("agent.py", header + script + "\n")
    done = roost.run("agent.py", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert said in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.py"], "none.py: No such file or directory"),
        (["agent.py", "--payload", "Ada"], "--payload is not JSON"),
        (["agent.py", "--payload", "@none.json"], "none.json can't be read"),
        (["agent.py", "--env", "A"], "--env: write KEY=VALUE"),
        (["agent.py", "--env", "ROOST_A=1"], "names that begin with ROOST_ are reserved"),
        (["agent.py", "--env-file", "wrong.env"], 'wrong.env:2: the line has no "="'),
        (["agent.py", "-r", "wrong.env"], "wrong.env:1: "),
    ],
)
def test_wrong_usage_is_reported_before_anything_is_run(
    roost: Roost, arguments: list[str], said: str
) -> None:
    roost.write("agent.py", 'def main():\n    print("run")\n')
    roost.write("wrong.env", "A=1\nB\n")
    done = roost.run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_a_python_that_there_is_not_is_reported(roost: Roost) -> None:
    roost.write("agent.py", "def main():\n    pass\n")
    done = roost.run("agent.py", python="2.7")
    assert done.returncode == 1
    assert "Error: Roost doesn't support Python 2.7; supported versions: 3.9, " in done.stderr


def test_requirements_that_can_not_be_had_are_explained(roost: Roost) -> None:
    roost.write("agent.py", "def main():\n    pass\n")
    roost.write("packages.txt", "roost-has-no-such-package==1.0\n")
    done = roost.run("agent.py", "-r", "packages.txt", "--json")
    document = json.loads(done.stdout)
    assert done.returncode == 1
    assert (document["state"], document["reason"]) == ("failed", "build_failed")
    assert document["message"].startswith("The build failed: ")
    assert "roost-has-no-such-package" in document["message"]
    assert "roost-has-no-such-package" in done.stderr


def test_stores_have_names_and_may_lie_elsewhere(roost: Roost) -> None:
    roost.write(
        "agent.py",
        "def main(request, store):\n    return [list(request.stores), store.increment('n')]\n",
    )
    assert json.loads(roost.run("agent.py").stdout) == [["agent"], 1]
    assert (roost.directory / ".roost/stores.db").exists()
    named = ["--store", "people", "--store", "orders"]
    assert json.loads(roost.run("agent.py", *named).stdout) == [["people", "orders"], 1]
    elsewhere = ["--store-dir", "elsewhere", *named]
    assert json.loads(roost.run("agent.py", *elsewhere).stdout) == [["people", "orders"], 1]
    roost.write(
        "none.py", "# /// script\n# tool.roost.stores = []\n# ///\nfrom agent import main\n"
    )
    roost.write(
        "none.py",
        "# /// script\n# tool.roost.stores = []\n# ///\n"
        "def main(request, store):\n    return store\n",
    )
    assert roost.run("none.py").stdout == "null\n"


def test_an_agent_of_a_toml_is_run_by_its_name(roost: Roost) -> None:
    roost.write("one.py", "import os\ndef main():\n    return os.environ['WHO']\n")
    roost.write(
        "roost.toml",
        '[agents.a]\nscript = "one.py"\nenv_vars = { WHO = "a" }\n'
        '[agents.b]\nscript = "one.py"\nenv_vars = { WHO = "b" }\n',
    )
    assert roost.run(".", "--agent", "b").stdout == '"b"\n'
    done = roost.run("roost.toml")
    assert (done.returncode, done.stderr) == (
        2,
        "Error: roost.toml: which agent? Agents: a, b\n",
    )


STOPPABLE = """\
import signal, sys, time

def stop(*_):
    print("tidying up", flush=True)
    sys.exit(0)

def main():
    signal.signal(signal.SIGTERM, stop)
    print("started", flush=True)
    time.sleep(600)
"""


def test_ctrl_c_cancels_and_waits_for_the_script(roost: Roost) -> None:
    roost.write("agent.py", STOPPABLE)
    with roost.start("agent.py") as running:
        running.saw("started")
        running.interrupt()
        running.saw("Cancelling", "tidying up", "cancelled after")
        assert running.ended() == 130


def test_a_second_ctrl_c_does_not_wait(roost: Roost) -> None:
    roost.write("agent.py", STOPPABLE.replace("sys.exit(0)", "time.sleep(600)"))
    with roost.start("agent.py") as running:
        running.saw("started")
        running.interrupt()
        running.saw("tidying up")
        running.interrupt()
        assert running.ended() == 130


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_the_command(roost: Roost, number: signal.Signals) -> None:
    roost.write(
        "agent.py",
        "import os, time\ndef main():\n    print('pid', os.getpid())\n    time.sleep(600)\n",
    )
    with roost.start("agent.py") as running:
        script = os.pidfd_open(int(running.saw("pid ").split()[1]))
        running.process.send_signal(number)
        assert running.ended() in (128 + number, -number)
    assert select.select([script], [], [], SECONDS)[0], "the script still runs"
    os.close(script)


def test_watch_runs_again_when_a_file_changes(roost: Roost) -> None:
    roost.write("agent.py", "def main(request):\n    return request.payload\n")
    roost.write("payload.json", '"one"')
    with roost.start("agent.py", "--watch", "--payload", "@payload.json") as running:
        running.saw('"one"', "Waiting for changes")
        roost.write("payload.json", '"second"')
        running.saw("changed: payload.json", '"second"', "Waiting for changes")
        roost.write("agent.py", "# /// script\n# x = 1\n# ///\n")
        running.saw("changed: agent.py", "agent.py:2: unknown key `x`")
        roost.write("agent.py", STOPPABLE)
        running.saw("changed: agent.py", "started")
        roost.write("agent.py", "def main():\n    return 'restarted'\n")
        running.saw("tidying up", "changed: agent.py", '"restarted"')
        running.interrupt()
        assert running.ended() == 130


def project(roost: Roost) -> Path:
    directory = roost.directory / "reports"
    (directory / "src/pkg").mkdir(parents=True)
    (directory / "pyproject.toml").write_text(
        '[project]\nname = "reports"\n[tool.roost]\nscript = "src/main.py"\n'
    )
    (directory / "src/pkg/mod.py").write_text("def value():\n    return 1\n")
    (directory / "data.txt").write_text("here")
    (directory / "src/main.py").write_text(
        "import os\nfrom pkg import mod\n\n"
        "def main(request, store):\n"
        "    store['n'] = store.get('n', 0) + 1\n"
        "    beside = os.path.dirname(os.path.dirname(__file__)) + '/data.txt'\n"
        "    same = open('data.txt').read() == open(beside).read()\n"
        "    return [mod.value(), same, os.access(beside, os.W_OK) and os.geteuid() != 0]\n"
    )
    return directory


def test_a_project_runs_from_a_copy(roost: Roost) -> None:
    directory = project(roost)
    for _ in range(2):
        done = roost.run("reports")
        assert (done.returncode, json.loads(done.stdout or "0")) == (0, [1, True, False]), done
    assert (directory / ".roost/stores.db").is_file()
    (directory / "src/pkg/mod.py").write_text("def value():\n    return 1 / 0\n")
    done = roost.run("reports/pyproject.toml")
    assert done.returncode == 1
    assert 'File "reports/src/pkg/mod.py", line 2, in value' in done.stderr
    assert "reports/src/main.py:8" in done.stderr
    assert not [path for path in directory.rglob("*") if path.name == "__pycache__"]


def test_files_of_a_project_are_watched(roost: Roost) -> None:
    directory = project(roost)
    with roost.start("reports", "--watch") as running:
        running.saw("[1, true", "Waiting for changes")
        (directory / "src/pkg/mod.py").write_text("def value():\n    return 2\n")
        running.saw("changed: ", "[2, true", "Waiting for changes")
        (directory / "src/pkg/new.py").write_text("")
        assert "new.py" in running.saw("changed: ")
        running.saw("Waiting for changes")
