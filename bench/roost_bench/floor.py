"""The least that the work of an execution can cost in Python; run as a script by the agent's own interpreter.

    floor.py fork ROUNDS              a warm interpreter forks, the child imports the script and calls main
    floor.py forks SECONDS            the same, as often as it can
    floor.py pipe LINES               a process prints lines, another one reads them

Prints a JSON object. The standard library only.
"""

import json
import os
import sys
import tempfile
import time
from importlib.machinery import SourceFileLoader
from types import ModuleType, SimpleNamespace

SCRIPT = 'def main(request):\n    return {"n": request.payload["n"] + 1}\n'


def fork_once(path: str, number: int) -> None:
    """One execution: payload in as JSON text, return value out as JSON text through a pipe, checked."""
    payload = json.dumps({"n": number})
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        module = ModuleType("agent")
        exec(SourceFileLoader("agent", path).get_code("agent"), module.__dict__)  # noqa: S102
        value = module.main(SimpleNamespace(payload=json.loads(payload)))
        os.write(writer, json.dumps(value).encode())
        os._exit(0)
    os.close(writer)
    text = os.read(reader, 65536)
    os.close(reader)
    os.waitpid(child, 0)
    if json.loads(text) != {"n": number + 1}:
        raise SystemExit(f"sent {number}, got {text!r}")


def fork(path: str, rounds: int) -> "list[float]":
    """Seconds of each round."""
    seconds = []
    for number in range(rounds):
        began = time.perf_counter()
        fork_once(path, number)
        seconds.append(time.perf_counter() - began)
    return seconds


def forks(path: str, limit: float) -> "dict[str, float]":
    """How often, in how many seconds."""
    began = time.perf_counter()
    count = 0
    while time.perf_counter() - began < limit:
        fork_once(path, count)
        count += 1
    return {"count": count, "seconds": time.perf_counter() - began}


def pipe(lines: int) -> float:
    """Seconds from the fork until the last line was read."""
    began = time.perf_counter()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with open(writer, "w", encoding="ascii") as output:
            for number in range(lines):
                print("line", number, file=output)
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="ascii") as text:
        count = sum(1 for _ in text)
    os.waitpid(child, 0)
    if count != lines:
        raise SystemExit(f"wrote {lines} lines, read {count}")
    return time.perf_counter() - began


def main() -> None:
    """Runs what the arguments say."""
    what, size = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="roost-bench-") as directory:
        path = os.path.join(directory, "agent.py")
        with open(path, "w", encoding="ascii") as file:
            file.write(SCRIPT)
        SourceFileLoader("agent", path).get_code("agent")  # Leaves the compiled script beside it.
        if what == "fork":
            fork(path, 10)
            result = {"seconds": fork(path, int(size))}
        elif what == "forks":
            result = forks(path, float(size))
        else:
            result = {"seconds": pipe(int(size))}
    print(json.dumps(result))


if __name__ == "__main__":
    main()
