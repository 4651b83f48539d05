"""The same through connections that break at random."""

from __future__ import annotations

import contextlib
import math
import os
import random
import socket
import threading
from collections.abc import Iterator
from itertools import islice
from typing import Callable
from urllib.parse import urlsplit

import pytest

import roost

MakeAgent = Callable[..., roost.Agent]
TIMEOUT = 180.0


class Cutter:
    """Passes connections on to the server, each for up to some thousand bytes of answers."""

    def __init__(self, url: str, seed: int) -> None:
        parts = urlsplit(url)
        self.cuts = 0
        self._target = (parts.hostname, parts.port or 80)
        self._random = random.Random(seed)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                most = self._random.randrange(1000, 40_000)
                self._threads.append(threading.Thread(target=self._connect, args=(client, most)))
                self._threads[-1].start()

    def _connect(self, client: socket.socket, most: int) -> None:
        with client, socket.create_connection(self._target) as server:
            requests = threading.Thread(target=self._pass_on, args=(client, server, math.inf))
            requests.start()
            self._pass_on(server, client, most)
            requests.join()

    def _pass_on(self, source: socket.socket, target: socket.socket, left: float) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(16_384):
                if len(data) > left:
                    self.cuts += 1
                    target.sendall(data[: int(left)])
                    break
                target.sendall(data)
                left -= len(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def cutter(client: roost.Client) -> Iterator[Cutter]:
    cutter = Cutter(client.base_url, seed=7)
    yield cutter
    cutter.close()


@pytest.fixture
def cut_off(client: roost.Client, cutter: Cutter) -> Iterator[roost.Client]:
    """A client of the server whose connections break."""
    with roost.Client(os.environ["ROOST_TEST_API_KEY"], cutter.url, max_retries=8) as cut_off:
        yield cut_off


def test_map_and_events_lose_and_double_nothing(
    make_agent: MakeAgent, client: roost.Client, cut_off: roost.Client, cutter: Cutter
) -> None:
    script = "def main(request):\n    return request.payload\n"
    made = make_agent(script=script, store_ids=[], max_concurrency=4, cpu=0.1)
    made.execute(timeout=TIMEOUT)
    events = cut_off.events(types="executor_job.queued,executor_job.succeeded", agent_id=made.id)
    mapped = cut_off.agents.retrieve(made.id).map(range(300), timeout=TIMEOUT)
    assert list(mapped) == list(range(300))
    jobs = {job.id: job.payload for job in client.executor_jobs.list(agent_id=made.id)}
    assert sorted(n for n in jobs.values() if n is not None) == list(range(300))
    received = list(islice((event for event in events if event.data["batch_id"]), 600))
    events.close()
    assert len({event.id for event in received}) == len(received)
    queued = [event.subject for event in received if event.type == "executor_job.queued"]
    assert len(queued) == len(set(queued)) == 300
    assert cutter.cuts > 10
