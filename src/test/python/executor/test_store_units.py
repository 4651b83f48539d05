"""The two ends of the store socket, each alone with an other end that the test plays."""

import json
import select
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest
from control_plane import WAIT_SECONDS, ControlPlane
from executor import PACKAGE, merged

sys.path.insert(0, str(PACKAGE.parent))

from roost_executor.script.store import Store  # noqa: E402
from roost_executor.script.store_values import added  # noqa: E402
from roost_executor.sidecar import store_server  # noqa: E402
from roost_executor.sidecar.link import Address  # noqa: E402
from roost_executor.sidecar.store_requests import MemoryBudget, Reservation  # noqa: E402
from roost_executor.wire import sockets  # noqa: E402

UNAVAILABLE = 503, {"code": "unavailable", "detail": "nobody there"}
LOST = 409, {"code": "lock_lost", "detail": "a lock was lost"}
OK = 200, {"version": 1, "released": True, "acquired": True, "held": True, "value": None}


class Sidecar:
    """Answers operations from a list, all others with OK."""

    def __init__(self, path: str) -> None:
        self.operations: list[str] = []
        self.answers: dict[str, list[Any]] = {}
        self.listener = sockets.listen(path, 8)
        self.store = Store(path, "store_main", "main")
        threading.Thread(target=self.run, daemon=True).start()

    def run(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection: socket.socket) -> None:
        with connection:
            while True:
                data = connection.recv(65536)
                if not data:
                    return
                operation = data.split(b" ")[0].decode()
                self.operations.append(operation)
                answers = self.answers.get(operation)
                answer = answers.pop(0) if answers else OK
                if answer is None:
                    return
                body = answer if isinstance(answer, bytes) else json.dumps(answer[1]).encode()
                connection.sendall(b"%d %d\n" % (200 if isinstance(answer, bytes) else answer[0], len(body)) + body)


@pytest.fixture
def sidecar(tmp_path: Path) -> "Iterator[Sidecar]":
    made = Sidecar(str(tmp_path / "store.sock"))
    yield made
    made.listener.close()


def test_a_lock_that_was_granted_unseen_does_not_stop_writes(sidecar: Sidecar) -> None:
    store = sidecar.store
    sidecar.answers = {"lock": [UNAVAILABLE], "set": [LOST]}
    with pytest.raises(store.Unavailable):
        store.lock("report").__enter__()
    store["a"] = 1
    assert sidecar.operations == ["lock", "set", "unlock", "set"]
    sidecar.answers = {"set": [LOST]}
    with pytest.raises(store.LockLost):
        store["a"] = 1


def test_an_unlock_without_a_response_is_reported_and_repeated(sidecar: Sidecar) -> None:
    store = sidecar.store
    sidecar.answers = {"unlock": [UNAVAILABLE], "set": [LOST]}
    lock = store.lock("report")
    with pytest.raises(store.Unavailable), lock:
        assert lock.held
    assert not lock.held
    store["a"] = 1
    assert sidecar.operations == ["lock", "unlock", "set", "unlock", "set"]


def test_a_lease_that_may_be_over_is_not_held_until_it_is_renewed(sidecar: Sidecar) -> None:
    renewed = threading.Event()
    sidecar.answers = {"renew": [UNAVAILABLE] * 8}
    with sidecar.store.lock("report", ttl=0.2) as lock:
        threading.Thread(target=lambda: wait_for(lambda: not lock.held) or renewed.set(), daemon=True).start()
        assert renewed.wait(WAIT_SECONDS)
        wait_for(lambda: lock.held)


def wait_for(condition: "Callable[[], bool]") -> None:
    end = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.002)


def test_answers_that_are_none_are_plain_errors(sidecar: Sidecar) -> None:
    store = sidecar.store
    sidecar.answers = {
        "get": [None, b"<html>", (404, ["x"]), (500, {"title": "Broken"}), (507, {"code": "store_full"})]
    }
    with pytest.raises(store.Unavailable, match="get: the executor's store connection failed"):
        store.get("a")
    for kind, text in ((store.Error, "isn't JSON"), (store.Error, "status 404"), (store.Error, "Broken")):
        with pytest.raises(kind, match=text):
            store.get("a")
    with pytest.raises(store.Full):
        store.get("a")
    assert store.get("a") is None


def test_a_lock_stays_in_its_process(sidecar: Sidecar) -> None:
    import pickle

    with sidecar.store.lock("report") as lock, pytest.raises(TypeError):
        pickle.dumps(lock)
    with sidecar.store.transaction() as transaction, pytest.raises(TypeError):
        pickle.dumps(transaction)
    assert repr(pickle.loads(pickle.dumps(sidecar.store))) == "<Store 'main'>"


WORK = {
    "execution_id": "exec_1",
    "stores": [{"id": "store_main"}],
    "timeout_seconds": 600.0,
    "limits": {"store_wait_seconds": 2.0},
}


