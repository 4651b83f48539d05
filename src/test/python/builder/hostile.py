"""A source package whose build code tries to get at what isn't its own, and an index that serves it."""

import contextlib
import functools
import hashlib
import http.server
import io
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from attempts import ATTEMPT

PYPROJECT = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
BACKEND = """
import json, os, zipfile

def build_wheel(directory, settings=None, metadata=None):
    data = {data!r}
    found = {{
        "key": attempt(read, data + "/api_key"),
        "overwrite": attempt(write, data + "/api_key"),
        "another build": attempt(write, data + "/builds/other/module.py"),
        "an execution's log": attempt(read, data + "/executors/other/agent.log"),
        "list": attempt(os.listdir, data),
        "home": attempt(os.listdir, os.path.expanduser("~")),
        "environment": attempt(read, "/proc/{process}/environ"),
        "signal": attempt(os.kill, {process}, 0) if {signals} else "PermissionError",
    }}
    information = "hostile-1.0.dist-info"
    with zipfile.ZipFile(os.path.join(directory, "hostile-1.0-py3-none-any.whl"), "w") as wheel:
        wheel.writestr("hostile.json", json.dumps(found))
        wheel.writestr(information + "/METADATA", "Metadata-Version: 2.1\\nName: hostile\\nVersion: 1.0\\n")
        wheel.writestr(information + "/WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(information + "/RECORD", "hostile.json,,\\n" + information + "/METADATA,,\\n")
    return "hostile-1.0-py3-none-any.whl"
"""


def source(data: Path, process: int) -> bytes:
    """The source package ``hostile``, whose wheel holds what it could do."""
    from roost_executor import sandbox

    signals = sandbox.landlock_abi() >= sandbox.SCOPES_SINCE
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as archive:
        for path, text in {
            "pyproject.toml": PYPROJECT,
            "backend.py": ATTEMPT + BACKEND.format(data=str(data), process=process, signals=signals),
            "PKG-INFO": "Metadata-Version: 1.0\nName: hostile\nVersion: 1.0\n",
        }.items():
            entry = tarfile.TarInfo(f"hostile-1.0/{path}")
            entry.size = len(text)
            archive.addfile(entry, io.BytesIO(text.encode()))
    return written.getvalue()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextlib.contextmanager
def served(directory: Path, data: Path, process: int) -> "Iterator[str]":
    """The index's URL while it serves."""
    content = source(data, process)
    (directory / "simple/hostile").mkdir(parents=True)
    (directory / "hostile-1.0.tar.gz").write_bytes(content)
    link = f'<a href="/hostile-1.0.tar.gz#sha256={hashlib.sha256(content).hexdigest()}">hostile-1.0.tar.gz</a>'
    (directory / "simple/hostile/index.html").write_text(f"<!DOCTYPE html><html><body>{link}</body></html>")
    handler = functools.partial(Quiet, directory=str(directory))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/simple/"
        finally:
            server.shutdown()
