"""What a confined script can reach, and that what scripts do goes on working."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest
from control_plane import WAIT_SECONDS
from executor import PACKAGE, PYTHON, Executor

sys.path.insert(0, str(PACKAGE.parent))

from roost_executor import namespaces, sandbox  # noqa: E402
from roost_executor.probe import probe_inside  # noqa: E402
from roost_executor.wire.sockets import UnixPath  # noqa: E402

NEIGHBOUR = (Path(__file__).parents[2] / "resources/e2e/neighbour.py").read_text(encoding="utf-8")
ABI = sandbox.landlock_abi()
SIGNALS = pytest.mark.skipif(ABI < sandbox.SCOPES_SINCE, reason="signals are confined from Linux 6.12 on")

pytestmark = pytest.mark.skipif(ABI < 1, reason=f"nothing can be confined here: {sandbox.why_no_landlock()}")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory, with a key, the password of the database, and another agent's files."""
    (tmp_path / "api_key").write_text("roost_secret\n")
    (tmp_path / "builds/other").mkdir(parents=True)
    (tmp_path / "builds/other/module.py").write_text("x = 1\n")
    return tmp_path


@pytest.fixture
def confined(data: Path, make_executor: "Callable[..., Executor]") -> Executor:
    return make_executor(sandbox={"private": [str(data)]})


@pytest.fixture(params=["namespaces", "bubblewrap"])
def separate(request: Any, data: Path, make_executor: "Callable[..., Executor]") -> "Callable[[], Executor]":
    """Makes executors that share less than Landlock can take away."""
    if request.param == "namespaces":
        if not namespaces.works():
            pytest.skip("shared memory can't be an executor's own: no namespaces for this user")
        return lambda: make_executor(sandbox={"private": [str(data)], "shared_memory_mib": 64})
    program = shutil.which("bwrap")
    found = probe_inside(program) if program else {"mechanism": "none", "message": "there is no bwrap"}
    if found["mechanism"] == "none":
        pytest.skip(f"no bubblewrap: {found['message']}")
    return lambda: make_executor(sandbox={"private": [str(data)], "bubblewrap": program})


@pytest.fixture
def bystander() -> "Iterator[subprocess.Popen[bytes]]":
    """A process of the same user that has nothing to do with the script."""
    process = subprocess.Popen(["sleep", "600"], env={"PASSWORD": "secret"})
    yield process
    process.kill()
    process.wait()


ATTEMPT = """
def attempt(call, *arguments):
    try:
        call(*arguments)
        return "done"
    except OSError as error:
        return type(error).__name__

def read(path):
    open(path, "rb").read(10)

def write(path):
    open(path, "ab").close()

"""


def run(executor: Executor, script: str, payload: Any = None) -> Any:
    return executor.run(ATTEMPT + script, payload=json.dumps(payload)).value


def test_files_of_roost_and_of_the_user_are_out_of_reach(confined: Executor, data: Path) -> None:
    script = """
import os

def main(request):
    data, home = request.payload["data"], request.payload["home"]
    return {
        "key": attempt(read, data + "/api_key"),
        "through a link": attempt(lambda: (os.symlink(data + "/api_key", "link"), read("link"))),
        "through the root": attempt(read, "/proc/self/root" + data + "/api_key"),
        "hard link": attempt(os.link, data + "/api_key", "hard"),
        "overwrite": attempt(write, data + "/api_key"),
        "another agent's": attempt(read, data + "/builds/other/module.py"),
        "list": attempt(os.listdir, data),
        "list executors": attempt(os.listdir, os.path.dirname(os.path.dirname(os.getcwd()))),
        "remove": attempt(os.unlink, data + "/api_key"),
        "move": attempt(os.rename, data + "/api_key", "moved"),
        "home": attempt(os.listdir, home),
        "var": attempt(os.listdir, "/var"),
        "tmp": attempt(write, "/tmp/roost-test-sandbox"),
        "shadow": attempt(read, "/etc/shadow"),
        "usr": attempt(write, "/usr/roost-test-sandbox"),
        "etc": attempt(write, "/etc/roost-test-sandbox"),
        "oom": attempt(write, "/proc/self/oom_score_adj"),
        "device": attempt(os.mknod, "device", 0o60600, os.makedev(8, 0)),
    }
"""
    found = run(confined, script, {"data": str(data), "home": os.path.expanduser("~")})
    assert set(found.values()) <= {"PermissionError", "OSError"}, found  # a move between directories: EXDEV
    assert (data / "api_key").read_text() == "roost_secret\n"


