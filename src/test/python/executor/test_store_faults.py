"""What breaks between a script, its sidecar and the control plane, and what a script may send."""

import json
import socket
import threading
from typing import Any, Optional

import pytest
from executor import Executor

WRITES = """
    def main(r, store):
        found = []
        store["a"] = 1
        for n in range(3):
            found.append(store.increment("n"))
        store.transact(lambda tx: tx.increment("t"))
        found += [store["t"], store.pop("a"), "a" in store]
        store.update(b=1, c=2)
        store["d"] = 4
        del store["d"]
        with store.lock("l"):
            pass
        store.clear()
        return found + [len(store)]
    """


@pytest.mark.parametrize("loss", ["connection", "status"])
def test_an_operation_whose_answer_is_lost_is_done_once(executor: Executor, loss: str) -> None:
    plane = executor.plane
    original = plane._operation
    seen: dict[bytes, int] = {}

    def operation(store: str, body: bytes) -> Any:
        answer = original(store, body)
        seen[body] = seen.get(body, 0) + 1
        if seen[body] == 1 and b'"op": "lock"' not in body:
            return (None, None) if loss == "connection" else (502, None)
        return answer

    plane._operation = operation  # type: ignore[method-assign]
    assert executor.run(WRITES).value == [1, 2, 3, 1, 1, False, 0]
    single = ["set", *["increment"] * 3, "transaction", "pop", "transaction", "set", "delete", "unlock", "clear"]
    assert plane.stores.applied == single
    assert all(count == 2 for body, count in seen.items() if b'"seq"' in body)


def test_each_connection_counts_its_own_writes(executor: Executor) -> None:
    result = executor.run(
        """
        import os

        def main(r, store):
            store["a"] = 1
            if os.fork() == 0:
                store["b"] = 2
                os._exit(0)
            os.wait()
            store["c"] = 3
            return len(store)
        """
    )
    assert result.value == 3
    assert sorted(seq for seq, _ in executor.plane.stores.receipts.values()) == [1, 2]


class Line:
    """A connection to a sidecar's store socket, as a script might open one."""

    def __init__(self, path: str) -> None:
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20)
        self.socket.connect(path)
        self.rest = b""

    def ask(self, data: bytes) -> "tuple[int, Any]":
        self.socket.sendall(data)
        return self.answer()

    def answer(self) -> "tuple[int, Any]":
        while b"\n" not in self.rest:
            self.rest += self._more()
        head, _, self.rest = self.rest.partition(b"\n")
        status, length = map(int, head.split())
        while len(self.rest) < length:
            self.rest += self._more()
        body, self.rest = self.rest[:length], self.rest[length:]
        return status, json.loads(body)

    def _more(self) -> bytes:
        data = self.socket.recv(65536)
        assert data, "closed"
        return data

    def is_closed(self) -> bool:
        try:
            return self.socket.recv(1) == b""
        except ConnectionResetError:
            return True


def of(operation: str, body: str, store: str = "store_main", length: Optional[int] = None) -> bytes:
    return f"{operation} {store} {len(body.encode()) if length is None else length}\n{body}".encode()


@pytest.fixture
def waiting(executor: Executor) -> "tuple[Executor, str, str]":
    """An executor with an execution that waits for the key `go`; its id and its store socket."""
    name = executor.submit(
        """
        import time

        def main(r, store):
            print("ready", flush=True)
            while "go" not in store:
                time.sleep(0.02)
            return sorted(store)
        """
    )
    executor.logged(name, "ready")
    return executor, name, str(executor.directory / "store.sock")


def finish(executor: Executor, name: str) -> Any:
    executor.plane.stores.put("store_main", "go", "1")
    return executor.finished(name).value


