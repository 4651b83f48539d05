"""Agents that are projects of many files: what a deploy takes and sends, and what an execution takes."""

import os
import random
import shutil
import socket
import socketserver
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import roost

from roost_bench.context import ADD_ONE, Context
from roost_bench.latency import HOUR, through_http
from roost_bench.report import Row, latency

FILES, QUICK_FILES = 5_000, 500
MODULES = 30
LINE_BYTES = 40
LINES = 100
WARM_UP = 10
MAIN = "main.py"


class Counter(socketserver.ThreadingTCPServer):
    """Passes connections on to a server and counts the bytes of both directions."""

    daemon_threads = True
    allow_reuse_address = True
    block_on_close = False

    def __init__(self, target: "tuple[str, int]") -> None:
        super().__init__(("127.0.0.1", 0), Passage)
        self.target = target
        self.sent = 0
        self.received = 0

    @property
    def url(self) -> str:
        """Where clients connect."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def counted(self) -> "tuple[int, int]":
        """What clients have sent and received since the last call."""
        counts, self.sent, self.received = (self.sent, self.received), 0, 0
        return counts


class Passage(socketserver.BaseRequestHandler):
    """One connection."""

    server: Counter

    def handle(self) -> None:
        """Passes bytes on until both sides have ended."""
        with socket.create_connection(self.server.target) as target:
            back = threading.Thread(target=self._pass, args=(target, self.request, "received"), daemon=True)
            back.start()
            self._pass(self.request, target, "sent")
            back.join()

    def _pass(self, source: socket.socket, target: socket.socket, count: str) -> None:
        try:
            while data := source.recv(256 * 1024):
                setattr(self.server, count, getattr(self.server, count) + len(data))
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass


@contextmanager
def counting(context: Context) -> "Iterator[tuple[Counter, roost.Client]]":
    """A client whose bytes are counted."""
    address = urlsplit(context.server.url)
    assert address.hostname and address.port
    with Counter((address.hostname, address.port)) as counter:
        threading.Thread(target=counter.serve_forever, daemon=True).start()
        with roost.Client(api_key=context.server.key, base_url=counter.url) as client:
            yield counter, client
        counter.shutdown()


def measure(context: Context) -> "list[Row]":
    """A first deploy and one of a changed line, beside git; executions of 30 modules beside one script."""
    directory = context.directory / "project"
    files = QUICK_FILES if context.quick else FILES
    write_project(directory, files)
    try:
        return [*deploys(context, directory, files), *executions(context)]
    finally:
        shutil.rmtree(directory)


def write_project(directory: Path, files: int) -> None:
    """A script, and packages of modules with random text, a hundred in each."""
    chosen = random.Random(1)
    for number in range(files - 1):
        package = directory / f"package_{number // 100}"
        package.mkdir(parents=True, exist_ok=True)
        lines = (f"# {chosen.randbytes(LINE_BYTES // 2).hex()}\n" for _ in range(LINES))
        (package / f"module_{number}.py").write_text("".join(lines), encoding="ascii")
    (directory / MAIN).write_text(ADD_ONE, encoding="ascii")


def deploys(context: Context, directory: Path, files: int) -> "list[Row]":
    """From the directory to a revision that runs, through the SDK, with the build reused."""
    floor = [pushed(context, directory)]
    changed = directory / "package_0" / "module_0.py"
    with context.agent() as empty, counting(context) as (counter, client):
        agent = client.agents.retrieve(empty.id)
        counter.counted()
        began = time.perf_counter()
        bundle = client.bundles.upload(directory)
        agent.update(bundle=bundle, script_path=MAIN)
        first = time.perf_counter() - began
        first_bytes = counter.counted()
        times, counts = [], []
        for number in range(1 if context.quick else 5):
            changed.write_text(f"VALUE = {number}\n{changed.read_text(encoding='ascii')}", encoding="ascii")
            floor.append(pushed(context, directory))
            counter.counted()
            began = time.perf_counter()
            bundle = client.bundles.upload(directory, base=bundle)
            agent.update(bundle=bundle)
            times.append(time.perf_counter() - began)
            counts.append(counter.counted())
        if agent.running_revision != agent.revision:
            raise SystemExit("the changed project doesn't run at once, although its build is there")
    size = sum(file.stat().st_size for file in directory.rglob("*") if file.is_file() and ".git" not in file.parts)
    name = f"{files:,} files"
    git = "git add, commit and push"
    return [
        Row(f"{name}, first deploy", "s", first, floor=floor[0], floor_name=git),
        Row("… sent", "B", first_bytes[0], floor=size, floor_name="the files"),
        latency("… one line changed", times, floor=sorted(floor[1:])[len(floor) // 2 - 1], floor_name=git),
        Row("… sent", "kB", max(sent for sent, _ in counts) / 1000, note="with headers; the changed file has 4 kB"),
        Row("… received", "kB", max(received for _, received in counts) / 1000),
    ]


def pushed(context: Context, directory: Path) -> float:
    """The seconds that git takes for the same change, with a repository on this machine."""
    remote, own = context.directory / "remote.git", context.directory / "own.git"
    variables = {**os.environ, "GIT_DIR": str(own), "GIT_WORK_TREE": str(directory), "GIT_CONFIG_GLOBAL": os.devnull}
    who = ["-c", "user.name=bench", "-c", "user.email=bench@localhost", "-c", "gc.auto=0"]

    def git(*arguments: str) -> None:
        subprocess.run(["git", *who, *arguments], env=variables, check=True, capture_output=True)

    if not own.exists():
        subprocess.run(["git", "init", "-q", "--bare", remote], check=True)
        subprocess.run(["git", "init", "-q", "--bare", own], check=True)
        git("config", "core.bare", "false")
    began = time.perf_counter()
    git("add", "--all")
    git("commit", "--quiet", "--message", "a change")
    git("push", "--quiet", str(remote), "HEAD:refs/heads/main")
    return time.perf_counter() - began


def executions(context: Context) -> "list[Row]":
    """Warm executions of a script alone, and of one that imports 30 modules of its project."""
    rounds = context.sizes.imports
    directory = context.directory / "modules"
    directory.mkdir()
    names = [f"part_{number}" for number in range(MODULES)]
    for name in names:
        functions = (f"def function_{number}(value):\n    return value + {number}\n\n" for number in range(20))
        (directory / f"{name}.py").write_text("".join(functions), encoding="ascii")
    (directory / MAIN).write_text("".join(f"import {name}\n" for name in names) + ADD_ONE, encoding="ascii")
    bundle = context.client.bundles.upload(directory)
    alone = warm(context, rounds, script=ADD_ONE)
    project = warm(context, rounds, bundle=bundle, script_path=MAIN)
    return [
        latency("execution of a script alone", alone),
        latency(
            f"execution with {MODULES} modules of its project",
            project,
            floor=latency("", alone).value,
            floor_name="a script alone",
        ),
    ]


def warm(context: Context, rounds: int, **settings: object) -> "list[float]":
    """Seconds of each execution by an executor that is there."""
    agent = context.client.agents.create(keep_warm=HOUR, **settings).wait_until_built(timeout=600)
    try:
        for number in range(WARM_UP):
            through_http(context, agent, number)
        return [through_http(context, agent, number)[0] for number in range(rounds)]
    finally:
        agent.delete()
        context.await_no_executor()