def test_a_file_that_is_replaced_stays_readable(data: Path, make_executor: "Callable[..., Executor]") -> None:
    settings = data / "settings.json"
    settings.write_text("old")
    executor = make_executor(sandbox={"private": [str(data / "builds")], "readable": [str(settings)]})
    script = """
def main(request):
    try:
        return open(request.payload["file"]).read()
    except PermissionError:
        return None  # the process was confined before the file was replaced
"""
    assert run(executor, script, {"file": str(settings)}) == "old"
    (data / "new").write_text("new")
    (data / "new").replace(settings)
    end = time.monotonic() + WAIT_SECONDS
    while run(executor, script, {"file": str(settings)}) != "new":
        assert time.monotonic() < end


def test_a_script_has_no_descriptor_of_its_rules(confined: Executor) -> None:
    script = """
import os

def main(request):
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink("/proc/self/fd/" + name))
        except FileNotFoundError:
            pass  # the one of the list
    return found
"""
    for _ in range(3):  # the first one makes them for those that follow
        assert not [link for link in run(confined, script) if "landlock" in link]


def test_prepared_rules_follow_a_directory_that_was_created_again(tmp_path: Path) -> None:
    """As `prepare_script` and `confine_script` are called by the runner and its forks, but with a changed variable."""
    program = """
import os, shutil, sys
sys.path.insert(0, sys.argv[1])
from roost_executor import sandbox

base = sys.argv[2]
script, directory = (base + "/script",), base + "/work"
os.mkdir(base + "/script")

def works(variables):
    process = os.fork()
    if process == 0:
        try:
            os.environ.update(variables)
            sandbox.confine_script(script, directory)
            open(directory + "/file", "w").close()
            os.unlink(directory + "/file")
            try:
                open(base + "/file", "w").close()
                os._exit(2)
            except PermissionError:
                os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0

sandbox.set_up("{}", runner=True)
for _ in range(2):
    os.mkdir(directory)
    for _ in range(2):
        sandbox.prepare_script(script, directory, {})
        assert works({})
    # Not what was prepared: another temporary directory is given.
    assert works({"TMPDIR": base + "/tmp"})
    shutil.rmtree(directory)
"""
    command = [PYTHON, "-I", "-B", "-c", program, PACKAGE.parent, tmp_path]
    subprocess.run(command, check=True, timeout=WAIT_SECONDS)


def test_other_processes_are_out_of_reach(confined: Executor, bystander: "subprocess.Popen[bytes]") -> None:
    script = """
import ctypes, os, resource, signal

def system_call(number, *arguments):
    library = ctypes.CDLL(None, use_errno=True)
    if library.syscall(number, *arguments) < 0:
        raise OSError(ctypes.get_errno(), "")

def main(request):
    found = {}
    for pid in (os.getppid(), request.payload["pid"]):
        for name in ("environ", "mem", "maps", "fd/1", "root/etc/passwd"):
            found[f"{pid} {name}"] = attempt(read, f"/proc/{pid}/{name}")
        found[f"{pid} descriptor"] = attempt(lambda: system_call(438, os.pidfd_open(pid), 1, 0))
        found[f"{pid} limits"] = attempt(resource.prlimit, pid, resource.RLIMIT_CPU, (1, 1))
    resource.setrlimit(resource.RLIMIT_NOFILE, resource.getrlimit(resource.RLIMIT_NOFILE))
    child = os.fork()
    if child == 0:
        signal.pause()
    numbers = {"x86_64": (101, 310, 165, 250), "aarch64": (117, 270, 40, 219)}[os.uname().machine]
    for name, number in zip(("ptrace", "process_vm_readv", "mount", "keyctl"), numbers):
        found[name] = attempt(system_call, number, 16, child, 0, 0, 0, 0)
    os.kill(child, 9)
    os.waitpid(child, 0)
    return found
"""
    found = run(confined, script, {"pid": bystander.pid})
    assert len(found) == 18
    assert set(found.values()) == {"PermissionError"}, found


