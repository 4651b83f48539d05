"""The files of a local run: those it reads, and the artifacts that it makes."""

from __future__ import annotations

import base64
import json
import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Callable

from .store_checks import problem

__all__ = ["Files"]

_PART_BYTES = 4 * 1024 * 1024


class Files:
    """The files of one execution. Thread-safe.

    Artifacts are written to `directory`, which is made for the first one; `on_artifact` is called
    with the path of each.
    """

    def __init__(
        self, inputs: Mapping[str, Path], directory: Path, on_artifact: Callable[[Path], None]
    ) -> None:
        self._inputs = inputs
        self._directory = directory
        self._on_artifact = on_artifact
        self._lock = threading.Lock()
        self._names: list[str] = []

    def work(self) -> list[dict[str, Any]]:
        """Return the inputs as the executor receives them."""
        return [
            {
                "name": name,
                "file_name": path.name,
                "content_type": "application/octet-stream",
                "size_bytes": path.stat().st_size,
            }
            for name, path in self._inputs.items()
        ]

    def operate(self, body: bytes) -> tuple[int, bytes]:
        """Handle one operation; return the status and the JSON of the response."""
        request = json.loads(body)
        try:
            with self._lock:
                return 200, json.dumps(self._run(request)).encode()
        except OSError as error:
            return 409, problem("conflict", f"The file can't be read or written: {error}")

    def _run(self, request: dict[str, Any]) -> dict[str, Any]:
        operation = request["op"]
        if operation == "read_file":
            return self._read(self._inputs[request["name"]], request["part"])
        if operation == "create_artifact":
            name = request["name"]
            if not name or Path(name).name != name:
                raise OSError(f"{name!r} isn't a name")
            self._directory.mkdir(parents=True, exist_ok=True)
            self._names.append(name)
            number = len(self._names) - 1
            self._draft(number).write_bytes(b"")
            return {"id": f"file_{number}"}
        number = int(request["id"].partition("_")[2])
        if operation == "artifact_part":
            with self._draft(number).open("r+b") as draft:
                draft.seek(request["part"] * _PART_BYTES)
                draft.write(base64.b64decode(request["data"]))
            return {}
        path = self._directory / self._names[number]
        if self._draft(number).exists():  # otherwise the response got lost
            os.replace(self._draft(number), path)
            self._on_artifact(path)
        return {"id": request["id"]}

    @staticmethod
    def _read(path: Path, part: int) -> dict[str, Any]:
        with path.open("rb") as file:
            file.seek(part * _PART_BYTES)
            data = file.read(_PART_BYTES)
            return {"data": base64.b64encode(data).decode(), "last": not file.read(1)}

    def _draft(self, number: int) -> Path:
        return self._directory / f".{number}.part"
