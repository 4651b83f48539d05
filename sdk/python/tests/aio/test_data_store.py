from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from store_server import StoreServer
from support import aio_client

import roost
from roost import aio

pytestmark = pytest.mark.anyio


@pytest.fixture
def store(stored: StoreServer) -> aio.DataStore:
    client = aio_client(stored._handle, stored.clock)
    return aio.DataStore(client, {"id": "store_1", "name": "people"})


async def test_what_a_mapping_does(store: aio.DataStore, stored: StoreServer) -> None:
    await store.set("b", 2)
    await store.set("a", {"n": 1})
    assert await store.get("a") == {"n": 1}
    assert (await store.get("c"), await store.get("c", 3)) == (None, 3)
    assert (await store.contains("a"), await store.contains("c")) == (True, False)
    assert await store.count() == 2
    assert [key async for key in store] == ["a", "b"]
    assert [pair async for pair in store.items("b")] == [("b", 2)]
    assert [key async for key in store.keys("a")] == ["a"]
    assert [value async for value in store.values("b")] == [2]
    assert await store.setdefault("b", 9) == 2
    assert await store.setdefault("c", 9) == 9
    assert await store.pop("c") == 9
    assert await store.pop("c", None) is None
    assert await store.popitem() == ("a", {"n": 1})
    assert await store.increment("b", 0.5) == 2.5
    await store.delete("b")
    with pytest.raises(KeyError):
        await store.delete("b")
    with pytest.raises(KeyError):
        await store.entry("b")
    assert stored.values() == {}


async def test_many_are_stored_and_cleared_in_batches(
    store: aio.DataStore, stored: StoreServer
) -> None:
    await store.update({f"k{n:04}": n for n in range(1500)}, last=True)
    assert [len(body["writes"]) for body in stored.bodies()] == [1000, 501]
    assert [entry.key async for entry in store.scan("k000")] == [f"k000{n}" for n in range(10)]
    await store.clear()
    assert stored.values() == {}


async def test_the_store_itself_is_deleted_without_a_key_only(
    store: aio.DataStore, stored: StoreServer
) -> None:
    await store.set("a", 1)
    with pytest.raises(TypeError):
        await store.delete("a", force=True)  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        await store.delete(None)  # type: ignore[call-overload]
    assert not stored.sent("DELETE", "")
    stored.before = lambda request: httpx.Response(204) if request.method == "DELETE" else None
    await store.delete(force=True)
    assert len(stored.sent("DELETE", "")) == 1


async def test_a_transaction_is_all_or_nothing(store: aio.DataStore, stored: StoreServer) -> None:
    await store.update(a=10, b=0)
    async with store.transaction() as tx:
        a = await tx.get("a")
        await tx.set("a", a - 3)
        await tx.increment("b", 3)
        assert await tx.get("b") == 3
        assert await tx.contains("a")
        assert await tx.count() == 2
        assert [pair async for pair in tx.items()] == [("a", 7), ("b", 3)]
    assert stored.values() == {"a": 7, "b": 3}
    assert {*tx.versions} == {"a", "b"}
    with pytest.raises(ZeroDivisionError):
        async with store.transaction() as tx:
            await tx.delete("a")
            raise ZeroDivisionError
    assert stored.values() == {"a": 7, "b": 3}


async def test_a_conflict_writes_nothing_and_transact_tries_again(
    store: aio.DataStore, stored: StoreServer
) -> None:
    await store.set("n", 1)
    tx = store.transaction()
    with pytest.raises(roost.Conflict, match="'n'"):
        async with tx:
            await tx.set("m", await tx.get("n"))
            stored.put("n", "2")
    assert stored.values() == {"n": 2}
    calls = []

    async def double(tx: aio.Transaction) -> int:
        calls.append(1)
        value: int = await tx.get("n")
        if len(calls) < 3:
            stored.put("n", str(value + 1))
        await tx.update(n=value * 2)
        return value

    assert await store.transact(double) == 4
    assert (stored.values(), len(calls)) == ({"n": 8}, 3)


async def test_the_rest_of_a_transaction(store: aio.DataStore, stored: StoreServer) -> None:
    await store.update(a=1, b=2, c=3)
    async with store.transaction() as tx:
        assert await tx.popitem() == ("a", 1)
        assert await tx.pop("b") == 2
        assert await tx.pop("b", None) is None
        assert await tx.setdefault("b", 5) == 5
        assert await tx.setdefault("c", 9) == 3
        with pytest.raises(KeyError):
            await tx.delete("a")
        assert [key async for key in tx] == ["b", "c"]
    assert stored.values() == {"b": 5, "c": 3}
    async with store.transaction() as tx:
        await tx.clear()
    assert stored.values() == {}
    with pytest.raises(RuntimeError):
        await tx.get("a")


async def test_exports_and_imports(
    store: aio.DataStore, stored: StoreServer, tmp_path: Path
) -> None:
    await store.update({f"k{n}": n for n in range(5)})
    path = tmp_path / "store.ndjson"
    assert await store.export(path, "k") == 5
    assert b"".join([block async for block in store.iter_export("k")]) == path.read_bytes()
    path.write_bytes(path.read_bytes()[:-5])
    assert await store.export(path, resume=True) == 1
    await store.clear()
    assert await store.import_(path) == 5
    assert len(stored.values()) == 5
