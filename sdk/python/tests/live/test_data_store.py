from __future__ import annotations

import concurrent.futures
import io
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import roost

KEYS = [
    "user/ada",
    "a b?#%+&=",
    "clé ☃",
    "..",
    ".",
    "a/../b",
    "../x",
    "%2F",
    "'",
    "\0",
    "😀",
    "k" * 512,
]


@pytest.fixture
def store(client: roost.Client, unique: str) -> Iterator[roost.DataStore]:
    store = client.datastores.create(unique)
    yield store
    store.delete(force=True)


def test_it_is_a_mapping(store: roost.DataStore) -> None:
    store["b"] = {"n": 10**30}
    store["a"] = None
    assert dict(store) == {"a": None, "b": {"n": 10**30}}
    assert (len(store), "a" in store, "c" in store) == (2, True, False)
    del store["a"]
    with pytest.raises(KeyError):
        del store["a"]
    with pytest.raises(KeyError):
        store["a"]
    assert store.setdefault("a", 1) == store.setdefault("a", 2) == 1
    assert store.pop("a") == 1
    assert store.popitem() == ("b", {"n": 10**30})
    assert store.pop("b", None) is None
    with pytest.raises(KeyError):
        store.popitem()
    store.update({f"{n:04}": n for n in range(1200)}, last=None)
    assert len(store) == 1201
    store.clear()
    assert list(store) == []
    assert len(store) == 0


@pytest.mark.parametrize("key", KEYS)
def test_any_key_comes_back(store: roost.DataStore, key: str) -> None:
    store[key] = key
    assert store[key] == store.entry(key).value == key
    assert list(store.items()) == list(store.items(key)) == [(key, key)]
    with store.transaction() as tx:
        assert list(tx.items(key)) == [(key, tx[key])]
        tx[key] = 1
    assert store.increment(key) == 2
    target = io.BytesIO()
    assert store.export(target) == 1
    assert list(store.iter_export(after=key)) == []
    del store[key]
    assert key not in store
    assert store.import_(io.BytesIO(target.getvalue())) == 1
    assert store.pop(key) == 2


def test_a_key_that_is_too_long_is_a_plain_error(store: roost.DataStore) -> None:
    for write in (store.__setitem__, store.increment, store.setdefault):
        with pytest.raises(roost.ValidationError, match="512"):
            write("k" * 513, 1)
    with pytest.raises(roost.ValidationError, match="512"), store.transaction() as tx:
        tx["k" * 513] = 1
    assert len(store) == 0


@pytest.mark.parametrize("value", [0, -0.0, 1.5, "", "\ud800\0", [], {"z": 1, "a": 2}, 10**400])
def test_any_value_comes_back(store: roost.DataStore, value: Any) -> None:
    store["k"] = value
    assert repr(store["k"]) == repr(value)


def test_prefixes_are_in_order_over_pages(store: roost.DataStore) -> None:
    for n in range(205):
        store[f"u/{n:03}"] = n
    store["v"] = None
    assert list(store.values(prefix="u/")) == list(range(205))
    assert list(store)[-1] == "v"


def test_versions_guard_writes(store: roost.DataStore) -> None:
    first = store.set("k", 1, if_match=0)
    assert store.entry("k").version == first
    second = store.set("k", 2, if_match=first)
    assert second > first
    with pytest.raises(roost.PreconditionFailed):
        store.set("k", 3, if_match=first)
    with pytest.raises(roost.PreconditionFailed):
        store.set("k", 3, if_match=0)
    assert store["k"] == 2


def test_an_entry_can_expire(store: roost.DataStore) -> None:
    store.set("k", 1, ttl=3600)
    [entry] = store.scan()
    assert entry == store.entry("k")
    assert entry.expires_at is not None
    with store.transaction() as tx:
        tx.set("l", 1, ttl=3600)
        tx.increment("k")
    assert store["k"] == 2
    assert store.entry("k").expires_at == entry.expires_at
    assert store.entry("l").expires_at is not None


def test_a_transaction_is_all_or_nothing(store: roost.DataStore) -> None:
    store.update(a=10, b=0, gone=1)
    with store.transaction() as tx:
        tx["a"], tx["b"] = tx["a"] - 4, tx["b"] + 4
        del tx["gone"]
        tx.increment("n", 2)
    assert dict(store) == {"a": 6, "b": 4, "n": 2}
    assert tx.versions == {
        **{key: store.entry(key).version for key in ("a", "b", "n")},
        "gone": 0,
    }
    with pytest.raises(ZeroDivisionError), store.transaction() as tx:
        tx["a"] = 1 / 0
    assert store["a"] == 6


