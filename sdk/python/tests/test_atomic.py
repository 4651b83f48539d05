"""What a DataStore does as one step, whatever others do meanwhile."""

from __future__ import annotations

import sys
from typing import Any, Callable

import httpx
import pytest
from store_server import StoreServer
from support import problem

import roost


def test_increment_returns_the_new_number(stored: StoreServer) -> None:
    store = stored.store
    assert store.increment("n") == 1
    assert store.increment("n", 10**30) == 10**30 + 1
    assert store.increment("n", -(10**30)) == 1
    with pytest.raises(TypeError, match="bool"):
        store.increment("n", True)
    with pytest.raises(ValueError, match="finite"):
        store.increment("n", float("inf"))
    assert stored.values() == {"n": 1}


def test_increment_of_decimals_returns_what_is_stored(stored: StoreServer) -> None:
    stored.put("n", "0.1")
    assert stored.store.increment("n", 0.2) == 0.3
    with stored.store.transaction() as tx:
        tx.increment("n", 0.1)
        tx.increment("n", 0.2)
        assert tx["n"] == 0.6
    assert stored.values() == {"n": 0.6}


def test_a_pop_that_always_conflicts_ends(stored: StoreServer) -> None:
    stored.put("n", "1")
    stored.before = lambda request: (
        problem(409, "conflict", "always") if request.method == "POST" else None
    )
    with pytest.raises(roost.Conflict, match="always"):
        stored.store.pop("n")


@pytest.mark.parametrize(
    ("operation", "result", "after"),
    [
        (lambda store: store.pop("n"), 20, {}),
        (lambda store: store.popitem(), ("n", 20), {}),
    ],
)
def test_someone_elses_change_comes_before_or_after(
    stored: StoreServer, operation: Callable[[roost.DataStore], Any], result: Any, after: Any
) -> None:
    stored.put("n", "10")
    stored.once("/transactions", lambda: stored.put("n", "20"))
    assert operation(stored.store) == result
    assert stored.values() == after
    assert len(stored.bodies()) == 2
    assert stored.clock.slept == [0.001]


def test_an_increment_is_one_request_that_conflicts_with_nobody(stored: StoreServer) -> None:
    stored.put("n", "10")
    stored.once("/transactions", lambda: stored.put("n", "20"))
    assert stored.store.increment("n", 5) == 25
    assert len(stored.bodies()) == 1
    assert stored.sent("GET", "/entries") == []


def test_popitem_takes_the_first(stored: StoreServer) -> None:
    stored.put("b", "1")
    stored.once("/transactions", lambda: stored.put("a", "2"))
    assert stored.store.popitem() == ("a", 2)
    assert stored.store.popitem() == ("b", 1)
    with pytest.raises(KeyError):
        stored.store.popitem()
    assert {each.url.params["limit"] for each in stored.sent("GET", "/entries")} == {"1"}


@pytest.mark.parametrize(
    ("value", "amount", "result"),
    [
        ("1e308", 1e308, 1e308 * 2),
        ("-1e308", -1e308, -1e308 * 2),
        ("1e400", 1, float("inf")),
        (str(10**400), 0.5, float("inf")),
        ("1", 0.5, 1.5),
        ("1.5", 10**20, 100000000000000000001.5),
    ],
)
def test_a_transaction_shows_sums_of_any_size(
    stored: StoreServer, value: str, amount: float, result: float
) -> None:
    stored.put("n", value)
    answer = {"versions": [9], "sums": [None]}
    stored.before = lambda request: (
        httpx.Response(200, json=answer) if request.method == "POST" else None
    )
    with stored.store.transaction() as tx:
        tx.increment("n", amount)
        assert tx["n"] == result


def test_pop_of_what_is_not_there_writes_nothing(stored: StoreServer) -> None:
    assert stored.store.pop("a", None) is None
    with pytest.raises(KeyError):
        stored.store.pop("a")
    assert stored.bodies() == []


def test_setdefault_takes_what_someone_else_stored(stored: StoreServer) -> None:
    stored.once("/transactions", lambda: stored.put("k", '"theirs"'))
    assert stored.store.setdefault("k", "mine") == "theirs"
    assert stored.store.setdefault("other", "mine") == "mine"
    assert stored.store.setdefault("other", "late") == "mine"


def test_update_is_sent_in_batches_of_a_thousand(stored: StoreServer) -> None:
    stored.store.update({f"{n:04}": n for n in range(1500)}, last=1)
    assert [len(body["writes"]) for body in stored.bodies()] == [1000, 501]
    assert len(stored.store) == 1501
    stored.store.update([("pair", 1)])
    stored.store.update()
    assert stored.values()["pair"] == 1
    assert len(stored.bodies()) == 3


