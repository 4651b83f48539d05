"""Bundles: the files of projects."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import closing
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .._bundles import BundleFile, Difference, Pack, Progress, Scan, scan
from .._errors import NotFound, ValidationError
from .._fields import Field, path_to
from .._values import dump_json, parse_time
from ._resource import Resource, default_client

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["Bundle", "Bundles"]

_PATH = "/bundles"
_PACK_NAME = "bundle.pack"
_MEDIA_TYPE = "application/octet-stream"
# From here on a bundle is sent as a whole, so that executors fetch it from one pack.
_MAX_PACKS = 16


class Bundle(Resource):
    """The files of a project, which don't change.

    `sha256` is a digest of their paths, contents and modes; `files` is their number, `size_bytes`
    their size. `packs` is the number of files in which the server keeps them, together with those
    of other bundles, and `stored_bytes` the size of these.
    """

    __slots__ = ()
    _shown = ("id", "files", "size_bytes")
    _shown_in_notebooks = ("sha256", "created_at")
    _path = _PATH

    sha256: Field[str] = Field()
    files: Field[int] = Field()
    size_bytes: Field[int] = Field()
    packs: Field[int] = Field()
    stored_bytes: Field[int] = Field()
    created_at: Field[datetime] = Field(parse_time)

    @classmethod
    async def upload(
        cls,
        directory: str | os.PathLike[str],
        *,
        base: Bundle | str | None = None,
        paths: Iterable[str] | None = None,
        on_progress: Progress | None = None,
        client: Client | None = None,
    ) -> Bundle:
        """Upload a project's directory, for `bundle` of `Agent.create` and `Agent.update`.

        Files that Git ignores aren't part of it, nor those of a `.roostignore`. Of a `base`, such
        as the agent's `bundle_id`, only the bytes are sent that it doesn't have; if nothing has
        changed, it is returned. `paths` limits the files to these, relative to the directory.
        `on_progress` is called with the bytes that have been sent, and all that will be. A bundle
        that no agent gets within a day is deleted.

        Raises `ValueError` for files that can't be sent, `TooLarge` beyond the server's limits.
        """
        bundles = (client or default_client()).bundles
        return await bundles.upload(directory, base=base, paths=paths, on_progress=on_progress)

    @classmethod
    async def retrieve(cls, id: str, *, client: Client | None = None) -> Bundle:  # noqa: A002
        """Return the bundle with that id."""
        return await (client or default_client()).bundles.retrieve(id)

    async def manifest(self) -> list[BundleFile]:
        """Return the files, by path."""
        answer = await self._client._transport.get(f"{path_to(_PATH, self.id)}/manifest")
        return [BundleFile.of(data) for data in answer["files"]]

    async def read(self, path: str) -> bytes:
        """Return the bytes of a file. Raises `NotFound` if there is none with that path."""
        response = await self._client._transport.request(
            "GET",
            f"{path_to(_PATH, self.id)}/content",
            params={"path": path},
            headers={"Accept": "*/*"},
        )
        return response.content


class Bundles:
    """`client.bundles`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def retrieve(self, id: str) -> Bundle:  # noqa: A002
        """Return the bundle with that id."""
        return Bundle(self._client, await self._client._transport.get(path_to(_PATH, id)))

    async def upload(
        self,
        directory: str | os.PathLike[str],
        *,
        base: Bundle | str | None = None,
        paths: Iterable[str] | None = None,
        on_progress: Progress | None = None,
    ) -> Bundle:
        """Upload a project's directory; see `Bundle.upload`."""
        return (await self._upload(scan(directory, paths), base, on_progress))[0]

    async def _upload(
        self, scanned: Scan, base: Bundle | str | None, progress: Progress | None
    ) -> tuple[Bundle, Difference]:
        """Return the bundle, and what has been sent for it."""
        found = await self._base(base)
        if found is None:
            return await self._send(scanned, None, [], progress)
        if found.sha256 == scanned.sha256:
            return found, Difference.between(scanned.files, scanned.files)
        files = await self._manifest_of(found)
        if files is None or not _is_worth_keeping(found):
            return await self._send(scanned, None, [], progress)
        try:
            return await self._send(scanned, found.id, files, progress)
        except ValidationError as error:
            if all(each.pointer != "/base" for each in error.errors):
                raise
            # It has been deleted meanwhile.
            return await self._send(scanned, None, [], progress)

    async def _base(self, base: Bundle | str | None) -> Bundle | None:
        """Return the base as it is now; None if there is none any more."""
        if base is None:
            return None
        try:
            return await self.retrieve(base.id if isinstance(base, Bundle) else base)
        except NotFound:
            return None

    @staticmethod
    async def _manifest_of(bundle: Bundle) -> list[BundleFile] | None:
        try:
            return await bundle.manifest()
        except NotFound:
            return None

    async def _send(
        self, scanned: Scan, base: str | None, files: list[BundleFile], progress: Progress | None
    ) -> tuple[Bundle, Difference]:
        difference = Difference.between(files, scanned.files)
        body: dict[str, Any] = {
            "base": base,
            "pack": None,
            "files": [file.as_data() for file in difference.entries(scanned.files)],
            "removed": list(difference.removed),
        }
        if difference.packed:
            with closing(Pack(difference.packed, scanned.sources, progress)) as pack:
                stored = await self._client.files._send(pack, _PACK_NAME, _MEDIA_TYPE)
            body["pack"] = stored.id
            if progress is not None:
                progress(difference.packed_bytes, difference.packed_bytes)
        transport = self._client._transport
        # One that is created twice is deleted, as nobody uses it.
        response = await transport.request(
            "POST", _PATH, body=dump_json(body, "bundle"), repeatable=True
        )
        return Bundle(self._client, transport.parse(response)), difference


def _is_worth_keeping(base: Bundle) -> bool:
    """Return whether another bundle should refer to the base's packs."""
    return base.packs < _MAX_PACKS and base.size_bytes * 2 >= base.stored_bytes
