from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import roost


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
    store.update(x=1, y=2)
    store.clear()
    assert list(store) == []


@pytest.mark.parametrize("key", ["user/ada", "a b?#%+&=", "clé ☃", "..", ".", "a/../b", "%2F", "'"])
def test_any_key_comes_back(store: roost.DataStore, key: str) -> None:
    store[key] = key
    assert store[key] == key
    assert list(store.items()) == [(key, key)]
    del store[key]
    assert key not in store


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
    assert entry.expires_at is not None


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
