"""Files that jobs read and make."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Union

from .._errors import APIConnectionError, RoostError
from .._fields import Field, path_to
from .._links import FileLink
from .._media_types import media_type_of
from .._params import without_none
from .._states import FileState
from .._values import dump_json, parse_time
from ._concurrency import aclosing
from ._resource import Resource, default_client

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["Content", "File", "Files", "JobFile", "ids_of"]

_PATH = "/files"
_PART_BYTES = 4 * 1024 * 1024
_MAX_FAILURES = 8

Content = Union[str, "os.PathLike[str]", bytes]


class _Source(Protocol):
    def read(self, size: int, /) -> bytes: ...


class File(Resource):
    """A file that a job reads, or an artifact that its script has made.

    `content_type` is its media type; `sha256` the digest, hexadecimal, if whoever sent it has
    computed one. `state` is "uploading" until all of it is there, then "stored".
    """

    __slots__ = ()
    _shown = ("id", "name", "size_bytes")
    _shown_in_notebooks = ("content_type", "created_at")
    _path = _PATH

    name: Field[str] = Field()
    content_type: Field[str] = Field()
    state: Field[FileState] = Field()
    size_bytes: Field[int] = Field()
    sha256: Field[str | None] = Field()
    created_at: Field[datetime] = Field(parse_time)

    @classmethod
    async def upload(
        cls,
        content: Content,
        *,
        name: str | None = None,
        content_type: str | None = None,
        client: Client | None = None,
    ) -> File:
        """Upload a file: a path, or bytes with a name.

        It is deleted after a day unless a job has got it. `content_type` is guessed from the name
        if it is omitted. Raises `TooLarge` beyond the server's limit.
        """
        files = (client or default_client()).files
        return await files.upload(content, name=name, content_type=content_type)

    @classmethod
    async def retrieve(cls, id: str, *, client: Client | None = None) -> File:  # noqa: A002
        """Return the file with that id."""
        return await (client or default_client()).files.retrieve(id)

    async def download(self, path: str | os.PathLike[str] | None = None) -> Path:
        """Write the file to a path, by default its name in the current directory; return the path.

        If the path is a directory, the file gets its name there. A lost connection is continued.
        What has come is checked by the digest; until it is complete, it is in a file with ".part"
        after the name.
        """
        name = Path(self.name).name  # the server's word for it doesn't choose a directory
        target = Path(name if path is None else path)
        if target.is_dir():
            target = target / name
        draft = target.with_name(target.name + ".part")
        try:
            with draft.open("wb") as output:
                async with aclosing(self._pieces()) as pieces:
                    async for piece in pieces:
                        output.write(piece)
            draft.replace(target)
        except BaseException:
            with suppress(OSError):
                draft.unlink()
            raise
        return target

    async def read(self) -> bytes:
        """Return the file's bytes."""
        async with aclosing(self._pieces()) as pieces:
            return b"".join([piece async for piece in pieces])

    async def link(self, *, expires_in: int | None = None) -> FileLink:
        """Return a link that downloads the file without a key.

        Whoever has it can download the file, for `expires_in` seconds (an hour; at most a week).
        """
        transport = self._client._transport
        body = dump_json(without_none(expires_in=expires_in), "link")
        path = f"{path_to(_PATH, self.id)}/links"
        response = await transport.request("POST", path, body=body, repeatable=True)
        return FileLink.of(transport.parse(response), self._client.base_url)

    async def _pieces(self) -> AsyncGenerator[bytes, None]:
        transport = self._client._transport
        path = f"{path_to(_PATH, self.id)}/content"
        digest = hashlib.sha256()
        position = failures = 0
        while position < self.size_bytes:
            broken: RoostError | None = None
            headers = {"Accept": "*/*", "Accept-Encoding": "identity"}
            if position:
                headers["Range"] = f"bytes={position}-"
            try:
                async with transport.stream(path, headers=headers) as response:
                    async for piece in response.aiter_bytes():
                        digest.update(piece)
                        position += len(piece)
                        failures = 0
                        yield piece
            except APIConnectionError as error:
                broken = error
            if position < self.size_bytes:
                if failures >= _MAX_FAILURES:
                    raise broken or APIConnectionError(f"{path} keeps ending before its end")
                await transport.clock.asleep(transport.backoff(failures))
                failures += 1
        if self.sha256 not in (None, digest.hexdigest()):
            raise RoostError(f"{self.id}: what has come isn't the file; its digest is another one")


@dataclass(frozen=True)
class JobFile:
    """A file of a job.

    `kind` is "input" if it was submitted with the payload, "artifact" if the script has made it,
    "payload" or "return_value" if it is the JSON text of a large one; `name` is what the script
    calls it.
    """

    kind: str
    name: str
    file: File


class Files:
    """`client.files`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def upload(
        self, content: Content, *, name: str | None = None, content_type: str | None = None
    ) -> File:
        """Upload a file; see `File.upload`."""
        if isinstance(content, bytes):
            if name is None:
                raise TypeError("bytes need a name")
            return await self._send(io.BytesIO(content), name, content_type)
        path = Path(content)
        with path.open("rb") as source:
            return await self._send(source, name or path.name, content_type)

    async def retrieve(self, id: str) -> File:  # noqa: A002
        """Return the file with that id."""
        return File(self._client, await self._client._transport.get(path_to(_PATH, id)))

    async def _send(self, source: _Source, name: str, content_type: str | None) -> File:
        transport = self._client._transport
        media_type = content_type or media_type_of(name)
        body = dump_json(without_none(name=name, content_type=media_type), "file")
        # One that is created twice is deleted, as nobody uses it.
        response = await transport.request("POST", _PATH, body=body, repeatable=True)
        path = path_to(_PATH, transport.parse(response)["id"])
        digest = hashlib.sha256()
        size = 0
        part = 0
        while piece := source.read(_PART_BYTES):
            digest.update(piece)
            size += len(piece)
            headers = {"Content-Type": "application/octet-stream"}
            await transport.request("PUT", f"{path}/parts/{part}", body=piece, headers=headers)
            part += 1
        whole = dump_json({"size_bytes": size, "sha256": digest.hexdigest()}, "file")
        response = await transport.request("POST", f"{path}/complete", body=whole, repeatable=True)
        return File(self._client, transport.parse(response))


async def ids_of(
    client: Client, files: Mapping[str, Content | File] | None
) -> dict[str, Any] | None:
    """Return the ids of files by name; uploads those that are paths or bytes."""
    if files is None:
        return None
    ids: dict[str, Any] = {}
    for name, content in files.items():
        if isinstance(content, File):
            ids[name] = content.id
        else:
            given = name if isinstance(content, bytes) else None
            ids[name] = (await client.files.upload(content, name=given)).id
    return ids