@SIGNALS
def test_signals_reach_only_what_the_script_has_started(
    confined: Executor, bystander: "subprocess.Popen[bytes]"
) -> None:
    script = """
import os, signal, subprocess

def main(request):
    found = {str(pid): attempt(os.kill, pid, number)
             for pid in (os.getppid(), request.payload["pid"]) for number in (0, signal.SIGSTOP, signal.SIGKILL)}
    child = subprocess.Popen(["sleep", "600"])
    child.terminate()
    return [*found.values(), child.wait()]
"""
    assert run(confined, script, {"pid": bystander.pid}) == ["PermissionError", "PermissionError", -15]
    assert bystander.poll() is None


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has capabilities to lose")
def test_root_loses_the_capabilities_that_reach_beyond_files(confined: Executor) -> None:
    script = """
import subprocess

def main(request):
    inherited = subprocess.run(["grep", "CapEff", "/proc/self/status"], capture_output=True, text=True).stdout
    return int(inherited.split()[1], 16)
"""
    assert run(confined, script) & ~sandbox.KEPT_CAPABILITIES == 0


WORKING = """
import asyncio, ctypes, json, os, socket, sqlite3, ssl, subprocess, sys, tempfile, threading, time
import multiprocessing
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import shared_memory
from pathlib import Path

def double(number):
    return 2 * number

async def gathered():
    process = await asyncio.create_subprocess_exec("echo", "hi", stdout=subprocess.PIPE)
    output, _ = await process.communicate()
    return [output.decode().strip(), await asyncio.get_running_loop().run_in_executor(None, double, 4)]

def main(request, store):
    found = {}
    found["list"] = subprocess.run(["ls", "/usr"], capture_output=True, text=True, check=True).stdout.split()
    found["python"] = subprocess.check_output([sys.executable, "-c", "import json; print(6 * 7)"], text=True).strip()
    with ThreadPoolExecutor(4) as threads:
        found["threads"] = list(threads.map(double, range(3)))
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as processes:
        found["processes"] = list(processes.map(double, range(3)))
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found["spawned"] = pool.map(abs, [-1])
    memory = shared_memory.SharedMemory(create=True, size=1000)
    memory.buf[0] = 7
    found["shared"] = memory.buf[0]
    memory.close()
    memory.unlink()
    with tempfile.TemporaryDirectory() as directory:
        Path(directory, "a").write_text("x")
        os.rename(Path(directory, "a"), "b")
        found["temporary"] = Path("b").read_text()
    with sqlite3.connect("numbers.db") as numbers:
        numbers.execute("create table number (n)")
        numbers.execute("insert into number values (1)")
        found["sqlite"] = numbers.execute("select n from number").fetchone()
    numbers.close()
    found["certificates"] = ssl.create_default_context().verify_mode == ssl.CERT_REQUIRED
    listener = socket.create_server(("127.0.0.1", 0))
    with socket.create_connection(listener.getsockname()):
        found["resolved"] = socket.getaddrinfo("localhost", 80)[0][4][1]
    listener.close()
    with socket.socket(socket.AF_UNIX) as own:
        own.bind("own.sock")
    found["asyncio"] = asyncio.run(gathered())
    found["ctypes"] = ctypes.CDLL(None).getpid() == os.getpid()
    found["random"] = len(open("/dev/urandom", "rb").read(8)) + len(os.urandom(8))
    open("/dev/null", "w").close()
    found["cpus"] = len(open("/proc/cpuinfo").read()) > 0 and os.cpu_count() > 0
    found["home"] = os.path.expanduser("~") == os.getcwd()
    found["program"] = run_own_program()
    found["time"] = time.strftime("%Z") != ""
    return found

def run_own_program():
    Path("program").write_text("#!/bin/sh\\necho made here\\n")
    os.chmod("program", 0o700)
    return subprocess.check_output(["./program"], text=True).strip()
"""


def test_what_scripts_do_keeps_working(confined: Executor) -> None:
    check_working(confined)


def test_it_keeps_working_in_namespaces(separate: "Callable[[], Executor]") -> None:
    check_working(separate())
    assert run(separate(), "def main(request, store):\n    store['key'] = 1\n    return store['key']\n") == 1


def check_working(executor: Executor) -> None:
    found = run(executor, WORKING)
    assert "bin" in found.pop("list")
    assert found == {
        "python": "42",
        "threads": [0, 2, 4],
        "processes": [0, 2, 4],
        "spawned": [1],
        "shared": 7,
        "temporary": "x",
        "sqlite": [1],
        "certificates": True,
        "resolved": 80,
        "asyncio": ["hi", 8],
        "ctypes": True,
        "random": 16,
        "cpus": True,
        "home": True,
        "program": "made here",
        "time": True,
    }


