"""The stores of `roost run`: what they promise, asked as the executor asks."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from roost._run import store_entries
from roost._run.failures import CannotRun
from roost._run.stores import Stores

_numbers = itertools.count(1)


class Asking:
    """Asks as one execution does."""

    def __init__(self, stores: Stores, execution: str = "exec_1", name: str = "main") -> None:
        self.stores, self.execution = stores, execution
        self.store = stores.begin(execution, [name])[0]["id"]

    def ask(self, op: str, **fields: Any) -> tuple[int, Any]:
        fields = {"channel": "c", "seq": next(_numbers), **fields}
        body = json.dumps({"execution_id": self.execution, "op": op, **fields}).encode()
        status, answer = self.stores.operate(self.store, body)
        return status, json.loads(answer)

    def do(self, op: str, **fields: Any) -> Any:
        status, answer = self.ask(op, **fields)
        assert status == 200, answer
        return answer

    def refused(self, op: str, **fields: Any) -> tuple[int, str]:
        status, answer = self.ask(op, **fields)
        assert status != 200, answer
        return status, answer["code"]

    def set(self, key: str, value: str, ttl: float | None = None) -> int:
        return int(self.do("set", key=key, value=value, ttl=ttl)["version"])

    def get(self, key: str) -> str | None:
        value = self.do("get", key=key)["value"]
        assert value is None or isinstance(value, str)
        return value


@pytest.fixture
def store(stores: Stores) -> Asking:
    return Asking(stores)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of day, which the test moves on."""
    now = [1_800_000_000.0]
    monkeypatch.setattr("roost._run.stores.time.time", lambda: now[0])
    return now


def test_values_are_the_exact_text_and_stay_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / ".roost/stores.db"
    with contextlib.closing(Stores(path)) as stores:
        Asking(stores).set("a", '{"n": 1.10}')
    with contextlib.closing(Stores(path)) as stores:
        assert Asking(stores, "exec_2").get("a") == '{"n": 1.10}'
        assert Asking(stores, "exec_3", "other").get("a") is None
    assert (tmp_path / ".roost/.gitignore").read_text() == "*\n"


def test_a_file_that_is_no_store_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "stores.db"
    path.write_text("something else, and more of it " * 50)
    with pytest.raises(CannotRun, match=r"stores\.db can't be used for stores: file is not a data"):
        Stores(path)


def test_a_directory_that_was_there_is_not_hidden_from_git(tmp_path: Path) -> None:
    Stores(tmp_path / "stores.db").close()
    assert not (tmp_path / ".gitignore").exists()


def test_versions_grow_across_removals_and_stores(stores: Stores, store: Asking) -> None:
    first = store.set("a", "1")
    assert store.do("delete", key="a") == {"deleted": True, "version": first}
    assert store.do("delete", key="a") == {"deleted": False, "version": 0}
    other = Asking(stores, "exec_1", "other")
    versions = [first, other.set("a", "1"), store.set("a", "1"), store.set("a", "1")]
    assert versions == sorted(set(versions))


@pytest.mark.parametrize(
    ("before", "amount", "after"),
    [
        (None, "5", "5"),
        ("1", "-2", "-1"),
        ("0.1", "0.2", "0.3"),
        ("0.10", "0.2", "0.30"),
        ("1e2", "1", "101"),
        ("1e-3", "0", "0.001"),
        ("-1", "1", "0"),
        ("99999999999999999999999999999999", "1", "100000000000000000000000000000000"),
    ],
)
def test_increments_are_decimal_and_exact(
    store: Asking, before: str | None, amount: str, after: str
) -> None:
    if before is not None:
        store.set("n", before)
    assert store.do("increment", key="n", amount=amount)["value"] == after
    assert store.get("n") == after


def test_only_numbers_are_incremented_and_not_beyond_what_a_server_keeps(store: Asking) -> None:
    store.set("text", '"1"')
    assert store.refused("increment", key="text", amount="1") == (422, "validation_failed")
    assert store.refused("increment", key="n", amount="NaN") == (422, "validation_failed")
    store.set("large", "1e999999999")
    assert store.refused("increment", key="large", amount="1") == (422, "validation_failed")
    store.set("small", "1e-99999")
    assert store.refused("increment", key="small", amount="1") == (422, "validation_failed")