def test_update_is_sent_in_batches_of_four_mebibytes(stored: StoreServer) -> None:
    stored.store.update({f"{n}": "x" * (1 << 20) for n in range(5)})
    assert [len(body["writes"]) for body in stored.bodies()] == [3, 2]


def test_a_batch_of_update_is_stored_as_a_whole_or_not(stored: StoreServer) -> None:
    with pytest.raises(TypeError, match="the value of 'b'"):
        stored.store.update(a=1, b=object())
    assert stored.values() == {}


def test_clear_deletes_in_batches(stored: StoreServer) -> None:
    for n in range(1200):
        stored.put(f"{n:04}", "1")
    stored.store.clear()
    assert stored.values() == {}
    assert [len(body["writes"]) for body in stored.bodies()] == [1000, 200]
    stored.store.clear()


KEYS = ["\0", "a\0b", "😀", "../x", "..", "a%2Fb", "a/b", " ", "\x7f", "ü" * 256, "k" * 512, '"\\']


@pytest.mark.parametrize("key", KEYS)
def test_any_key_comes_back(stored: StoreServer, key: str) -> None:
    store = stored.store
    store[key] = 1
    assert store.increment(key) == 2
    assert store.entry(key).value == store[key] == 2
    with store.transaction() as tx:
        tx[key] = tx[key] + 1
        assert list(tx) == [key]
    assert list(store.items(key)) == [(key, 3)]
    assert stored.values() == {key: 3}
    assert store.pop(key) == 3
    store.update({key: 1})
    del store[key]
    assert key not in store


def test_a_key_that_is_too_long_is_a_plain_error(stored: StoreServer) -> None:
    text = "The key has 513 bytes of UTF-8; the limit is 512."
    error = {"pointer": "/writes/0/key", "code": "too_long", "detail": text}
    stored.before = lambda request: problem(422, "validation_failed", text, [error])
    for write in (stored.store.__setitem__, stored.store.setdefault, stored.store.increment):
        with pytest.raises(roost.ValidationError, match="the limit is 512"):
            write("k" * 513, 1)


@pytest.mark.parametrize(
    "use",
    [
        lambda store, key: store.get(key),
        lambda store, key: key in store,
        lambda store, key: store.set(key, 1),
        lambda store, key: store.pop(key, None),
        lambda store, key: store.increment(key),
        lambda store, key: store.update({key: 1}),
        lambda store, key: list(store.items(key)),
        lambda store, key: store.transact(lambda tx: tx.set(key, 1)),
        lambda store, key: store.transact(lambda tx: tx.increment(key)),
    ],
)
def test_half_a_character_is_no_key(
    stored: StoreServer, use: Callable[[roost.DataStore, str], Any]
) -> None:
    with pytest.raises(ValueError, match="surrogate"):
        use(stored.store, "\ud800")
    assert stored.requests == []


@pytest.mark.parametrize(
    "value", [None, -0.0, 10**400, "\ud800\0😀", [[]], {"z": 1, "a": {"": []}}, 1e300, 5e-324]
)
def test_any_value_comes_back(stored: StoreServer, value: Any) -> None:
    stored.store["k"] = value
    assert repr(stored.store["k"]) == repr(value)
    with stored.store.transaction() as tx:
        tx["l"] = tx["k"]
    assert repr(stored.store["l"]) == repr(value)


def test_what_json_has_not_is_refused(stored: StoreServer) -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    for value in (float("nan"), float("inf"), deep):
        for write in (stored.store.set, lambda key, value: stored.store.update({key: value})):
            with pytest.raises(ValueError, match="the value of 'k'"):
                write("k", value)
        with pytest.raises(ValueError, match="the value of 'k'"):
            with stored.store.transaction() as tx:
                tx["k"] = value
    assert stored.requests == []


def test_a_number_that_is_too_large_is_infinite(stored: StoreServer) -> None:
    stored.put("k", "1e400")
    assert stored.store["k"] == float("inf")
    with stored.store.transaction() as tx:
        tx["seen"] = str(tx["k"])
    assert stored.values()["seen"] == "inf"


def test_what_is_too_deep_to_read_is_a_plain_error(stored: StoreServer) -> None:
    stored.entries["k"] = ("[" * 100_000 + "]" * 100_000, 1)
    with pytest.raises(roost.ServerError, match="nested too deeply"):
        stored.store["k"]


@pytest.mark.skipif(
    not hasattr(sys, "get_int_max_str_digits"), reason="this Python converts any number of digits"
)
def test_what_has_too_many_digits_is_a_plain_error(stored: StoreServer) -> None:
    stored.entries["k"] = ("1" * 5000, 1)
    with pytest.raises(roost.ServerError, match=r"can't be parsed: .*digits"):
        stored.store["k"]
    with pytest.raises(ValueError, match="the value of 'l'"):
        stored.store["l"] = 1 << 20_000
