"""The files that a job reads, and those that its script makes. They go through the sidecar, a part at a time.

Most scripts have none, so what takes long to import is imported when it is needed.
"""

import json
import os
import threading
from binascii import a2b_base64, b2a_base64
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, BinaryIO, Union

from roost_executor.script import store_errors
from roost_executor.script.store_connection import StoreConnection

if TYPE_CHECKING:
    from pathlib import Path

# In place of a store's identifier.
FILES = "files"
# As the control plane stores them.
PART_BYTES = 4 * 1024 * 1024
# Of a UUID in base32.
IDENTIFIER_DIGITS = 26
Content = Union[str, "os.PathLike[str]", bytes, bytearray, memoryview]


class FileError(Exception):
    """A file can't be read or stored."""


class InputFiles(Mapping):  # type: ignore[type-arg] # of str and Path
    """Paths by name. A file is fetched when its path is asked for; `del`, writing and moving change the copy alone."""

    def __init__(self, connection: "StoreConnection", files: "list[dict[str, Any]]") -> None:
        """`files`: their descriptions in the work."""
        self._connection = connection
        self._files = {file["name"]: file for file in files}
        self._paths: dict[str, Path] = {}
        self._lock = threading.Lock()

    def __getitem__(self, name: str) -> "Path":
        """The path of a copy in the execution's temporary directory. Raises KeyError, FileError."""
        import tempfile
        from pathlib import Path

        file = self._files[name]
        with self._lock:
            path = self._paths.get(name)
            if path is None:
                path = Path(tempfile.mkdtemp(prefix="file-"), file["file_name"])
                self._fetch(file, path)
                self._paths[name] = path
            return path

    def remove(self) -> None:
        """Removes the copies, in a process that continues without the execution."""
        from roost_executor.files import remove

        with self._lock:
            for path in self._paths.values():
                remove(str(path.parent))
            self._paths.clear()

    def _fetch(self, file: "dict[str, Any]", path: "Path") -> None:
        draft = path.with_name(".part")
        with draft.open("wb") as output:
            for part in range(-(-file["size_bytes"] // PART_BYTES)):
                answer = _request(self._connection, "read_file", name=file["name"], part=part)
                output.write(a2b_base64(answer["data"]))
            if output.tell() != file["size_bytes"]:
                raise FileError(f"{file['name']}: {output.tell():,} bytes came, not {file['size_bytes']:,}")
        draft.rename(path)

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def __contains__(self, name: object) -> bool:
        return name in self._files

    def __repr__(self) -> str:
        return f"<files {', '.join(self._files)}>"


class Artifacts:
    """Stores what the script makes."""

    def __init__(self, connection: "StoreConnection") -> None:
        self._connection = connection

    def store(self, content: Content, name: "str | None", content_type: "str | None") -> str:
        """See `Request.artifact`."""
        import io
        from pathlib import Path

        if isinstance(content, (bytes, bytearray, memoryview)):
            if name is None:
                raise TypeError("an artifact that is bytes needs a name")
            return self._send(io.BytesIO(content), name, content_type)
        try:
            path = Path(content)
        except TypeError:
            raise TypeError(f"an artifact is a path or bytes, not {type(content).__name__}") from None
        with path.open("rb") as file:
            return self._send(file, path.name if name is None else name, content_type)

    def identifiers(self, files: "Mapping[str, Content]") -> "dict[str, str]":
        """The identifiers of a call's files by name; stores those that have none. Raises OSError and FileError."""
        return {name: self._identifier(name, content) for name, content in files.items()}

    def _identifier(self, name: str, content: Content) -> str:
        if isinstance(content, str) and is_identifier(content):
            return content
        return self.store(content, name if isinstance(content, (bytes, bytearray, memoryview)) else None, None)

    def _send(self, file: BinaryIO, name: str, content_type: "str | None") -> str:
        import hashlib

        made = _request(self._connection, "create_artifact", name=name, content_type=content_type or media_type(name))
        digest = hashlib.sha256()
        size = part = 0
        while data := file.read(PART_BYTES):
            digest.update(data)
            size += len(data)
            encoded = b2a_base64(data, newline=False).decode("ascii")
            _request(self._connection, "artifact_part", id=made["id"], part=part, data=encoded)
            part += 1
        fields = {"id": made["id"], "size_bytes": size, "sha256": digest.hexdigest()}
        return str(_request(self._connection, "complete_artifact", **fields)["id"])


def is_identifier(text: str) -> bool:
    """Whether this is the identifier of a stored file, and not a path."""
    prefix, _, digits = text.partition("_")
    return prefix == "file" and len(digits) == IDENTIFIER_DIGITS and digits.isalnum() and digits == digits.lower()


def media_type(name: str) -> str:
    """The media type that a file with this name has, as far as it can be known."""
    import mimetypes

    if name.lower().endswith(".parquet"):
        return "application/vnd.apache.parquet"  # registered, but not known to Python before 3.14
    guessed, compressed = mimetypes.guess_type(name)
    # A compressed table isn't text.
    return guessed if guessed and not compressed else "application/octet-stream"


def _request(connection: StoreConnection, operation: str, **fields: Any) -> "dict[str, Any]":
    try:
        answer: dict[str, Any] = connection.request(operation, json.dumps(fields))
    except store_errors.StoreError as error:
        raise FileError(str(error)) from None
    return answer