def test_stores_are_reached(confined: Executor) -> None:
    script = """
def main(request, store):
    store["key"] = 1
    return store["key"]
"""
    assert run(confined, script) == 1


def test_a_store_is_reached_by_the_scripts_own_processes_only(confined: Executor) -> None:
    running = confined.submit(
        """
        import os, time

        def main(request, store):
            read, write = os.pipe()
            if os.fork() == 0:
                if os.fork() == 0:
                    store["key"] = "from an orphan"
                    os.write(write, b"x")
                os._exit(0)
            os.wait()
            os.read(read, 1)
            print(store["key"], flush=True)
            time.sleep(600)
        """
    )
    confined.logged(running, "from an orphan")
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.settimeout(WAIT_SECONDS)
        with UnixPath(str(confined.directory / "store.sock")) as path:
            stranger.connect(path)
        assert stranger.recv(1) == b""
    confined.plane.cancel(running)
    assert confined.finished(running).reason == "cancelled"


def test_packages_of_the_environment_are_there_and_nothing_of_it_can_be_changed(
    tmp_path: Path, make_executor: "Callable[..., Executor]"
) -> None:
    environment = tmp_path / "builds/mine"
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", environment], check=True)
    packages = next(environment.glob("lib/python*/site-packages"))
    (packages / "greeting.py").write_text("text = 'hello'\n")
    executor = make_executor(runner=str(environment / "bin/python"), sandbox={"private": [str(tmp_path)]})
    script = """
import greeting, subprocess, sys

def main():
    inner = subprocess.check_output([sys.executable, "-c", "import greeting; print(greeting.text)"], text=True)
    return [greeting.text, inner.strip(), attempt(write, greeting.__file__)]
"""
    assert run(executor, script) == ["hello", "hello", "PermissionError"]


def test_what_the_settings_name_is_given_but_for_what_is_private(
    tmp_path: Path, make_executor: "Callable[..., Executor]"
) -> None:
    for name in ("given/data/secret", "given/shared/note", "own/note", "own/data/secret"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "given/link").symlink_to(tmp_path / "given/data")
    executor = make_executor(
        sandbox={
            "readable": [str(tmp_path / "given"), str(tmp_path / "missing")],
            "writable": [str(tmp_path / "own")],
            "private": [str(tmp_path / "given/data"), str(tmp_path / "own/data")],
        }
    )
    script = """
def main(request):
    names = ("given/shared/note", "given/data/secret", "given/link/secret", "own/note", "own/data/secret")
    return [(attempt(read, f"{request.payload}/{name}"), attempt(write, f"{request.payload}/{name}")) for name in names]
"""
    assert run(executor, script, str(tmp_path)) == [
        ["done", "PermissionError"],
        ["PermissionError", "PermissionError"],
        ["PermissionError", "PermissionError"],
        ["done", "done"],
        ["PermissionError", "PermissionError"],
    ]


@pytest.mark.skipif(not sandbox.filters_calls(), reason="system calls aren't filtered on this processor")
def test_without_network_only_sockets_of_this_machine_are_left(make_executor: "Callable[..., Executor]") -> None:
    script = """
import asyncio, multiprocessing, socket

def main(request, store):
    store["key"] = 1
    found = [attempt(socket.socket, family, kind) for family in (socket.AF_INET, socket.AF_INET6, socket.AF_PACKET)
             for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return [*found, store["key"], asyncio.run(asyncio.sleep(0, "slept")), pool.map(abs, [-1])]
"""
    executor = make_executor(sandbox={"network": False})
    assert run(executor, script) == ["PermissionError"] * 6 + [1, "slept", [1]]


