"""The fuzz, hostile scripts and hostile requests all at once, and how the control plane fares meanwhile.

    python3 src/test/python/tools.py --requirements src/test/python/openapi/requirements.txt \\
        src/test/python/openapi/soak.py --jar target/quarkus-app/quarkus-run.jar --minutes 60

Starts a Roost of its own. Ends with status 1 when the control plane has ended, has not answered its health within a
minute, has answered with an unexpected status, or an innocent script did not get its result. Prints every minute, and
at the end, the answer times of health, of the API and of the innocent script, and the process's memory.
"""

import argparse
import concurrent.futures
import contextlib
import http.client
import itertools
import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Callable

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from server import server  # noqa: E402

PULSE_SECONDS = 0.5
ANSWER_SECONDS = 60
FUZZ_SECONDS = 300
MEBIBYTE = 1 << 20

INNOCENT = "def main(request, store):\n    return request.payload + 1\n"

HOSTILE = {
    "stops its runner": "import os, signal\ndef main():\n    os.kill(os.getppid(), signal.SIGSTOP)\n",
    "kills its runner": "import os, signal\ndef main():\n    os.kill(os.getppid(), signal.SIGKILL)\n",
    "forks": "import os\ndef main():\n    while True:\n        os.fork()\n",
    "takes all memory": "def main():\n    held = []\n    while True:\n        held.append(bytearray(1 << 24))\n",
    "fills the disk": "def main():\n    with open('x', 'wb') as f:\n        while True:\n            f.write(bytes(1 << 20))\n",
    "floods the log": "def main():\n    while True:\n        print('x' * 10_000)\n",
    "writes a line without end": "import sys\ndef main():\n    while True:\n        sys.stdout.write('x' * 1_000_000)\n",
    "returns too much": "def main():\n    return 'x' * 40_000_000\n",
    "closes everything": "import os\ndef main():\n    os.closerange(0, 4096)\n    return 1\n",
    "sleeps beyond its time": "import time\ndef main():\n    time.sleep(10_000)\n",
    "reads what it mustn't": "import glob\ndef main():\n    return [open(f, 'rb').read(1) for f in glob.glob('/proc/*/mem')]\n",
    "fills its store": "def main(store):\n    for i in range(3_000):\n        store[str(i)] = 'x' * 900_000\n",
}


class Pulse:
    """How long something took, and what else came than was expected."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seconds: dict[str, list[float]] = {}
        self.mistakes: list[str] = []

    def took(self, name: str, seconds: float) -> None:
        """Notes one answer."""
        with self._lock:
            self._seconds.setdefault(name, []).append(seconds)

    def mistake(self, what: str) -> None:
        """Notes something that must not be, and says it at once."""
        with self._lock:
            self.mistakes.append(what)
        print(f"MISTAKE {what}", flush=True)

    def table(self) -> str:
        """Of each name: how many, and the milliseconds of median, 99th percentile and longest."""
        with self._lock:
            lines = []
            for name, seconds in self._seconds.items():
                ordered = sorted(seconds)
                at = [ordered[int(q * (len(ordered) - 1))] * 1000 for q in (0.5, 0.99, 1)]
                lines.append(f"{name}: {len(ordered)}, p50 {at[0]:.0f} ms, p99 {at[1]:.0f} ms, max {at[2]:.0f} ms")
            return "; ".join(lines)


class Roost:
    """Requests to the server under attack."""

    def __init__(self, url: str, key: str) -> None:
        self.host, _, port = url.removeprefix("http://").partition(":")
        self.port = int(port)
        self.key = key

    def __call__(self, method: str, path: str, body: object = None) -> "tuple[int, bytes]":
        """Status and body of the answer."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=ANSWER_SECONDS)
        with contextlib.closing(connection):
            text = body if isinstance(body, (bytes, type(None))) else json.dumps(body).encode()
            headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
            connection.request(method, path, text, headers)
            answer = connection.getresponse()
            return answer.status, answer.read()

    def agent(self, script: str, **fields: object) -> str:
        """The identifier of a new agent."""
        status, body = self("POST", "/v1/agents", {"script": script, **fields})
        if status in (429, 503):
            raise ConnectionRefusedError("no agent at the moment")
        if status != 201:
            raise AssertionError(f"no agent: {status} {body[:200]!r}")
        return str(json.loads(body)["id"])


