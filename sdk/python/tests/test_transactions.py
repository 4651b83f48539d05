from __future__ import annotations

import hashlib
from typing import Any

import httpx
import pytest
from store_server import StoreServer
from support import problem

import roost


def tag(*versions: int) -> str:
    return hashlib.sha256("".join(f"{version}\n" for version in versions).encode()).hexdigest()


def test_reads_are_checked_and_writes_applied_together(stored: StoreServer) -> None:
    a = stored.put("a", "10")
    stored.put("gone", "1")
    with stored.store.transaction() as tx:
        tx["b"] = tx["a"] + tx.get("absent", 5)
        tx.set("c", [1.50], ttl=60)
        tx.increment("n", 2)
        del tx["gone"]
        assert stored.values() == {"a": 10, "gone": 1}
    assert stored.bodies() == [
        {
            "reads": [
                {"key": "a", "version": a},
                {"key": "absent", "version": 0},
                {"key": "gone", "version": 2},
            ],
            "ranges": [],
            "writes": [
                {"key": "b", "value": 15},
                {"key": "c", "value": [1.5], "ttl": 60},
                {"key": "n", "increment": 2},
                {"key": "gone", "delete": True},
            ],
        }
    ]
    assert stored.values() == {"a": 10, "b": 15, "c": [1.5], "n": 2}
    assert tx.versions == {"b": 3, "c": 4, "n": 5, "gone": 0}


@pytest.mark.parametrize("before", ["1", None])
def test_a_key_that_changed_is_a_conflict_that_names_it(
    stored: StoreServer, before: str | None
) -> None:
    if before:
        stored.put("a", before)
    stored.put("quiet", "1")
    tx = stored.store.transaction()
    with pytest.raises(roost.Conflict, match=r"changed since it was read: 'a'; nothing") as raised:
        with tx:
            tx["b"] = [tx.get("a"), tx["quiet"]]
            stored.put("a", "2")
    assert raised.value.code == "conflict"
    assert [error.pointer for error in raised.value.errors] == ["/reads/0"]
    assert stored.values() == {"a": 2, "quiet": 1}
    assert tx.versions == {}


def test_what_was_only_read_is_checked_as_well(stored: StoreServer) -> None:
    stored.put("a", "1")
    with pytest.raises(roost.Conflict, match="'a'"), stored.store.transaction() as tx:
        assert tx["a"] == 1
        stored.put("a", "1")


def test_nothing_read_and_nothing_written_asks_nothing(stored: StoreServer) -> None:
    with stored.store.transaction():
        pass
    assert stored.requests == []


def test_an_exception_writes_nothing(stored: StoreServer) -> None:
    with pytest.raises(ZeroDivisionError), stored.store.transaction() as tx:
        tx["a"] = 1
        raise ZeroDivisionError
    assert stored.requests == []
    for use in (lambda: tx["a"], lambda: tx.set("a", 1), lambda: list(tx), lambda: len(tx)):
        with pytest.raises(RuntimeError, match="has ended"):
            use()
    with pytest.raises(RuntimeError, match="once"), tx:
        pass
    with pytest.raises(RuntimeError, match="with block"):
        stored.store.transaction()["a"] = 1


def test_an_iteration_that_outlives_the_block_fails(stored: StoreServer) -> None:
    stored.put("a", "1")
    stored.put("b", "1")
    with stored.store.transaction() as tx:
        keys = iter(tx)
        assert next(keys) == "a"
    with pytest.raises(RuntimeError, match="has ended"):
        next(keys)


def test_reading_sees_own_writes(stored: StoreServer) -> None:
    for key in ("a", "b", "n"):
        stored.put(key, "1")
    with stored.store.transaction() as tx:
        mine = {"x": [1]}
        tx["a"] = mine
        mine["x"].append(2)
        assert tx["a"] == {"x": [1]}
        tx["a"]["x"].append(3)
        assert tx["a"] == {"x": [1]}
        assert tx.pop("b") == 1
        assert "b" not in tx
        assert tx.pop("b", None) is None
        with pytest.raises(KeyError):
            del tx["b"]
        tx.increment("n", 0.5)
        tx.increment("n", 1)
        assert tx["n"] == 2.5
        tx.increment("new")
        assert tx["new"] == 1
        tx.increment("b", 7)
        assert tx.setdefault("b", 0) == 7
        tx.update(z=1)
    assert stored.values() == {"a": {"x": [1]}, "b": 7, "n": 2.5, "new": 1, "z": 1}