@pytest.mark.parametrize(
    ("read", "change", "name"),
    [
        (lambda tx: tx["a"], lambda store: store.set("a", 1), "'a'"),
        (lambda tx: tx["a"], lambda store: store.pop("a"), "'a'"),
        (lambda tx: tx.get("new"), lambda store: store.set("new", None), "'new'"),
        (len, lambda store: store.set("new", 1), "the number of entries"),
        (len, lambda store: store.set("a", 2), None),
        (lambda tx: dict(tx.items("u/")), lambda store: store.set("u/0", 1), "'u/'"),
        (lambda tx: dict(tx.items("u/")), lambda store: store.set("u/b", 1), "'u/'"),
        (lambda tx: dict(tx.items("u/")), lambda store: store.pop("u/b"), "'u/'"),
        (lambda tx: dict(tx.items("u/")), lambda store: store.set("v", 1), None),
        (lambda tx: dict(tx.items("no/")), lambda store: store.set("no/1", 1), "'no/'"),
        (lambda tx: list(itertools.islice(tx.items("u/"), 2)), lambda s: s.set("u/c", 1), None),
        (lambda tx: list(itertools.islice(tx.items("u/"), 2)), lambda s: s.set("u/aa", 1), "'u/b'"),
        (lambda tx: list(itertools.islice(tx.items("u/"), 2)), lambda s: s.set("u/b", 9), "'u/b'"),
        (lambda tx: tx.increment("n"), lambda store: store.increment("n"), None),
    ],
)
def test_what_was_read_must_not_change(
    store: roost.DataStore, read: Any, change: Any, name: str | None
) -> None:
    store.update({"a": 1, "u/a": 1, "u/b": 2, "u/c": 3})
    tx = store.transaction()
    if name is None:
        with tx:
            read(tx)
            tx["written"] = True
            change(store)
    else:
        with pytest.raises(roost.Conflict, match=name), tx:
            read(tx)
            tx["written"] = True
            change(store)
    assert ("written" in store) == (name is None)


def test_a_range_over_pages_is_checked(store: roost.DataStore) -> None:
    store.update({f"{n:04}": n for n in range(450)})
    with store.transaction() as tx:
        tx["sum"] = sum(tx.values())
        tx["0100"] = None
        assert len(list(tx)) == 451
    assert store["sum"] == sum(range(450))


def test_increments_of_many_add_up(store: roost.DataStore) -> None:
    def work(n: int) -> None:
        store.increment("direct")
        store.transact(lambda tx: tx.increment("blind", 2))
        store.transact(lambda tx: tx.update(read=tx.get("read", 0) + 1), attempts=1000)

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(40)))
    assert dict(store) == {"direct": 40, "blind": 80, "read": 40}


def test_increment_takes_numbers_of_any_size(store: roost.DataStore) -> None:
    assert store.increment("n", 10**40) == 10**40
    assert store.increment("n", -(10**40)) == 0
    assert store.increment("x", 0.5) == 0.5
    assert store.increment("x", 1) == 1.5
    store["text"] = "1"
    with pytest.raises(roost.ValidationError):
        store.increment("text")
    with pytest.raises(roost.ValidationError), store.transaction() as tx:
        tx.increment("text")


def test_everyone_pops_something_else(store: roost.DataStore) -> None:
    store.update({f"{n:02}": n for n in range(24)})
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        popped = list(pool.map(lambda _: store.popitem(), range(24)))
    assert sorted(popped) == [(f"{n:02}", n) for n in range(24)]
    assert len(store) == 0


def test_an_export_can_be_imported(
    client: roost.Client, store: roost.DataStore, unique: str, tmp_path: Path
) -> None:
    for n in range(30):
        store[f"k/{n:02}"] = {"n": n, "text": "ü\n" * 1000}
    store.set("expires", 10**400, ttl=3600)
    path = tmp_path / "store.ndjson"
    assert store.export(path) == 31
    whole = path.read_bytes()
    assert store.export(path, resume=True) == 0
    path.write_bytes(whole[: len(whole) // 2])
    assert 0 < store.export(path, resume=True) < 31
    assert path.read_bytes() == whole
    assert store.export(tmp_path / "part.ndjson", prefix="k/") == 30

    other = client.datastores.create(unique + "-other")
    try:
        other["k/00"] = "replaced"
        other["stays"] = True
        assert other.import_(path) == 31
        assert other.import_(path) == 31
        assert other.pop("stays") is True
        assert dict(other) == dict(store)
        assert other.entry("expires").expires_at == store.entry("expires").expires_at
    finally:
        other.delete()


def test_the_exact_text_survives(client: roost.Client, store: roost.DataStore) -> None:
    lines = (
        b'{"key":"a","value":{"z": 1e400, "a": [1.10, -0.0]},"expires_at":null}\n'
        b'{"key":"b","text":"{\\n  \\"n\\": 1}","expires_at":null}\n'
    )
    assert store.import_(io.BytesIO(lines)) == 2
    assert b"".join(store.iter_export()) == lines
    assert store["a"]["z"] == float("inf")


def test_a_large_import_is_sent_in_parts(store: roost.DataStore) -> None:
    value = b'"' + b"x" * 900_000 + b'"'
    lines = [b'{"key":"%02d","value":%s}\n' % (n, value) for n in range(12)]
    assert store.import_(io.BytesIO(b"".join(lines))) == 12
    assert len(store) == 12
    with pytest.raises((roost.ValidationError, roost.TooLarge), match="line 13"):
        store.import_(io.BytesIO(b"".join([*lines, b"nonsense\n"])))


def test_names_are_unique(client: roost.Client, store: roost.DataStore) -> None:
    assert store.name is not None
    with pytest.raises(roost.Conflict):
        client.datastores.create(store.name)
    assert client.datastores.ensure(store.name) == store
    assert client.datastores.retrieve(name=store.name) == store


def test_a_deleted_store_is_not_an_empty_one(client: roost.Client, unique: str) -> None:
    gone = client.datastores.create(unique)
    gone.delete()
    with pytest.raises(roost.NotFound):
        gone.get("k")


def test_a_script_and_a_client_see_the_same(client: roost.Client, store: roost.DataStore) -> None:
    script = "def main(request, store):\n    store['seen'] = store['given']\n"
    agent = client.agents.create(script=script, stores=[store])
    try:
        store["given"] = {"n": 1}
        agent.execute(timeout=180, check=True)
        assert store["seen"] == {"n": 1}
        with pytest.raises(roost.Conflict):
            store.delete()
    finally:
        agent.delete()