def watch(roost: Roost, pulse: Pulse, stop: threading.Event) -> None:
    """Health, a list, and the innocent script, again and again."""
    agent = ""
    for number in itertools.count():
        if stop.wait(PULSE_SECONDS):
            return
        for name, path in (("health", "/q/health/live"), ("list", "/v1/agents?limit=100")):
            with noted(pulse, name):
                status, _ = roost("GET", path)
                if status not in (200, 503):
                    pulse.mistake(f"{name}: {status}")
        with noted(pulse, "execute"):
            agent = agent or roost.agent(INNOCENT)
            status, body = roost("POST", f"/v1/agents/{agent}/execute?wait=60", {"payload": number})
            job = json.loads(body)
            if status == 404:
                agent = ""  # The fuzz has deleted it.
            elif status not in (201, 429, 503, 507):
                pulse.mistake(f"execute: {status} {body[:200]!r}")
            elif job.get("state") == "succeeded" and job["execution"]["return_value"] != number + 1:
                pulse.mistake(f"execute: {job['execution']['return_value']} instead of {number + 1}")


@contextlib.contextmanager
def noted(pulse: Pulse, name: str):  # noqa: ANN201 - a generator of nothing
    """Notes how long the block takes; no answer is a mistake."""
    began = time.monotonic()
    try:
        yield
        pulse.took(name, time.monotonic() - began)
    except (OSError, http.client.HTTPException) as e:
        pulse.mistake(f"{name}: {e!r} after {time.monotonic() - began:.1f} s")


def run_hostile_scripts(roost: Roost, pulse: Pulse, stop: threading.Event) -> None:
    """One after the other, each with little time."""
    agents: dict[str, str] = {}
    for name, script in itertools.cycle(HOSTILE.items()):
        if stop.is_set():
            return
        with contextlib.suppress(OSError, http.client.HTTPException):
            if name not in agents:
                agents[name] = roost.agent(script, timeout=20, memory=256)
            began = time.monotonic()
            status, _ = roost("POST", f"/v1/agents/{agents[name]}/execute?wait=50", {})
            pulse.took("hostile script", time.monotonic() - began)
            if status == 404:
                del agents[name]


def send_hostile_requests(roost: Roost, pulse: Pulse, stop: threading.Event) -> None:
    """Large, slow, deep and broken bodies, in turns."""
    turns: list[Callable[[], object]] = [
        lambda: many(
            8, lambda: roost("POST", "/v1/agents/agent_1/execute", b'{"payload": "' + b"x" * 4_000_000 + b'"}')
        ),
        lambda: roost("POST", "/v1/agents/agent_1/execute-batch", {"payloads": ["x" * 3_000_000] * 20}),
        lambda: many(2, lambda: roost("POST", "/v1/agents", {"script": "#" * 1_000_000})),
        lambda: roost("POST", "/v1/session", b'{"key": 1' + b',"a":1' * 1_000 + b"}"),
        lambda: roost("POST", "/v1/agents", b"[" * 60_000),
        lambda: roost("POST", "/v1/agents", {"script": "", "requirements": " " * 60_000 + "\u2028"}),
        lambda: roost("POST", "/v1/agents", b"{" + b",".join(b'"%d":1' % i for i in range(500_000)) + b"}"),
        lambda: half_sent(roost, 250, stop),
        lambda: unauthenticated(roost),
    ]
    for turn in itertools.cycle(turns):
        if stop.wait(PULSE_SECONDS):
            return
        began = time.monotonic()
        with contextlib.suppress(OSError, http.client.HTTPException):
            turn()
        pulse.took("hostile request", time.monotonic() - began)


