from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from support import TIME, Server


@pytest.fixture
def keys(server: Server) -> Server:
    def key(number: int, name: str) -> dict[str, str]:
        return {"id": f"key_{number}", "name": name, "role": "read", "created_at": TIME}

    found = [key(1, "ci"), key(2, "twice"), key(3, "twice")]
    server.on("GET", "/keys", {"data": found, "next_cursor": None})
    for each in found:
        server.on("DELETE", f"/keys/{each['id']}", httpx.Response(204))
    return server


@pytest.mark.parametrize("argument", ["ci", "key_1"])
def test_a_key_is_deleted_by_its_id_or_its_name(cli: Any, keys: Server, argument: str) -> None:
    done = cli("keys", "delete", argument, "--yes", "--json", client=keys.client)
    assert json.loads(done.out) == {"id": "key_1", "deleted": True}
    assert len(keys.sent("DELETE", "/keys/key_1")) == 1


@pytest.mark.parametrize(
    ("name", "code", "text"),
    [("twice", 5, '2 keys are named "twice": key_2, key_3.'), ("twic", 4, 'Did you mean "twice"?')],
)
def test_a_name_that_is_not_one_keys_deletes_nothing(
    cli: Any, keys: Server, name: str, code: int, text: str
) -> None:
    done = cli("keys", "delete", name, "--yes", client=keys.client)
    assert (done.code, text in done.err) == (code, True)
    assert not [each for each in keys.requests if each.method == "DELETE"]