def test_what_is_sent_again_is_answered_as_before(store: Asking) -> None:
    first = store.do("increment", key="n", amount="1", channel="x", seq=1)
    assert store.do("increment", key="n", amount="1", channel="x", seq=1) == first
    assert store.get("n") == "1"
    store.do("increment", key="n", amount="1", channel="x", seq=3)
    assert store.refused("increment", key="n", amount="1", channel="x", seq=2) == (409, "fenced")


def test_an_expired_entry_is_not_there(store: Asking, clock: list[float]) -> None:
    store.set("a", "1", ttl=10)
    assert store.do("get", key="a")["expires_at"] == "2027-01-15T08:00:10.000000Z"
    store.do("increment", key="a", amount="1")  # keeps its expiry
    clock[0] += 10
    assert store.get("a") is None
    assert store.do("count", prefix="") == {"count": 0}
    assert store.do("increment", key="a", amount="1")["value"] == "1"
    clock[0] += 100
    assert store.get("a") == "1"


def test_scans_go_by_code_point_in_pages(store: Asking) -> None:
    keys = ["a", "a\0", "ab", "b", "é", "\uffff", "\U0001f680"]
    for key in reversed(keys):
        store.set(key, json.dumps(key))
    page = store.do("scan", prefix="", after=None, limit=3, values=True)
    assert [entry["key"] for entry in page["entries"]] == keys[:3]
    assert [entry["value"] for entry in page["entries"]] == [json.dumps(key) for key in keys[:3]]
    rest = store.do("scan", prefix="", after=page["next"], limit=4, values=False)
    assert [entry["key"] for entry in rest["entries"]] == keys[3:]
    assert rest["next"] is None
    assert store.do("count", prefix="a") == {"count": 3}
    assert store.do("clear") == {"deleted": 7}


def test_a_page_of_large_values_ends_early(store: Asking) -> None:
    large = json.dumps("x" * (1024 * 1024 - 2))
    for n in range(7):
        store.set(str(n), large)
    page = store.do("scan", prefix="", after=None, limit=1000, values=True)
    assert len(page["entries"]) < 7
    assert page["next"] == page["entries"][-1]["key"]


@pytest.mark.parametrize(
    ("fields", "status", "code"),
    [
        ({"key": ""}, 422, "validation_failed"),
        ({"key": "x" * 513}, 422, "validation_failed"),
        ({"key": "\ud800"}, 422, "validation_failed"),
        ({"value": "NaN"}, 422, "validation_failed"),
        ({"value": "{"}, 422, "validation_failed"),
        ({"value": json.dumps("x" * 1024 * 1024)}, 413, "too_large"),
        ({"ttl": 0}, 422, "validation_failed"),
    ],
)
def test_what_a_server_refuses_is_refused(
    store: Asking, fields: dict[str, Any], status: int, code: str
) -> None:
    assert store.refused("set", **{"key": "a", "value": "1", "ttl": None, **fields}) == (
        status,
        code,
    )
    assert store.do("count", prefix="") == {"count": 0}


def test_a_full_store_takes_nothing_more(store: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_entries, "STORE_BYTES", 100)
    store.set("a", json.dumps("x" * 70))
    assert store.refused("set", key="b", value=json.dumps("x" * 70), ttl=None)[1] == "store_full"
    store.do("delete", key="a")
    store.set("b", json.dumps("x" * 70))


def tag(*versions: int) -> str:
    return hashlib.sha256("".join(f"{version}\n" for version in versions).encode()).hexdigest()


def test_a_transaction_is_done_when_all_that_was_read_is_unchanged(store: Asking) -> None:
    one, two = store.set("u/1", "1"), store.set("u/2", "2")
    answer = store.do(
        "transaction",
        reads=[{"key": "u/1", "version": one}, {"key": "none", "version": 0}],
        ranges=[{"prefix": "u/", "tag": tag(one, two)}, {"prefix": "", "count": 2}],
        writes=[
            {"key": "u/1", "value": "10", "ttl": None},
            {"key": "u/2", "delete": True},
            {"key": "n", "increment": "0.5"},
        ],
    )
    assert answer["sums"] == [None, None, 0.5]
    assert answer["versions"][1] == 0
    assert (store.get("u/1"), store.get("u/2"), store.get("n")) == ("10", None, "0.5")


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"reads": [{"key": "a", "version": 99}]}, 'The entry "a" has changed'),
        ({"reads": [{"key": "a", "version": 0}]}, 'The entry "a" did not exist'),
        ({"reads": [{"key": "b", "version": 99}]}, 'The entry "b" has been deleted'),
        ({"ranges": [{"prefix": "a", "tag": tag()}]}, 'of keys with the prefix "a" have changed'),
        ({"ranges": [{"prefix": "", "count": 2}]}, "The entries of the range have changed"),
    ],
)
def test_a_conflict_is_named_and_nothing_is_written(
    store: Asking, parts: dict[str, Any], said: str
) -> None:
    store.set("a", "1")
    fields = {"reads": [], "ranges": [], "writes": [{"key": "a", "value": "2", "ttl": None}]}
    status, answer = store.ask("transaction", **{**fields, **parts})
    assert (status, answer["code"]) == (409, "conflict")
    assert said in answer["detail"]
    assert store.get("a") == "1"