def carry_on(work: "Callable[..., None]", *arguments: object) -> None:
    """Begins the work again when something in it has failed that must not: without it the rest would prove little."""
    *_, pulse, stop = arguments
    while not stop.is_set():
        try:
            work(*arguments)
        except Exception as e:
            pulse.mistake(f"{work.__name__}: {e!r}")
            stop.wait(1)


def many(number: int, do: "Callable[[], object]") -> None:
    """At the same time."""

    def once() -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            do()

    with concurrent.futures.ThreadPoolExecutor(number) as pool:
        for _ in range(number):
            pool.submit(once)


def half_sent(roost: Roost, number: int, stop: threading.Event) -> None:
    """Requests whose bodies never come, for ten seconds."""
    head = f"POST /v1/session HTTP/1.1\r\nHost: {roost.host}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{{"
    with contextlib.ExitStack() as open_ones:
        for _ in range(number):
            connection = open_ones.enter_context(socket.create_connection((roost.host, roost.port), 10))
            connection.sendall(head.encode())
        stop.wait(10)


def unauthenticated(roost: Roost) -> None:
    """Large bodies to the executor link, without a token."""
    stranger = Roost(f"http://{roost.host}:{roost.port}", "nothing")
    many(4, lambda: stranger("POST", "/internal/v1/datastores/store_1/operations", b"x" * (32 * MEBIBYTE)))


def repeat_fuzz(url: str, key: str, pulse: Pulse, stop: threading.Event) -> None:
    """With another seed each time. What it finds it prints; under load, 503 and 408 are answers like others."""
    for seed in itertools.count(1):
        if stop.is_set():
            return
        began = time.monotonic()
        with open(f"target/soak-fuzz-{seed}.txt", "wb") as output:
            environment = {**os.environ, "ROOST_TEST_URL": url, "ROOST_TEST_API_KEY": key}
            command = [sys.executable, HERE / "fuzz.py", "--seconds", str(FUZZ_SECONDS), "--seed", str(seed)]
            process = subprocess.Popen(command, env=environment, stdout=output, stderr=subprocess.STDOUT)
            while process.poll() is None:
                if stop.wait(1):
                    process.terminate()
                    process.wait()
                    return
        pulse.took("fuzz", time.monotonic() - began)
        if process.returncode:
            pulse.mistake(f"the fuzz with seed {seed} has found something: target/soak-fuzz-{seed}.txt")


def memory(pid: int) -> "tuple[int, int]":
    """MiB of the process's resident memory: now, and at most so far. It fails when the process has ended."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    now, most = (int(fields[name].split()[0]) // 1024 for name in ("VmRSS", "VmHWM"))
    return now, most


def main() -> int:
    """Runs for the minutes that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jar", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=60)
    arguments = parser.parse_args()
    pulse, stop = Pulse(), threading.Event()
    with server(arguments.jar.resolve(), ROOST_LOCAL_MAX_EXECUTORS="8") as (url, key):
        children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
        (pid,) = (int(child) for child in children)
        roost = Roost(url, key)
        works = [
            (watch, (roost, pulse, stop)),
            (run_hostile_scripts, (roost, pulse, stop)),
            (send_hostile_requests, (roost, pulse, stop)),
            (repeat_fuzz, (url, key, pulse, stop)),
        ]
        threads = [threading.Thread(target=carry_on, args=(work, *given)) for work, given in works]
        for thread in threads:
            thread.start()
        try:
            end = time.monotonic() + 60 * arguments.minutes
            while time.monotonic() < end:
                time.sleep(min(60, max(0.0, end - time.monotonic())))
                now, most = memory(pid)
                print(f"{time.strftime('%H:%M:%S')} memory {now} MiB, at most {most} MiB; {pulse.table()}", flush=True)
        except (OSError, KeyError):
            pulse.mistake("the control plane has ended")
        finally:
            stop.set()
            for thread in threads:
                thread.join()
    print(f"{len(pulse.mistakes)} mistakes in {arguments.minutes:g} minutes")
    return 1 if pulse.mistakes else 0


if __name__ == "__main__":
    sys.exit(main())
