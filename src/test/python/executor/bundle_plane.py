"""The bundles of the control plane for tests: what docs/executor-link.md says of them, in memory."""

import hashlib
from collections.abc import Mapping
from typing import Any, Callable, Optional, Union

PART_BYTES = 4 * 1024 * 1024
Content = Union[str, bytes]


class Bundles:
    """One bundle; `faults` changes the answers to requests."""

    def __init__(self) -> None:
        self.packs: list[bytes] = []
        self.files: list[dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []
        # Takes a request; what it returns is the answer, unless it is None.
        self.fault: Optional[Callable[[dict[str, Any]], Optional[tuple[Optional[int], Any]]]] = None

    def put(self, files: "Mapping[str, Content]", executable: "tuple[str, ...]" = (), gap: int = 0) -> "dict[str, Any]":
        """Stores these files in one more pack, after `gap` bytes of no use; returns what the work says of them."""
        pack = bytearray(gap)
        known: dict[tuple[str, int], tuple[int, int]] = {}
        for path, text in files.items():
            content = text.encode() if isinstance(text, str) else text
            key = (hashlib.sha256(content).hexdigest(), len(content))
            if key not in known:
                known[key] = (len(self.packs), len(pack))
                pack += content
            self.files.append(
                {
                    "path": path,
                    "size_bytes": key[1],
                    "sha256": key[0],
                    "executable": path in executable,
                    "pack": known[key][0],
                    "offset": known[key][1],
                }
            )
        self.packs.append(bytes(pack))
        return {"id": "bundle_1", "script": next(iter(files))}

    def answer(self, request: "dict[str, Any]") -> "tuple[Optional[int], Any]":
        self.requests.append(request)
        fault = self.fault and self.fault(request)
        if fault:
            return fault
        assert request["bundle_id"] == "bundle_1"
        if "part" not in request:
            return 200, {"packs": [len(pack) for pack in self.packs], "files": self.files}
        begin = request["part"] * PART_BYTES
        return 200, self.packs[request["pack"]][begin : begin + PART_BYTES]
