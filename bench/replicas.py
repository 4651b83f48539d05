#!/usr/bin/env python3
"""Measures what it costs that a client speaks to another replica than the executor does. See bench/README.md.

    python3 bench/replicas.py --url URL --url URL [--key KEY] [--rounds N] [--agents N]

Needs Python 3.9 or later and the addresses of two replicas of one Roost.
"""

import argparse
import http.client
import json
import os
import statistics
import time
from typing import Any
from urllib.parse import urlsplit

SCRIPT = "def main(request):\n    return {'n': request.payload['n'] + 1}\n"


class Replica:
    """One replica, over one connection."""

    def __init__(self, url: str, key: str) -> None:
        """`url`: its own address, not the Service's."""
        self.connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=90)
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}

    def request(self, method: str, path: str, body: Any = None) -> Any:
        """The answer's JSON; null when it has none."""
        content = None if body is None else json.dumps(body)
        self.connection.request(method, path, content, self.headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise SystemExit(f"{method} {path}: {answer.status} {text.decode(errors='replace')}")
        return json.loads(text) if text else None

    def execute(self, agent: str) -> "tuple[float, bool]":
        """Milliseconds until the return value is there, and whether the executor was."""
        began = time.perf_counter()
        job = self.request("POST", f"/v1/agents/{agent}/execute?wait=60", {"payload": {"n": 41}})
        milliseconds = (time.perf_counter() - began) * 1000
        if job["state"] != "succeeded" or job["execution"]["return_value"] != {"n": 42}:
            raise SystemExit(f"a wrong result: {job}")
        return milliseconds, not job["execution"]["cold_start"]


def measured(replicas: "list[Replica]", agent: str, rounds: int) -> "list[list[float]]":
    """The times through each replica, in turn, so that a noisy moment hits all alike."""
    times: list[list[float]] = [[] for _ in replicas]
    for _ in range(rounds):
        for replica, own in zip(replicas, times):
            milliseconds, warm = replica.execute(agent)
            if warm:
                own.append(milliseconds)
    return times


def main() -> None:
    """Prints the medians of near and far and their ratio, of each agent and of all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", action="append", required=True, help="a replica; give two")
    parser.add_argument("--key", default=os.environ.get("ROOST_API_KEY"), help="an API key; or $ROOST_API_KEY")
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--agents", type=int, default=4)
    parser.add_argument("--warm-up", type=int, default=1500, help="rounds before, until the replicas' code is compiled")
    given = parser.parse_args()
    replicas = [Replica(url, given.key) for url in given.url]
    near, far = [], []
    for number in range(-1, given.agents):
        settings = {"script": SCRIPT, "max_concurrency": 1, "keep_warm": 60, "name": f"bench {time.time_ns()} {number}"}
        agent = replicas[0].request("POST", "/v1/agents", settings)["id"]
        replicas[0].execute(agent)
        rounds = given.rounds if number >= 0 else given.warm_up
        first, second = (statistics.median(times) for times in measured(replicas, agent, rounds))
        replicas[0].request("DELETE", f"/v1/agents/{agent}")
        if number < 0:
            continue
        # The executor's connection goes to one of the two; which one, only the times say.
        near.append(min(first, second))
        far.append(max(first, second))
        print(f"agent {number}: {first:.1f} and {second:.1f} ms, ratio {far[-1] / near[-1]:.2f}", flush=True)
    print(f"near {statistics.median(near):.1f} ms, far {statistics.median(far):.1f} ms, ", end="")
    print(f"ratio {statistics.median(f / n for f, n in zip(far, near)):.2f}")


if __name__ == "__main__":
    main()
