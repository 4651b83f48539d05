"""A process of the client's that makes load; started by `clients`.

Takes a JSON object as its argument, says "ready", begins with the first line on its standard input, and prints what it
has done. Each of its threads has a connection of its own and does one execution after another until the time is over.
"""

import itertools
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any, Callable

from roost_bench.api import Connection, check_sum


def http_once(order: "dict[str, Any]") -> "Callable[[int], bool]":
    """Executes through HTTP; answers whether that was cold."""
    connection = Connection(order["url"], order["key"])

    def once(number: int) -> bool:
        job = connection.execute(order["agent"], {"n": number})
        check_sum(number, job["execution"]["return_value"])
        return bool(job["execution"]["cold_start"])

    return once


def sql_once(order: "dict[str, Any]") -> "Callable[[int], bool]":
    """Does the SQL alone."""
    from roost_bench.statements import Executions

    executions = Executions(Path(order["data"]))

    def once(number: int) -> bool:
        executions.once()
        return False

    return once


def store_once(order: "dict[str, Any]") -> "Callable[[int], bool]":
    """Does the SQL of an operation of a store alone."""
    from roost_bench import store_work
    from roost_bench.store_floor import Floor

    press = store_work.press(Floor(Path(order["data"])), order["operation"], f"{os.getpid()}_{next(PLACES)}")

    def once(number: int) -> bool:
        press(number)
        return False

    return once


MAKERS = {"http": http_once, "sql": sql_once, "store": store_once}
PLACES = itertools.count()


def main() -> None:
    """Makes load as the argument says."""
    order = json.loads(sys.argv[1])
    make = MAKERS[order["kind"]]
    workers = [make(order) for _ in range(order["threads"])]
    counts = [0] * len(workers)
    cold = [0] * len(workers)
    failures: list[BaseException] = []
    print("ready", flush=True)
    sys.stdin.readline()
    began, cpu = time.perf_counter(), time.process_time()
    end = began + order["seconds"]

    def work(place: int) -> None:
        try:
            while time.perf_counter() < end and not failures:
                cold[place] += workers[place](counts[place])
                counts[place] += 1
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=work, args=[place], daemon=True) for place in range(len(workers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    done = {"seconds": time.perf_counter() - began, "cpu_seconds": time.process_time() - cpu}
    print(json.dumps({"count": sum(counts), "cold": sum(cold), **done}))


if __name__ == "__main__":
    main()
