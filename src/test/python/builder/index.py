"""A package index for tests: HTTPS with a certificate authority of its own, and a password.

Serves a wheel and a source package that are made here, so that nothing depends on what the world publishes.
"""

import base64
import contextlib
import hashlib
import http.server
import io
import shutil
import ssl
import subprocess
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PASSWORD = "opensesame-42"
BACKEND = """
import base64, hashlib, os, zipfile
def build_wheel(directory, settings=None, metadata=None):
    if {fails}:
        print("the secret is", open(os.environ["NETRC"]).read())
        raise SystemExit(1)
    values = sorted(os.environ), {{"epoch": os.environ["SOURCE_DATE_EPOCH"], "seed": hash("seed")}}
    name = "{name}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w") as wheel:
        wheel.writestr("{name}.py", "KNOWN = " + repr(values[1]) + chr(10))
        wheel.writestr("{name}-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.0\\n")
        wheel.writestr("{name}-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr("{name}-1.0.dist-info/RECORD", "{name}.py,,\\n{name}-1.0.dist-info/METADATA,,\\n")
    return name
"""
# Constants whose order or identity depends on the process that compiles them.
MODULE = """
import sys
NAMES = frozenset(["alpha", "beta", "gamma", "delta", None, 3.5, ("a", "b")])
def main():
    return "argv" in {"argv", "path", "modules", "prefix"} and sys.argv and __name__ == "__main__" or "site-packages"
"""


def wheel() -> bytes:
    """The wheel ``sample-wheel`` with a program, an old compiled module and a sample for Python 2."""
    written = io.BytesIO()
    information = "sample_wheel-1.0.dist-info"
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("sample_wheel/__init__.py", MODULE)
        archive.writestr("sample_wheel/__pycache__/__init__.cpython-313.pyc", b"old")
        archive.writestr("sample_wheel/python2.py", "print 'hello'\n")
        archive.writestr(f"{information}/METADATA", "Metadata-Version: 2.1\nName: sample-wheel\nVersion: 1.0\n")
        archive.writestr(
            f"{information}/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{information}/entry_points.txt", "[console_scripts]\nsample = sample_wheel:main\n")
        archive.writestr(f"{information}/RECORD", "sample_wheel/__init__.py,,\n")
    return written.getvalue()


def source(name: str, fails: bool) -> bytes:
    """A source package that builds itself, with nothing from elsewhere; or that fails and prints what it knows."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as archive:
        for path, text in {
            "pyproject.toml": '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
            "backend.py": BACKEND.format(name=name, fails=fails),
            "PKG-INFO": f"Metadata-Version: 1.0\nName: {name}\nVersion: 1.0\n",
        }.items():
            entry = tarfile.TarInfo(f"{name}-1.0/{path}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return written.getvalue()


FILES = {
    "sample-wheel": ("sample_wheel-1.0-py3-none-any.whl", wheel()),
    "samplesource": ("samplesource-1.0.tar.gz", source("samplesource", fails=False)),
    "talkative": ("talkative-1.0.tar.gz", source("talkative", fails=True)),
}


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        expected = "Basic " + base64.b64encode(f"reader:{PASSWORD}".encode()).decode()
        if self.headers["Authorization"] != expected:
            self.answer(401, b"who are you?", ("WWW-Authenticate", 'Basic realm="index"'))
            return
        kind, name = self.path.strip("/").split("/")[:2]
        if kind == "simple" and name in FILES:
            file, content = FILES[name]
            link = f'<a href="/files/{file}#sha256={hashlib.sha256(content).hexdigest()}">{file}</a>'
            self.answer(200, f"<!DOCTYPE html><html><body>{link}</body></html>".encode(), ("Content-Type", "text/html"))
            return
        found = [content for file, content in FILES.values() if (kind, name) == ("files", file)]
        self.answer(200, found[0]) if found else self.answer(404, b"")

    def answer(self, status: int, content: bytes, *headers: "tuple[str, str]") -> None:
        self.send_response(status)
        for name, value in [*headers, ("Content-Length", str(len(content)))]:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    do_HEAD = do_GET  # noqa: N815 - the name that http.server looks for

    def log_message(self, *_: Any) -> None:
        pass


def make_certificates(directory: Path) -> "tuple[Path, Path, Path]":
    """The certificate of an authority, and one for localhost with its key."""
    openssl = shutil.which("openssl")
    assert openssl
    ca, key, request, certificate = (directory / name for name in ("ca.crt", "key.pem", "request.pem", "server.crt"))
    ca_key, extensions = directory / "ca.key", directory / "extensions"
    extensions.write_text("subjectAltName=DNS:localhost\nextendedKeyUsage=serverAuth\n")
    new = [openssl, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    for command in (
        [*new, "-x509", "-days", "2", "-subj", "/CN=Test authority", "-keyout", ca_key, "-out", ca],
        [*new, "-subj", "/CN=localhost", "-keyout", key, "-out", request],
        [openssl, "x509", "-req", "-days", "2", "-in", request, "-CA", ca, "-CAkey", ca_key, "-CAcreateserial",
         "-extfile", extensions, "-out", certificate],
    ):  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, cwd=directory)
    return ca, certificate, key


@contextlib.contextmanager
def serving(directory: Path) -> "Iterator[dict[str, str]]":
    """Serves, and gives the environment that a build needs for it."""
    ca, certificate, key = make_certificates(directory)
    netrc = directory / "netrc"
    netrc.write_text(f"machine localhost\nlogin reader\npassword {PASSWORD}\n")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield {
            "UV_DEFAULT_INDEX": f"https://localhost:{server.server_port}/simple/",
            "NETRC": str(netrc),
            "ROOST_CA_FILE": str(ca),
            "UV_HTTP_RETRIES": "0",
            "NO_PROXY": "localhost",
        }
    finally:
        server.shutdown()
        server.server_close()