def test_nothing_a_script_sends_does_harm(waiting: "tuple[Executor, str, str]") -> None:
    executor, name, path = waiting
    for closing in (
        b"\n",
        b"get\n",
        b"get store_main -5\n{}",
        b"get store_main 1\n{",
        b"get store_main 99999999999999\n",
        b"set store_main 33554433\n",
        "get störe 2\n{}".encode(),
        b"get store_main 4\nnull",
        b"get store_main 2\n[]",
        b'{"store": ["x"], "op": "get", "key": "a"}\n',
        b"x" * 1_000_000,
        b"\xff\xfe\0" * 200,
    ):
        line = Line(path)
        line.socket.sendall(closing[:300])
        assert line.answer()[1]["code"] in ("malformed_json", "too_large"), closing[:40]
        assert line.is_closed()
    line = Line(path)
    for question, status, code in (
        (of("get", '{"key": "a"}', "store_other"), 403, "forbidden"),
        (of("get", '{"key": "a"}', "../x"), 403, "forbidden"),
        (of("drop", "{}"), 400, "validation_failed"),
        (of("get", '{"key": "a", "execution_id": "exec_other"}'), 400, "malformed_json"),
        (of("get", '{"key": "a", "op": "clear"}'), 400, "malformed_json"),
        (of("set", '{"key": "a", "value": "1", "ttl": null, "seq": 7}'), 400, "malformed_json"),
        (of("set", '{"key": "a", "value": "1", "ttl": null, "channel": "x"}'), 400, "malformed_json"),
        (of("set", '{"key": "a", "value": "1"} {"execution_id": "exec_other"}'), 400, "malformed_json"),
        (of("get", "{not json}"), 400, "malformed_json"),
        (of("get", "{" + " " * 100_000 + "}"), 400, "too_large"),
        (of("lock", '{"name": "l", "holder": "h", "ttl": 1, "wait": 1e9}'), 400, "validation_failed"),
        (of("lock", '{"name": "l", "holder": "h", "ttl": 1, "wait": "x"}'), 400, "validation_failed"),
        (of("lock", '{"wait": ' + "[" * 30_000 + "]" * 30_000 + "}"), 400, "malformed_json"),
    ):
        found, problem = line.ask(question)
        assert (found, problem["code"]) == (status, code), (question[:80], problem)
    lock = of("lock", '{"name": "l", "holder": "h", "ttl": 9, "wait": 0, "execution_id": "exec_other", "op": "clear"}')
    assert line.ask(lock) == (200, {"acquired": True})
    assert executor.plane.stores.locks["store_main", "l"]["execution"] == name
    assert line.ask(of("count", "{}") + of("get", '{"key": "a"}'))[0] == 422
    assert line.answer() == (200, {"value": None, "version": 0, "expires_at": None})
    assert finish(executor, name) == ["go"]
    assert executor.run("").value == ["go"] and "Traceback" not in executor.output.read_text()


def test_connections_are_bounded_and_refused_plainly(waiting: "tuple[Executor, str, str]") -> None:
    executor, name, path = waiting
    result = []
    lines = []
    for _ in range(300):
        lines.append(Line(path))
        line = lines[-1]
        try:
            result.append(line.ask(of("get", '{"key": "a"}'))[0])
        except (BrokenPipeError, ConnectionResetError):
            result.append(line.answer()[0])
    assert result.count(200) == 255 and result.count(503) == 45
    for line in lines:
        line.socket.close()
    assert finish(executor, name) == ["go"]


def test_a_script_with_too_many_connections_gets_an_error(executor: Executor) -> None:
    result = executor.run(
        """
        import pickle

        def main(r, store):
            copies = [pickle.loads(pickle.dumps(store)) for _ in range(270)]
            refused = set()
            for copy in copies:
                try:
                    copy["a"] = 1
                except store.Error as error:
                    refused.add(f"{type(error).__name__}: {error}")
            copies.clear()
            return sorted(refused)
        """
    )
    assert result.value == ["StoreError: 256 connections to stores are open; close some"]


def test_large_bodies_share_a_bounded_memory(waiting: "tuple[Executor, str, str]") -> None:
    executor, name, path = waiting
    value = json.dumps(json.dumps("x" * 900_000))
    done = []

    def put(number: int) -> None:
        line = Line(path)
        done.append(line.ask(of("set", f'{{"key": "k{number}", "value": {value}, "ttl": null}}'))[0])
        done.append(line.ask(of("get", f'{{"key": "k{number}"}}'))[0])

    threads = [threading.Thread(target=put, args=(n,)) for n in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert done == [200] * 80
    assert len(finish(executor, name)) == 41