@pytest.fixture
def served(tmp_path: Path) -> "Iterator[tuple[ControlPlane, Store, Any]]":
    """A control plane, a store, and the sidecar's server between them, with little patience."""
    plane = ControlPlane()
    server = store_server.StoreServer(Address(plane.url, "secret"))
    server.begin(WORK)
    listener = sockets.listen(str(tmp_path / "store.sock"), 8)
    over = threading.Event()

    def accept() -> None:
        while not over.is_set():
            if select.select([listener], [], [], 0.05)[0]:
                server.accept(listener)

    thread = threading.Thread(target=accept)
    thread.start()
    yield plane, Store(str(tmp_path / "store.sock"), "store_main", "main"), server
    over.set()
    thread.join()
    server.end()
    listener.close()
    plane.stop()


def test_after_a_while_a_store_is_unavailable(served: "tuple[ControlPlane, Store, Any]") -> None:
    plane, store, _ = served
    plane.fault = lambda call: (503, None)
    with pytest.raises(store.Unavailable, match=r"^get: the control plane gave no response \(status 503\)$"):
        store.get("a")
    with pytest.raises(store.Unavailable, match=r"^set: .*\(status 503\); it may have been applied$"):
        store["a"] = 1
    plane.fault = None
    store["a"] = 2
    assert store["a"] == 2


def test_a_store_is_waited_for_as_long_as_the_setting_and_the_deadline_allow(
    served: "tuple[ControlPlane, Store, Any]", monkeypatch: pytest.MonkeyPatch
) -> None:
    plane, store, server = served
    now = time.monotonic()
    server.begin(merged(WORK, {"limits": {"store_wait_seconds": 300.0}}))
    assert now + 320.0 <= server.deadline_of(20.0) <= time.monotonic() + 320.0
    server.begin(merged(WORK, {"limits": {"store_wait_seconds": 300.0}, "timeout_seconds": 50.0}))
    assert now + 50.0 <= server.deadline_of(20.0) <= time.monotonic() + 50.0
    # A control plane that is away for longer than one call takes, or that takes the question and is silent.
    server.begin(merged(WORK, {"limits": {"store_wait_seconds": 300.0}}))
    monkeypatch.setattr(store_server, "RESPONSE_SECONDS", 0.2)
    monkeypatch.setattr(store_server, "LEAST_RESPONSE_SECONDS", 0.1)
    silent = threading.Event()
    asked = []

    def fault(call: str) -> None:
        asked.append(call)
        if len(asked) < 4:
            silent.wait(60)

    plane.fault = fault
    store["a"] = 1
    silent.set()
    assert len(asked) >= 4 and store["a"] == 1


def test_waiting_for_a_lock_does_not_count_towards_the_timeout(served: "tuple[ControlPlane, Store, Any]") -> None:
    plane, store, _ = served
    plane.stores.take_lock("store_main", "report")
    began = time.monotonic()
    # Longer than the timeout: failures first, then the waiting itself.
    plane.fault = lambda call: (503, None) if time.monotonic() < began + 0.7 else None
    with pytest.raises(store.LockTimeout):
        store.lock("report", timeout=3).__enter__()
    assert time.monotonic() - began >= 3


def test_the_end_of_an_execution_ends_its_waiting(served: "tuple[ControlPlane, Store, Any]") -> None:
    plane, store, server = served
    plane.stores.take_lock("store_main", "report")
    found = []

    def wait() -> None:
        try:
            store.lock("report").__enter__()
        except store.Error as error:
            found.append(str(error))

    thread = threading.Thread(target=wait)
    thread.start()
    wait_for(lambda: bool(plane.requests))
    server.end()
    thread.join(WAIT_SECONDS)
    assert not thread.is_alive() and found


def test_the_memory_of_bodies_is_shared_and_released() -> None:
    budget = MemoryBudget(1000_000)
    first, second = Reservation(budget), Reservation(budget)
    first.reserve(60_000)
    assert first.count == 0  # small ones need none
    first.reserve(900_000)
    reserved = threading.Event()
    thread = threading.Thread(target=lambda: second.reserve(200_000) or reserved.set())
    thread.start()
    assert not reserved.wait(0.05)
    first.release()
    assert reserved.wait(WAIT_SECONDS)
    second.reserve(5_000_000)  # more than the budget, but nothing else is reserved
    second.release()
    first.reserve(1_000_000)
    first.release()


def test_numbers_are_added_in_decimal() -> None:
    for text, amount, total in (
        ("1", "2", "3"),
        ("0.1", "0.2", "0.3"),
        ("1.50", "1", "2.50"),
        ("-0.0", "0", "0.0"),
        ("1e22", "1e22", "2" + "0" * 22),
        ("1e400", "1", "1" + "0" * 399 + "1"),
        ("1" + "0" * 5000, "1", "1" + "0" * 4999 + "1"),
        (" 5 ", "0.5", "5.5"),
    ):
        assert added("k", text, amount) == total
    with pytest.raises(Store.Error, match="too many digits"):
        added("k", "1e99999999", "1")
    with pytest.raises(Store.Error, match="too many digits"):
        added("k", "1e-99999999", "0")
    assert added("k", None, "1e+22") == "1e+22"
    for text in ('"1"', "true", "null", "[1]"):
        with pytest.raises(Store.Error, match="no number"):
            added("k", text, "1")