@pytest.mark.skipif(ABI < sandbox.PORTS_SINCE, reason="ports are confined from Linux 6.7 on")
@pytest.mark.skipif(not sandbox.filters_calls(), reason="system calls aren't filtered on this processor")
def test_a_list_of_ports_leaves_those_of_tcp_alone(make_executor: "Callable[..., Executor]") -> None:
    script = """
import os, socket

FASTOPEN = 0x20000000

def fast(address, send):
    with socket.socket() as client:
        client.setblocking(True)
        send(client, address)

def main(request, store):
    store["key"] = 1
    open_, closed = (("127.0.0.1", port) for port in request.payload)
    found = {
        "open": attempt(lambda: socket.create_connection(open_).close()),
        "closed": attempt(socket.create_connection, closed),
        "closed, by sendto": attempt(fast, closed, lambda client, address: client.sendto(b"x", FASTOPEN, address)),
        "closed, by sendmsg": attempt(
            fast, closed, lambda client, address: client.sendmsg([b"x"], (), FASTOPEN, address)),
        "closed, when bound": attempt(
            lambda: socket.create_connection(closed, source_address=("127.0.0.1", 0))),
        "names": os.environ["RES_OPTIONS"],
        "store": store["key"],
    }
    kinds = {"udp": (2, 2, 0), "udp6": (10, 2, 0), "raw": (2, 3, 1), "mptcp": (2, 1, 262), "sctp": (2, 1, 132),
             "packet": (17, 3, 0), "vsock": (40, 1, 0), "smc": (43, 1, 0)}
    found.update({name: attempt(socket.socket, *kind) for name, kind in kinds.items()})
    socket.socket(10, 1 | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK, 6).close()
    with socket.create_server(("127.0.0.1", 0)) as own:
        found["own"] = attempt(socket.create_connection, own.getsockname())
    return found
"""
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as other:
        ports = [listener.getsockname()[1] for listener in (one, other)]
        executor = make_executor(sandbox={"ports": [ports[0], 53]})
        found = run(executor, script, ports)
        other.setblocking(False)
        with pytest.raises(BlockingIOError):  # not even an attempt has come
            other.accept()
    reported = {name: found.pop(name) for name in ("open", "names", "store")}
    assert reported == {"open": "done", "names": "use-vc", "store": 1}
    assert set(found.values()) == {"PermissionError"}, found


def test_without_the_option_nothing_is_confined(executor: Executor, data: Path) -> None:
    assert run(executor, "def main(request): return attempt(read, request.payload)", str(data / "api_key")) == "done"


def test_shared_memory_and_queues_are_an_executors_own(separate: "Callable[[], Executor]") -> None:
    one, other = separate(), separate()
    held = one.submit(NEIGHBOUR, payload='{"leave": true, "hold": true}')
    one.logged(held, "held:")
    (left,) = one.plane.frames[held][-1]["entries"]
    assert all(f"'{place}'" in left["message"] for place in ("shm", "sem", "msg", "/dev/shm")), left
    assert not list(Path("/dev/shm").glob("*left-by*"))
    found = other.run(NEIGHBOUR, payload="{}").value["found"]
    assert [one for one in found if "process" not in one] == []  # their names can be read
    one.plane.cancel(held)
    assert one.finished(held).reason == "cancelled"
    assert one.run(NEIGHBOUR, payload="{}").value["found"] == []


@pytest.mark.parametrize("separate", ["bubblewrap"], indirect=True)
def test_in_bubblewrap_other_processes_and_roosts_files_are_not_seen(
    separate: "Callable[[], Executor]", data: Path, bystander: "subprocess.Popen[bytes]"
) -> None:
    script = """
import os

def main(request):
    before = os.path.exists("/tmp/mine")
    attempt(write, "/tmp/mine")  # refused when Roost's data directory is in /tmp
    commands = [open(f"/proc/{name}/cmdline", "rb").read() for name in os.listdir("/proc") if name.isdigit()]
    return [attempt(os.stat, request.payload + "/api_key"), any(b"sleep" in one for one in commands), before]
"""
    executor = separate()
    for _ in range(2):
        assert run(executor, script, str(data)) == ["FileNotFoundError", False, False]
    assert not os.path.exists("/tmp/mine")


def test_the_probe_reports_what_works() -> None:
    command = [PYTHON, "-I", "-B", str(PACKAGE), "probe"]
    found = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    assert found["landlock_abi"] == ABI
    assert found["mechanism"].startswith("landlock")
    assert (found["message"] is None) == (ABI >= sandbox.SCOPES_SINCE)


def test_a_draft_is_confined(make_executor: "Callable[..., Executor]", tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("secret")
    executor = make_executor(sandbox={"private": [str(tmp_path)]})
    saved = "def main(request):\n    return 'saved'\n"
    draft = f"def main(request):\n    open(__file__).read()\n    open({str(secret)!r}).read()\n"
    assert executor.run(saved).value == "saved"
    for _ in range(2):
        failed = executor.run(saved, draft=draft)
        assert (failed.last["error"]["type"], failed.last["error"]["line"]) == ("PermissionError", 3)
        assert executor.run(saved).value == "saved"
