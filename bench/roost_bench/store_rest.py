"""A DataStore over REST, as a client of `store_work`."""

import json
import urllib.parse
from collections.abc import Iterator
from typing import Any

from roost_bench.api import Connection, WrongResultError


class Rest:
    """One connection that is kept."""

    name = "over REST"

    def __init__(self, connection: Connection, store_id: str) -> None:
        self.connection = connection
        self.path = f"/datastore/{store_id}"

    def _entry(self, key: str) -> str:
        return f"{self.path}/entries/{urllib.parse.quote(key)}"

    def get(self, key: str) -> bytes:
        """The text under the key."""
        return self.connection.request("GET", self._entry(key))

    def version(self, key: str) -> int:
        """Its version."""
        query = urllib.parse.urlencode({"start": key, "limit": "1"})
        return int(self.connection.get(f"{self.path}/entries?{query}")["data"][0]["version"])

    def set(self, key: str, value: Any) -> None:
        """Stores."""
        self.connection.request("PUT", self._entry(key), json.dumps(value).encode())

    def commit(self, reads: "dict[str, int]", writes: "dict[str, Any]") -> "list[int]":
        """A transaction; the versions that it gave."""
        body = {
            "reads": [{"key": key, "version": version} for key, version in reads.items()],
            "writes": [{"key": key, "value": value} for key, value in writes.items()],
        }
        answer = self.connection.request("POST", f"{self.path}/transactions", json.dumps(body).encode())
        versions: list[int] = json.loads(answer)["versions"]
        return versions

    def pages(self, prefix: str, size: int) -> "Iterator[list[tuple[str, Any]]]":
        """Keys and values."""
        query = {"prefix": prefix, "limit": str(size)}
        while True:
            page = self.connection.get(f"{self.path}/entries?{urllib.parse.urlencode(query)}")
            yield [(entry["key"], entry["value"]) for entry in page["data"]]
            if page["next_cursor"] is None:
                return
            query["cursor"] = page["next_cursor"]

    def export(self, prefix: str) -> bytes:
        """The lines."""
        query = urllib.parse.urlencode({"prefix": prefix})
        return self.connection.request("GET", f"{self.path}/export?{query}", accept="application/x-ndjson")

    def exported(self, lines: bytes) -> "list[tuple[str, Any]]":
        """The pairs of the lines."""
        entries = [json.loads(line) for line in lines.splitlines()]
        return [(entry["key"], entry["value"]) for entry in entries]

    def load(self, lines: bytes, pairs: "dict[str, Any]") -> None:
        """Imports the lines."""
        answer = json.loads(
            self.connection.request("POST", f"{self.path}/import", lines, content="application/x-ndjson")
        )
        if answer != {"imported": len(pairs), "expired": 0}:
            raise WrongResultError(f"imported {len(pairs)} lines, the answer was {answer}")

    def plain(self, found: Any) -> Any:
        """The value of a text, or what is one already."""
        return json.loads(found) if isinstance(found, bytes) else found