def test_iteration_merges_own_writes(stored: StoreServer) -> None:
    for key in ("b", "d", "f", "n"):
        stored.put(key, "1")
    with stored.store.transaction() as tx:
        tx["a"] = tx["d"] = tx["g"] = 2
        tx["gone"] = 1
        del tx["f"], tx["gone"]
        tx.increment("n")
        tx.increment("o")
        expected = {"a": 2, "b": 1, "d": 2, "g": 2, "n": 2, "o": 1}
        assert dict(tx.items()) == expected
        assert list(tx) == sorted(expected)
        assert list(tx.values("d")) == [2]
        assert ("d", 2) in tx.items("d")
        assert ("d", 2) not in tx.items("x")
        assert len(tx) == 6
    assert stored.values() == expected


def test_what_is_written_while_iterating_is_seen_further_on(stored: StoreServer) -> None:
    for key in ("a", "b", "c"):
        stored.put(key, "1")
    with stored.store.transaction() as tx:
        seen = []
        for key, value in tx.items():
            seen.append((key, value))
            tx["b"] = 5
            tx.pop("c", None)
            tx[key + "!"] = 0
    assert seen == [("a", 1), ("b", 5)]


def test_a_whole_iteration_is_a_range(stored: StoreServer) -> None:
    versions = [stored.put(f"u/{n:03}", "1") for n in range(205)]
    stored.put("v", "1")
    with stored.store.transaction() as tx:
        assert sum(tx.values("u/")) == 205
        assert sum(tx.values("u/")) == 205
    assert stored.bodies()[0]["ranges"] == [{"prefix": "u/", "tag": tag(*versions)}]
    assert stored.bodies()[0]["reads"] == []


def test_an_iteration_that_was_broken_off_ends_where_it_was(stored: StoreServer) -> None:
    versions = [stored.put(key, "1") for key in ("a", "c", "d")]
    with stored.store.transaction() as tx:
        tx["b"] = 2
        kept = iter(tx.items())
        assert [next(kept)[0] for _ in range(2)] == ["a", "b"]
        unused = iter(tx)
        stored.put("d", "2")  # beyond what was seen
    assert stored.bodies()[0]["ranges"] == [{"prefix": "", "through": "b", "tag": tag(versions[0])}]
    del unused


@pytest.mark.parametrize(
    ("change", "ok"), [("u/0", False), ("u/a", False), ("u/c", False), ("v", True), ("t", True)]
)
def test_a_new_key_in_a_range_is_a_conflict(stored: StoreServer, change: str, ok: bool) -> None:
    stored.put("u/a", "1")
    stored.put("u/b", "1")

    def total(tx: roost.Transaction) -> None:
        tx["sum"] = sum(tx.values("u/"))

    stored.once("/transactions", lambda: stored.put(change, "1"))
    if ok:
        with stored.store.transaction() as tx:
            total(tx)
    else:
        with pytest.raises(roost.Conflict, match="the keys that begin with 'u/'"):
            with stored.store.transaction() as tx:
                total(tx)
    assert ("sum" in stored.entries) == ok


def test_a_length_is_a_count(stored: StoreServer) -> None:
    stored.put("a", "1")
    with pytest.raises(roost.Conflict, match="the number of entries"):
        with stored.store.transaction() as tx:
            tx["n"] = len(tx)
            stored.put("b", "1")
    assert stored.bodies()[0]["ranges"] == [{"prefix": "", "count": 1}]


def test_a_second_reading_that_differs_is_a_conflict_at_once(stored: StoreServer) -> None:
    stored.put("a", "1")
    readings: list[Any] = [
        lambda tx: tx["a"],
        lambda tx: "a" in tx,
        lambda tx: [tx["a"], *tx.items()],
    ]
    for reading in readings:
        with pytest.raises(roost.Conflict, match="first read it: 'a'"):
            with stored.store.transaction() as tx:
                assert reading(tx) is not None
                stored.put("a", "2")
                tx["b"] = tx["a"]
    with pytest.raises(roost.Conflict, match="first read it: the number"):
        with stored.store.transaction() as tx:
            assert len(tx) == 1
            stored.put("new", "2")
            len(tx)
    assert stored.bodies() == []


def test_blind_increments_conflict_with_nobody(stored: StoreServer) -> None:
    stored.put("n", "1")
    with stored.store.transaction() as tx:
        tx.increment("n", 5)
        stored.put("n", "10")
    assert stored.values() == {"n": 15}
    with pytest.raises(roost.Conflict, match="'n'"), stored.store.transaction() as tx:
        tx.increment("n", 5)
        assert tx["n"] == 20
        stored.put("n", "0")


