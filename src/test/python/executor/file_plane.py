"""The files of the control plane for tests: the operations of docs/executor-link.md, in memory."""

import base64
import hashlib
import json
from typing import Any

from store_plane import Refused, without_duplicates

PART_BYTES = 4 * 1024 * 1024


class JobFiles:
    """The files that a job reads, and its artifacts, by name."""

    def __init__(self) -> None:
        self.inputs: dict[str, bytes] = {}
        # Content and media type.
        self.artifacts: dict[str, tuple[bytes, str]] = {}
        self.reads: list[tuple[str, int]] = []
        # In the order in which they were begun.
        self.made: list[dict[str, Any]] = []

    def work(self) -> "list[dict[str, Any]]":
        """What the work says of them."""
        return [
            {"name": name, "file_name": f"{name}.bin", "content_type": "text/plain", "size_bytes": len(content)}
            for name, content in self.inputs.items()
        ]

    def operate(self, execution: str, body: bytes) -> "tuple[int, Any]":
        request = json.loads(body, object_pairs_hook=without_duplicates)
        assert request.pop("execution_id") == execution
        try:
            return 200, getattr(self, "_" + request.pop("op"))(**request)
        except Refused as refused:
            return refused.answer

    def _read_file(self, name: str, part: int) -> "dict[str, Any]":
        self.reads.append((name, part))
        content = self.inputs[name]
        begin = part * PART_BYTES
        assert begin < len(content)
        end = begin + PART_BYTES
        return {"data": base64.b64encode(content[begin:end]).decode(), "last": end >= len(content)}

    def _create_artifact(self, name: str, content_type: str) -> "dict[str, Any]":
        if "/" in name:
            raise Refused(422, "validation_failed", "name must have no slashes.")
        self.made.append({"name": name, "type": content_type, "content": b""})
        return {"id": f"file_{len(self.made):026}"}

    def of(self, id: str) -> "dict[str, Any]":  # noqa: A002
        """What was made with this identifier."""
        return self.made[int(id.removeprefix("file_")) - 1]

    def _artifact_part(self, id: str, part: int, data: str) -> "dict[str, Any]":  # noqa: A002
        made = self.of(id)
        assert len(made["content"]) == part * PART_BYTES
        made["content"] += base64.b64decode(data)
        return {}

    def _complete_artifact(self, id: str, size_bytes: int, sha256: str) -> "dict[str, Any]":  # noqa: A002
        made = self.of(id)
        assert len(made["content"]) == size_bytes
        assert hashlib.sha256(made["content"]).hexdigest() == sha256
        self.artifacts[made["name"]] = made["content"], made["type"]
        return {"id": id}
