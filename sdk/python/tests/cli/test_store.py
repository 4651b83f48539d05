from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
from store_server import StoreServer
from support import Server


def test_a_value_is_set_and_got(cli: Any, stored: StoreServer) -> None:
    done = cli("store", "set", "store_1", "a/b", '{"n": [1, 2]}', client=stored.client)
    assert (done.code, done.out, done.err) == (0, "", "")
    done = cli("store", "get", "store_1", "a/b", client=stored.client)
    assert json.loads(done.out) == {"n": [1, 2]}
    done = cli("store", "get", "store_1", "a/b", "--json", client=stored.client)
    entry = json.loads(done.out)
    assert (entry["key"], entry["version"], entry["value"]) == ("a/b", 1, {"n": [1, 2]})
    assert entry["updated_at"].endswith("Z")


def test_a_value_comes_from_standard_input(cli: Any, stored: StoreServer) -> None:
    cli("store", "set", "store_1", "k", "-", client=stored.client, stdin='"text"')
    assert stored.values() == {"k": "text"}


def test_a_version_guards_a_value(cli: Any, stored: StoreServer) -> None:
    stored.put("k", "1")
    arguments = ("store", "set", "store_1", "k", "2", "--if-version", "0")
    done = cli(*arguments, client=stored.client)
    assert (done.code, '"k" is not of version 0.' in done.err) == (5, True)
    assert stored.values() == {"k": 1}


def test_a_lifetime_has_units(cli: Any, stored: StoreServer) -> None:
    cli("store", "set", "store_1", "k", "1", "--ttl", "5min", client=stored.client)
    assert stored.sent("PUT", "/entries/k")[0].headers["Roost-TTL"] == "300.0"
    done = cli("store", "set", "store_1", "k", "1", "--ttl", "soon", client=stored.client)
    assert (done.code, '"soon" is not a duration' in done.err) == (2, True)


def test_an_absent_key_is_no_store_that_is_gone(cli: Any, stored: StoreServer) -> None:
    for command in ("get", "delete"):
        done = cli("store", command, "store_1", "k", client=stored.client)
        assert (done.code, done.out) == (4, "")
        assert 'There is no key "k" in people.' in done.err


def test_keys_are_listed_in_order_with_a_prefix(cli: Any, stored: StoreServer) -> None:
    for key in ("user/b", "user/a", "other"):
        stored.put(key, '{"of": "' + key + '"}')
    done = cli("store", "ls", "store_1", "--prefix", "user/", client=stored.client)
    keys = [line.split()[0] for line in done.out.splitlines()]
    assert keys == ["KEY", "user/a", "user/b"]
    done = cli("store", "ls", "store_1", "--json", client=stored.client)
    assert [entry["key"] for entry in json.loads(done.out)] == ["other", "user/a", "user/b"]


def test_an_export_is_imported(cli: Any, stored: StoreServer, tmp_path: Path) -> None:
    stored.put("a", "1")
    stored.put("b", '"ü"')
    done = cli("store", "export", "store_1", client=stored.client)
    assert [json.loads(line)["key"] for line in done.out.splitlines()] == ["a", "b"]
    file = tmp_path / "people.ndjson"
    done = cli("store", "export", "store_1", "-o", str(file), client=stored.client)
    assert (done.out, f"Wrote 2 entries to {file}." in done.err) == ("", True)
    stored.entries.clear()
    done = cli("store", "import", "store_1", str(file), client=stored.client)
    assert (done.code, "Imported 2 entries into people." in done.err) == (0, True)
    assert stored.values() == {"a": 1, "b": "ü"}


def test_a_whole_store_is_not_deleted_without_a_yes(cli: Any, server: Server) -> None:
    store = {"id": "store_1", "name": "people", "entries": 3}
    server.on("GET", "/datastore/store_1", store)
    server.on("DELETE", "/datastore/store_1", httpx.Response(204))
    done = cli("store", "delete", "store_1", client=server.client)
    assert (done.code, "with 3 entries?" in done.err, "--yes" in done.err) == (2, True, True)
    assert server.sent("DELETE", "/datastore/store_1") == []
    done = cli("store", "delete", "store_1", "--yes", client=server.client)
    assert done.code == 0
    assert len(server.sent("DELETE", "/datastore/store_1")) == 1


def test_a_store_that_is_not_there_can_be_created(cli: Any, server: Server) -> None:
    server.on("GET", "/datastore", {"data": [], "next_cursor": None})
    done = cli("store", "get", "peple", "k", client=server.client)
    assert (done.code, "`roost store create peple` creates this one" in done.err) == (4, True)