def test_an_increment_of_what_it_can_see_is_no_number(stored: StoreServer) -> None:
    stored.put("text", '"1"')
    with stored.store.transaction() as tx:
        tx["list"] = []
        with pytest.raises(roost.ValidationError, match="'list' is a list"):
            tx.increment("list")
    with pytest.raises(roost.ValidationError, match='"text" is not a number'):
        stored.store.increment("text")
    with pytest.raises(TypeError, match="bool"), stored.store.transaction() as tx:
        tx.increment("n", True)
    with pytest.raises(ValueError, match="finite"), stored.store.transaction() as tx:
        tx.increment("n", float("nan"))


def test_a_lost_answer_is_requested_with_the_same_key(stored: StoreServer) -> None:
    stored.lost = 2
    with stored.store.transaction() as tx:
        tx.increment("n")
    assert stored.values() == {"n": 1}
    assert tx.versions == {"n": 1}
    keys = [request.headers["Idempotency-Key"] for request in stored.requests]
    assert len(keys) == 3
    assert len(set(keys)) == 1
    with stored.store.transaction() as tx:
        tx.increment("n")
    assert stored.requests[-1].headers["Idempotency-Key"] != keys[0]


def test_when_no_answer_comes_it_may_have_been_applied(stored: StoreServer) -> None:
    stored.lost = 100
    with pytest.raises(roost.APIConnectionError, match="may have been applied"):
        stored.store.update(a=1)
    stored.before = lambda request: problem(503, "unavailable", "the database is away")
    with pytest.raises(roost.Unavailable, match="may have been applied"):
        stored.store.update(a=1)


def test_a_mistake_names_the_key(stored: StoreServer) -> None:
    error = {"pointer": "/writes/1/value", "code": "too_large", "detail": "over 1 MiB"}
    stored.before = lambda request: problem(413, "too_large", "The value is too large.", [error])
    with pytest.raises(roost.TooLarge, match=r"too large(.|\n)*writes/1 is 'b'"):
        stored.store.update(a=1, b=2)


def test_transact_tries_again_with_growing_pauses(stored: StoreServer) -> None:
    stored.put("n", "0")
    calls = []

    def add(tx: roost.Transaction) -> str:
        calls.append(tx["n"])
        tx["n"] += 1
        if len(calls) < 13:
            stored.put("n", str(len(calls)))
        return "done"

    assert stored.store.transact(add) == "done"
    assert stored.values() == {"n": 13}
    assert calls == list(range(13))
    assert stored.clock.slept[:3] == [0.001, 0.002, 0.004]
    assert stored.clock.slept[-3:] == [0.5, 0.5, 0.5]


def test_transact_gives_up(stored: StoreServer) -> None:
    def hopeless(tx: roost.Transaction) -> None:
        tx["n"] = tx.get("n", 0)
        stored.put("n", "1")

    with pytest.raises(roost.Conflict, match="'n'"):
        stored.store.transact(hopeless, attempts=3)
    assert len(stored.bodies()) == 3
    with pytest.raises(ValueError, match="at least 1"):
        stored.store.transact(hopeless, attempts=0)


def test_transact_does_not_repeat_other_failures(stored: StoreServer) -> None:
    calls = []

    def fail(error: Exception) -> None:
        calls.append(error)
        raise error

    for error in (ZeroDivisionError(), roost.Conflict("a name is taken")):
        with pytest.raises(type(error)):
            stored.store.transact(lambda tx, error=error: fail(error))  # type: ignore[misc]
    assert len(calls) == 2


def test_a_second_reading_that_differs_is_tried_again_too(stored: StoreServer) -> None:
    stored.put("a", "1")

    def twice(tx: roost.Transaction) -> list[int]:
        first = tx["a"]
        if first == 1:
            stored.put("a", "2")
        return [first, tx["a"]]

    assert stored.store.transact(twice) == [2, 2]


def test_a_store_that_is_gone_is_no_conflict(stored: StoreServer) -> None:
    stored.before = lambda request: problem(404, "not_found", "no such store")
    with pytest.raises(roost.NotFound), stored.store.transaction() as tx:
        tx["a"] = 1
    with pytest.raises(roost.NotFound), stored.store.transaction() as tx:
        tx.get("a")


def test_a_broken_iteration_can_be_left_at_that(stored: StoreServer) -> None:
    def breaks(request: httpx.Request) -> httpx.Response | None:
        return problem(400, "x") if "cursor" in request.url.params else None

    versions = [stored.put(f"{n:03}", "1") for n in range(201)]
    stored.before = breaks
    with stored.store.transaction() as tx:
        with pytest.raises(roost.RoostError):
            for _ in tx.values():
                pass
        stored.before = lambda request: None
    assert stored.bodies()[0]["ranges"] == [
        {"prefix": "", "through": "199", "tag": tag(*versions[:200])}
    ]
