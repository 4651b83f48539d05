"""What all measurements share: the server, the clients, how many rounds."""

import contextlib
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import roost

from roost_bench import server
from roost_bench.api import Connection
from roost_bench.interrupts import clean_up_on_signals

ADD_ONE = """\
def main(request):
    return {"n": request.payload["n"] + 1}
"""
GONE_SECONDS = 60


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    starts: int
    builds: int
    cold: int
    warm: int
    imports: int
    seconds: float
    logs: int
    lines: int
    entries: int
    store_rounds: int
    store_batch: int
    schedules: int
    suspended: int


FULL = Sizes(
    starts=3,
    builds=3,
    cold=20,
    warm=500,
    imports=100,
    seconds=15,
    logs=3,
    lines=200_000,
    entries=10_000,
    store_rounds=20,
    store_batch=25,
    schedules=500,
    suspended=100_000,
)
QUICK = Sizes(
    starts=1,
    builds=1,
    cold=2,
    warm=30,
    imports=10,
    seconds=2,
    logs=1,
    lines=20_000,
    entries=1_000,
    store_rounds=3,
    store_batch=10,
    schedules=50,
    suspended=1_000,
)


@dataclass
class Context:
    """A running server, on a data directory that was empty before."""

    server: server.Server
    sizes: Sizes
    quick: bool
    client: roost.Client
    http: Connection
    directory: Path

    @classmethod
    @contextlib.contextmanager
    def started(cls, *, quick: bool, more: "Optional[dict[str, str]]" = None) -> "Iterator[Context]":
        """Starts the server, with `more` environment variables; in the end, also by a signal, all is removed."""
        clean_up_on_signals()
        with tempfile.TemporaryDirectory(prefix="roost-bench-") as directory:
            data = Path(directory, "data")
            data.mkdir(mode=0o700)
            print("… starting the server", file=sys.stderr, flush=True)
            with server.running(data, more=more) as started, contextlib.ExitStack() as stack:
                client = stack.enter_context(roost.Client(api_key=started.key, base_url=started.url))
                http = Connection(started.url, started.key)
                stack.callback(http.close)
                yield cls(started, QUICK if quick else FULL, quick, client, http, Path(directory))

    @property
    def uv(self) -> str:
        """The uv that the server builds with."""
        return shutil.which("uv") or str(self.server.uv)

    @contextlib.contextmanager
    def agent(self, script: str = ADD_ONE, *, pools: bool = False, **settings: Any) -> "Iterator[roost.Agent]":
        """An agent that is built; deleted in the end, and all executors are gone then, unless there are `pools`."""
        agent = self.client.agents.create(script=script, **settings).wait_until_built(timeout=600)
        yield agent
        agent.delete()
        if not pools:
            self.await_no_executor()

    def interpreter(self, agent: roost.Agent) -> Path:
        """The Python that runs the agent, so that a floor is measured with the same."""
        assert agent.build_id is not None
        build = self.client.builds.retrieve(agent.build_id)
        return self.server.data / "builds" / build.image_key / "bin/python"

    def executors(self) -> "list[str]":
        """The ids of those that are there."""
        with contextlib.suppress(FileNotFoundError):
            return sorted(entry.name for entry in (self.server.data / "executors").iterdir())
        return []

    def await_no_executor(self) -> None:
        """Returns when no executor is there any more, not even its files."""
        end = time.monotonic() + GONE_SECONDS
        while self.executors():
            if time.monotonic() > end:
                raise SystemExit(f"executors were still there after {GONE_SECONDS} s: {self.executors()}")
            time.sleep(0.01)
