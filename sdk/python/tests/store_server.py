"""A server with one DataStore in memory, as the REST API describes it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import Any, Callable, Optional
from urllib.parse import unquote

import httpx
from support import KEY, TIME, URL, FakeClock, problem

import roost

ROOT = "/v1/datastore/store_1"
Hook = Callable[[httpx.Request], Optional[httpx.Response]]


class Broken(httpx.SyncByteStream):
    """Some bytes, and then no more although more were promised."""

    def __init__(self, *chunks: bytes) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        yield from self._chunks
        raise httpx.RemoteProtocolError("peer closed connection without sending complete message")


class StoreServer:
    """`before` sees each request first and may answer or fail; `lost` answers get lost after."""

    def __init__(self) -> None:
        self.entries: dict[str, tuple[str, int]] = {}  # text and version by key
        self.requests: list[httpx.Request] = []
        self.before: Hook = lambda request: None
        self.lost = 0
        self.clock = FakeClock()
        self._version = 0
        self._answers: dict[str, httpx.Response] = {}
        http = httpx.Client(transport=httpx.MockTransport(self._handle))
        self.client = roost.Client(KEY, URL, http_client=http)
        self.client._transport.clock = self.clock
        self.store = roost.DataStore(self.client, {"id": "store_1", "name": "people"})

    def put(self, key: str, text: str) -> int:
        """What someone else stores."""
        self._version += 1
        self.entries[key] = (text, self._version)
        return self._version

    def once(self, path: str, action: Callable[[], Any], method: str = "POST") -> None:
        """Do something just before the next request of that kind is served."""

        def before(request: httpx.Request) -> None:
            if (request.method, _path(request)) == (method, ROOT + path):
                self.before = lambda request: None
                action()

        self.before = before

    def sent(self, method: str, path: str) -> list[httpx.Request]:
        kind = (method, ROOT + path)
        return [each for each in self.requests if (each.method, _path(each)) == kind]

    def bodies(self, path: str = "/transactions") -> list[Any]:
        return [json.loads(request.content) for request in self.sent("POST", path)]

    def values(self) -> dict[str, Any]:
        return {key: json.loads(text) for key, (text, _) in sorted(self.entries.items())}

    def _handle(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.before(request)
        if answer is None:
            answer = self._answer(request)
            if self.lost and request.method == "POST":
                self.lost -= 1
                raise httpx.ReadError("reset")
        return answer

    def _answer(self, request: httpx.Request) -> httpx.Response:
        path = _path(request)[len(ROOT) :]
        params = request.url.params
        if (request.method, path) == ("GET", ""):
            data = {"id": "store_1", "name": "people", "entries": len(self.entries)}
            return httpx.Response(200, json=data)
        if (request.method, path) == ("GET", "/entries"):
            return self._list(params)
        if (request.method, path) == ("GET", "/export"):
            return self._export(params)
        if (request.method, path) == ("POST", "/transactions"):
            key = request.headers["Idempotency-Key"]
            if key not in self._answers:
                self._answers[key] = self._transaction(json.loads(request.content))
            return self._answers[key]
        if (request.method, path) == ("POST", "/import"):
            return self._import(request)
        return self._entry(request, unquote(path[len("/entries/") :]))

    def _entry(self, request: httpx.Request, key: str) -> httpx.Response:
        if request.method == "PUT":
            if request.headers.get("If-None-Match") and key in self.entries:
                return problem(412, "precondition_failed")
            tag = f'"{self.put(key, request.content.decode())}"'
            return httpx.Response(204, headers={"ETag": tag})
        if key not in self.entries:
            return problem(404, "not_found", "no such entry")
        if request.method == "DELETE":
            del self.entries[key]
            return httpx.Response(204)
        text, version = self.entries[key]
        return httpx.Response(200, content=text.encode(), headers={"ETag": f'"{version}"'})

    def _keys(self, prefix: str) -> list[str]:
        return sorted(key for key in self.entries if key.startswith(prefix))

    def _list(self, params: httpx.QueryParams) -> httpx.Response:
        keys = [
            key for key in self._keys(params.get("prefix", "")) if key > params.get("cursor", "")
        ]
        limit = int(params.get("limit", 50))
        rows = (
            f'{{"key":{json.dumps(key)},"value":{self.entries[key][0]},'
            f'"version":{self.entries[key][1]},"expires_at":null,"updated_at":"{TIME}"}}'
            for key in keys[:limit]
        )
        cursor = json.dumps(keys[limit - 1] if len(keys) > limit else None)
        text = f'{{"data":[{",".join(rows)}],"next_cursor":{cursor}}}'
        return httpx.Response(200, content=text.encode())

    def _transaction(self, body: dict[str, Any]) -> httpx.Response:
        errors = []
        for n, read in enumerate(body["reads"]):
            if self.entries.get(read["key"], ("", 0))[1] != read["version"]:
                errors.append({"pointer": f"/reads/{n}", "code": "changed", "detail": "x"})
        for n, each in enumerate(body["ranges"]):
            keys = self._keys(each["prefix"])
            if "through" in each:
                keys = [key for key in keys if key <= each["through"]]
            versions = "".join(f"{self.entries[key][1]}\n" for key in keys)
            tag = hashlib.sha256(versions.encode()).hexdigest()
            if each.get("tag", tag) != tag or each.get("count", len(keys)) != len(keys):
                errors.append({"pointer": f"/ranges/{n}", "code": "changed", "detail": "x"})
        if errors:
            return problem(409, "conflict", f"{len(errors)} reads have changed.", errors)
        refused = self._no_number(body["writes"])
        if refused is not None:
            return refused
        made = [self._write(each) for each in body["writes"]]
        sums = (
            self.entries[each["key"]][0] if "increment" in each else "null"
            for each in body["writes"]
        )
        answer = f'{{"versions":{json.dumps(made)},"sums":[{",".join(sums)}]}}'
        return httpx.Response(200, content=answer.encode())

    def _no_number(self, writes: list[dict[str, Any]]) -> httpx.Response | None:
        for n, write in enumerate(writes):
            if "increment" in write:
                before = json.loads(self.entries.get(write["key"], ("0", 0))[0])
                if isinstance(before, bool) or not isinstance(before, (int, float)):
                    detail = f"The value of {json.dumps(write['key'])} is not a number."
                    pointer = f"/writes/{n}/increment"
                    error = {"pointer": pointer, "code": "wrong_type", "detail": detail}
                    return problem(422, "validation_failed", detail, [error])
        return None

    def _write(self, write: dict[str, Any]) -> int:
        if write.get("delete"):
            self.entries.pop(write["key"], None)
            return 0
        if "increment" in write:
            before = json.loads(self.entries.get(write["key"], ("0", 0))[0])
            # As exact as the server: 0.1 + 0.2 is 0.3.
            text = json.dumps(round(before + write["increment"], 9))
            return self.put(write["key"], text)
        return self.put(write["key"], json.dumps(write["value"]))

    def lines(self, prefix: str = "", after: str = "") -> list[bytes]:
        return [
            f'{{"key":{json.dumps(key)},"value":{self.entries[key][0]},"expires_at":null}}\n'.encode()
            for key in self._keys(prefix)
            if key > after
        ]

    def _export(self, params: httpx.QueryParams) -> httpx.Response:
        lines = self.lines(params.get("prefix", ""), params.get("after", ""))
        return httpx.Response(200, content=b"".join(lines))

    def _import(self, request: httpx.Request) -> httpx.Response:
        lines = request.content.splitlines()
        for n, line in enumerate(lines, 1):
            try:
                entry = json.loads(line)
            except ValueError:
                before = (n - 1) // 1000 * 1000
                detail = (
                    f"line {n}: not JSON; the {before} lines before line {before + 1} are stored."
                )
                error = {"pointer": None, "line": n, "code": "malformed", "detail": "not JSON"}
                return problem(422, "validation_failed", detail, [error])
            self.put(entry["key"], json.dumps(entry["value"]))
        return httpx.Response(200, json={"imported": len(lines), "expired": 0})


def _path(request: httpx.Request) -> str:
    return request.url.raw_path.decode().partition("?")[0]
