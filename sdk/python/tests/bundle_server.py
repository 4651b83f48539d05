"""The files and bundles of a server, in memory, as the API describes them."""

from __future__ import annotations

import hashlib
import json
from typing import Any
from urllib.parse import parse_qs

import httpx
from support import TIME, problem

from roost._project_files import digest_of

PART = 4 * 1024 * 1024


class BundleServer:
    """Answers the requests for files and bundles; others get None."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.bundles: dict[str, dict[str, Any]] = {}
        self.created: list[dict[str, Any]] = []

    def handle(self, request: httpx.Request) -> httpx.Response | None:
        path = request.url.path.removeprefix("/v1")
        parts = path.split("/")[1:]
        if parts[0] == "files":
            return self._file(request, parts)
        if parts[0] != "bundles":
            return None
        if len(parts) == 1:
            return self._create(json.loads(request.content))
        bundle = self.bundles.get(parts[1])
        if bundle is None:
            return problem(404, "not_found")
        if len(parts) == 2:
            return httpx.Response(200, json=bundle["view"])
        if parts[2] == "manifest":
            return httpx.Response(200, json={"files": self.entries(parts[1])})
        wanted = parse_qs(request.url.query.decode())["path"][0]
        if wanted not in bundle["contents"]:
            return problem(404, "not_found")
        return httpx.Response(200, content=bundle["contents"][wanted])

    def entries(self, bundle: str) -> list[dict[str, Any]]:
        """The manifest."""
        files: dict[str, dict[str, Any]] = self.bundles[bundle]["files"]
        return [files[path] for path in sorted(files, key=str.encode)]

    def _file(self, request: httpx.Request, parts: list[str]) -> httpx.Response:
        if len(parts) == 1:
            name = f"file_{len(self.files) + 1}"
            self.files[name] = b""
            return httpx.Response(201, json={"id": name, "state": "uploading"})
        name = parts[1]
        if parts[2] == "parts":
            assert len(self.files[name]) == int(parts[3]) * PART
            self.files[name] += request.content
            return httpx.Response(200, json={"id": name})
        whole = json.loads(request.content)
        content = self.files[name]
        assert whole == {
            "size_bytes": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
        }
        return httpx.Response(200, json={"id": name, "state": "stored", **whole})

    def _create(self, body: dict[str, Any]) -> httpx.Response:
        self.created.append(body)
        base = self.bundles.get(body["base"]) if body["base"] else None
        if body["base"] and base is None:
            errors = [{"pointer": "/base", "message": "no such bundle"}]
            return problem(422, "validation_failed", errors=errors)
        files = dict(base["files"]) if base else {}
        contents = dict(base["contents"]) if base else {}
        known = {
            (each["sha256"], each["size_bytes"]): contents[path] for path, each in files.items()
        }
        for path in body["removed"]:
            del files[path], contents[path]
        pack = self.files[body["pack"]] if body["pack"] else b""
        size, position = len(pack), 0
        for each in body["files"]:
            key = (each["sha256"], each["size_bytes"])
            if key not in known:
                known[key] = pack[position : position + each["size_bytes"]]
                position += each["size_bytes"]
            assert hashlib.sha256(known[key]).hexdigest() == each["sha256"], each
            assert files.get(each["path"]) != each, "an entry that does not differ"
            files[each["path"]] = each
            contents[each["path"]] = known[key]
        assert position == size, "bytes of the pack that nothing needs"
        name = f"bundle_{len(self.bundles) + 1}"
        stored = size + (base["view"]["stored_bytes"] if base else 0)
        digest = digest_of((path, e["sha256"], e["executable"]) for path, e in files.items())
        view = {
            "id": name,
            "sha256": digest,
            "files": len(files),
            "size_bytes": sum(len(content) for content in contents.values()),
            "packs": (base["view"]["packs"] if base else 0) + bool(size),
            "stored_bytes": stored,
            "created_at": TIME,
        }
        self.bundles[name] = {"view": view, "files": files, "contents": contents}
        return httpx.Response(201, json=view)