def test_a_transaction_that_fails_halfway_leaves_nothing(store: Asking) -> None:
    store.set("text", '"x"')
    writes = [{"key": "a", "value": "1", "ttl": None}, {"key": "text", "increment": "1"}]
    refused = store.refused("transaction", reads=[], ranges=[], writes=writes)
    assert refused == (422, "validation_failed")
    assert store.get("a") is None


def test_a_lock_is_waited_for_and_given_back(store: Asking) -> None:
    lock = {"name": "report", "ttl": 30}
    assert store.do("lock", holder="h1", wait=0, **lock) == {"acquired": True}
    assert store.do("lock", holder="h1", wait=0, **lock) == {"acquired": True}
    assert store.do("lock", holder="h2", wait=0, **lock) == {"acquired": False}
    answers: list[Any] = []
    waiting = threading.Thread(
        target=lambda: answers.append(store.do("lock", holder="h2", wait=20, **lock))
    )
    waiting.start()
    assert store.do("unlock", name="report", holder="h1") == {"released": True}
    waiting.join()
    assert answers == [{"acquired": True}]
    assert store.do("unlock", name="report", holder="h1") == {"released": False}


def test_a_lock_that_was_lost_refuses_the_execution_s_writes(
    stores: Stores, store: Asking, tmp_path: Path, clock: list[float]
) -> None:
    store.do("lock", name="report", holder="h1", ttl=1, wait=0)
    clock[0] += 2
    assert store.do("renew", name="report", holder="h1", ttl=1) == {"held": True}
    clock[0] += 2
    with contextlib.closing(Stores(tmp_path / ".roost/stores.db")) as elsewhere:
        other = Asking(elsewhere, "exec_2")
        assert other.do("lock", name="report", holder="h2", ttl=30, wait=0) == {"acquired": True}
        assert store.do("renew", name="report", holder="h1", ttl=1) == {"held": False}
        assert store.refused("set", key="a", value="1", ttl=None) == (409, "lock_lost")
        other.set("a", "2")
        assert store.do("unlock", name="report", holder="h1") == {"released": False}
        store.set("a", "3")
        elsewhere.end("exec_2")
    assert store.do("lock", name="report", holder="h3", ttl=30, wait=0) == {"acquired": True}


def test_an_execution_that_has_ended_can_do_nothing_more(stores: Stores, store: Asking) -> None:
    stores.end("exec_1")
    assert store.refused("set", key="a", value="1", ttl=None) == (409, "fenced")
    assert store.refused("get", key="a") == (409, "fenced")
    assert store.refused("lock", name="l", holder="h", ttl=30, wait=0) == (409, "fenced")


def test_no_increment_of_two_files_on_one_store_is_lost(stores: Stores, tmp_path: Path) -> None:
    def count(stores: Stores, execution: str) -> None:
        store = Asking(stores, execution)
        for _ in range(50):
            store.do("increment", key="n", amount="1")

    with contextlib.closing(Stores(tmp_path / ".roost/stores.db")) as elsewhere:
        other = threading.Thread(target=count, args=(elsewhere, "exec_2"))
        other.start()
        count(stores, "exec_1")
        other.join()
    assert Asking(stores).get("n") == "100"


def test_what_is_no_operation_is_refused(stores: Stores, store: Asking) -> None:
    assert store.refused("drop") == (422, "validation_failed")
    assert stores.operate(store.store, b"{")[0] == 400
    assert stores.operate(store.store, b'{"op": "get", "op": "set"}')[0] == 400
