"""A container registry for tests: as much of the OCI distribution specification as a push needs, in memory."""

import base64
import contextlib
import gzip
import hashlib
import http.server
import json
import re
import threading
from collections.abc import Iterator
from typing import Any, Optional
from urllib.parse import parse_qs, urlsplit

INDEX = "application/vnd.oci.image.index.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"


class Registry:
    """What it stores, and how it should behave."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.manifests: dict[str, tuple[str, bytes]] = {}
        self.login: Optional[str] = None
        self.read_only = False
        self.keeps_all = False
        self.address = ""

    def add_blob(self, content: bytes) -> str:
        digest = "sha256:" + hashlib.sha256(content).hexdigest()
        self.blobs[digest] = content
        return digest

    def add_manifest(self, repository: str, reference: str, media_type: str, content: bytes) -> str:
        digest = "sha256:" + hashlib.sha256(content).hexdigest()
        for name in (reference, digest):
            self.manifests[f"{repository}/{name}"] = (media_type, content)
        return digest

    def remove(self, repository: str, manifest: "tuple[str, bytes]") -> None:
        """The manifest with all its names in the repository."""
        for name in [name for name, kept in self.manifests.items() if kept == manifest]:
            if name.rpartition("/")[0] == repository:
                del self.manifests[name]

    def add_base(self, repository: str, tag: str, architectures: "tuple[str, ...]" = ("amd64", "arm64")) -> str:
        """An image for several platforms; gives the digest of the first one's."""
        entries = []
        for architecture in architectures:
            tar = architecture.encode()
            layer = gzip.compress(tar, mtime=0)
            config = {
                "architecture": architecture,
                "os": "linux",
                "config": {"Cmd": ["python3"]},
                "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(tar).hexdigest()]},
            }
            manifest = {
                "schemaVersion": 2,
                "mediaType": MANIFEST,
                "config": self.described(CONFIG, json.dumps(config).encode()),
                "layers": [self.described(LAYER, layer)],
            }
            content = json.dumps(manifest).encode()
            digest = self.add_manifest(repository, architecture, MANIFEST, content)
            platform = {"architecture": architecture, "os": "linux"}
            entries.append({"mediaType": MANIFEST, "digest": digest, "size": len(content), "platform": platform})
        listing = {"schemaVersion": 2, "mediaType": INDEX, "manifests": entries}
        self.add_manifest(repository, tag, INDEX, json.dumps(listing).encode())
        return str(entries[0]["digest"])

    def described(self, media_type: str, content: bytes) -> dict[str, Any]:
        return {"mediaType": media_type, "digest": self.add_blob(content), "size": len(content)}

    def manifest(self, image: str) -> dict[str, Any]:
        """The manifest of ``address/repository:tag`` or ``…@digest``."""
        repository, reference = re.split(r"[:@]", image.partition("/")[2], maxsplit=1)
        return dict(json.loads(self.manifests[f"{repository}/{reference}"][1]))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    registry: Registry

    def handle_request(self) -> None:
        body = self.body()
        path, query = urlsplit(self.path).path, parse_qs(urlsplit(self.path).query)
        expected = self.registry.login and "Basic " + base64.b64encode(self.registry.login.encode()).decode()
        if expected and self.headers["Authorization"] != expected:
            self.refuse(401, "UNAUTHORIZED", ("WWW-Authenticate", 'Basic realm="registry"'))
        elif path == "/v2/":
            self.answer(200)
        elif self.command in ("POST", "PATCH", "PUT", "DELETE") and self.registry.read_only:
            self.refuse(403, "DENIED")
        elif "/manifests/" in path:
            self.manifest(*path[len("/v2/") :].split("/manifests/"), body)
        elif self.command in ("GET", "HEAD"):
            content = self.registry.blobs.get(path.rpartition("/")[2])
            self.refuse(404, "BLOB_UNKNOWN") if content is None else self.answer(200, content)
        else:
            self.upload(path, query, body)

    # The names that http.server looks for.
    do_GET = do_HEAD = do_POST = do_PATCH = do_PUT = do_DELETE = handle_request  # noqa: N815

    def upload(self, path: str, query: "dict[str, list[str]]", body: bytes) -> None:
        blobs = self.registry.blobs
        if self.command == "POST":
            location = path.rstrip("/") + f"/{len(blobs)}-{threading.get_ident()}"
            blobs[location] = b""
            self.answer(202, b"", ("Location", location))
        elif self.command == "PATCH":
            blobs[path] += body
            self.answer(202, b"", ("Location", path))
        else:
            content = blobs.pop(path) + body
            digest = self.registry.add_blob(content)
            matches = query["digest"] == [digest]
            self.answer(201, b"", ("Docker-Content-Digest", digest)) if matches else self.refuse(400, "DIGEST_INVALID")

    def manifest(self, repository: str, reference: str, body: bytes) -> None:
        if self.command == "PUT":
            digest = self.registry.add_manifest(repository, reference, self.headers["Content-Type"], body)
            self.answer(201, b"", ("Docker-Content-Digest", digest))
            return
        found = self.registry.manifests.get(f"{repository}/{reference}")
        if self.command == "DELETE" and self.registry.keeps_all:
            self.refuse(405, "UNSUPPORTED")
            return
        if found is None:
            self.refuse(404, "MANIFEST_UNKNOWN")
            return
        if self.command == "DELETE":
            self.registry.remove(repository, found)
            self.answer(202)
            return
        digest = "sha256:" + hashlib.sha256(found[1]).hexdigest()
        self.answer(200, found[1], ("Content-Type", found[0]), ("Docker-Content-Digest", digest))

    def body(self) -> bytes:
        if self.headers["Transfer-Encoding"] != "chunked":
            return self.rfile.read(int(self.headers["Content-Length"] or 0))
        content = b""
        while True:
            size = int(self.rfile.readline(), 16)
            content += self.rfile.read(size)
            self.rfile.readline()
            if size == 0:
                return content

    def refuse(self, status: int, code: str, *headers: "tuple[str, str]") -> None:
        content = json.dumps({"errors": [{"code": code, "message": code.lower()}]}).encode()
        self.answer(status, content, ("Content-Type", "application/json"), *headers)

    def answer(self, status: int, content: bytes = b"", *headers: "tuple[str, str]") -> None:
        self.send_response(status)
        for name, value in [*headers, ("Content-Length", str(len(content)))]:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def serving() -> "Iterator[Registry]":
    """A registry at ``registry.address``, over plain HTTP."""
    registry = Registry()
    handler = type("RegistryHandler", (Handler,), {"registry": registry})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    registry.address = f"127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()
