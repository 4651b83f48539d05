from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import httpx
import pytest
from support import TIME, Server, problem

import roost

STORE = "/datastore/store_1"
ENTRIES = STORE + "/entries"


@pytest.fixture
def store(server: Server) -> roost.DataStore:
    server.on("GET", STORE, {"id": "store_1", "name": "people", "entries": 2})
    server.on("GET", ENTRIES, {"data": [], "next_cursor": None})
    return roost.DataStore(server.client, {"id": "store_1", "name": "people"})


def tagged(version: int, content: str = "") -> httpx.Response:
    return httpx.Response(200, content=content, headers={"ETag": f'"{version}"'})


def row(key: str, value: Any) -> dict[str, Any]:
    return {"key": key, "value": value, "version": 1, "expires_at": None, "updated_at": TIME}


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("k", "k"),
        ("user/ada", "user%2Fada"),
        ("a b?#%", "a%20b%3F%23%25"),
        ("clé", "cl%C3%A9"),
        ("..", "%2E%2E"),
        ("a..b", "a..b"),
        ("\0", "%00"),
    ],
)
def test_any_key_fits_a_path(server: Server, store: roost.DataStore, key: str, path: str) -> None:
    server.on("PUT", f"{ENTRIES}/{path}", tagged(1))
    server.on("GET", f"{ENTRIES}/{path}", tagged(1, '{"n": 1}'))
    server.on("DELETE", f"{ENTRIES}/{path}", httpx.Response(204))
    store[key] = {"n": 1}
    assert store[key] == {"n": 1}
    del store[key]
    assert server.sent("PUT", f"{ENTRIES}/{path}")[0].content == b'{"n":1}'


def test_a_missing_key_is_a_key_error(store: roost.DataStore) -> None:
    with pytest.raises(KeyError):
        store["k"]
    with pytest.raises(KeyError):
        store.entry("k")
    with pytest.raises(KeyError):
        del store["k"]
    with pytest.raises(KeyError):
        store.pop("k")
    assert store.get("k", 7) == 7
    assert store.pop("k", None) is None
    assert "k" not in store
    assert "" not in store
    with pytest.raises(KeyError):
        store.popitem()


def test_a_missing_store_is_not_a_missing_key(server: Server, store: roost.DataStore) -> None:
    server.on("GET", STORE, problem(404, "not_found", "no such store"))
    with pytest.raises(roost.NotFound, match="no such store"):
        store.get("k")
    server.on("GET", ENTRIES, problem(404, "not_found", "no such store"))
    with pytest.raises(roost.NotFound, match="no such store"):
        store.pop("k", None)


def test_writes_can_have_conditions(server: Server, store: roost.DataStore) -> None:
    server.on("PUT", ENTRIES + "/k", tagged(3), tagged(4), problem(412, "precondition_failed"))
    assert store.set("k", 1, ttl=1234567.5, if_match=2) == 3
    assert store.set("k", 1, if_match=0) == 4
    with pytest.raises(roost.PreconditionFailed):
        store.set("k", 1, if_match=1)
    first, second, _ = server.requests
    assert (first.headers["Roost-TTL"], first.headers["If-Match"]) == ("1234567.5", '"2"')
    assert second.headers["If-None-Match"] == "*"
    with pytest.raises(ValueError, match="empty"):
        store.set("", 1)
    for ttl in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="ttl"):
            store.set("k", 1, ttl=ttl)


def test_an_entry_has_its_version_and_expiry(server: Server, store: roost.DataStore) -> None:
    rows = [row("k", None), row("kk", 2)]
    server.on("GET", ENTRIES, {"data": [{**rows[0], "expires_at": TIME}], "next_cursor": None})
    entry = store.entry("k")
    assert (entry.key, entry.value, entry.version) == ("k", None, 1)
    assert entry.expires_at == entry.updated_at == datetime(2026, 11, 2, 9, 0, 0, 1, timezone.utc)
    assert dict(server.requests[0].url.params) == {"prefix": "k", "limit": "1"}
    server.on("GET", ENTRIES, {"data": rows[1:], "next_cursor": None})
    with pytest.raises(KeyError):
        store.entry("k")


def test_iteration_is_paged_and_by_prefix(server: Server, store: roost.DataStore) -> None:
    pages = (
        {"data": [row("u/a", 1)], "next_cursor": "x"},
        {"data": [row("u/b", 2)], "next_cursor": None},
    )
    server.on("GET", ENTRIES, *pages, *pages, *pages, *pages)
    assert dict(store.items(prefix="u/")) == {"u/a": 1, "u/b": 2}
    assert {request.url.params["prefix"] for request in server.requests} == {"u/"}
    assert list(store) == ["u/a", "u/b"]
    assert list(store.values("u/")) == [1, 2]
    assert len(server.sent("GET", ENTRIES)) == 6
    assert len(store) == len(store.items()) == 2
    with pytest.raises(TypeError, match="prefix"):
        len(store.keys("u/"))


def test_a_value_that_is_not_json_is_refused_here(store: roost.DataStore) -> None:
    with pytest.raises(TypeError, match="the value of 'k'"):
        store["k"] = object()
    with pytest.raises(TypeError, match="keys must be strings"):
        store[1] = 1  # type: ignore[index]


def test_a_lone_surrogate_keeps_its_escape(server: Server, store: roost.DataStore) -> None:
    server.on("PUT", ENTRIES + "/k", tagged(1))
    store["k"] = "\ud800 ü"
    assert server.requests[0].content == b'"\\ud800 \\u00fc"'


def test_delete_can_be_forced(server: Server, store: roost.DataStore) -> None:
    server.on("DELETE", STORE, problem(409, "conflict", "agent_1 uses it"), httpx.Response(204))
    with pytest.raises(roost.Conflict, match="agent_1"):
        store.delete()
    store.delete(force=True)
    assert server.requests[1].url.params["force"] == "true"
