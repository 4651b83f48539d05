# Made by generate.py from src/roost/_async/_portable.py; change that.
"""DataStores as files: exports and imports as lines of JSON, in constant memory."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import TYPE_CHECKING

from .._errors import (
    APIConnectionError,
    APITimeout,
    RateLimited,
    RoostError,
    ServerError,
    Unavailable,
)
from .._fields import path_to
from .._ndjson import (
    NDJSON,
    Source,
    Target,
    continue_after,
    count_from_the_start,
    key_of,
    opened,
    parts,
    stored,
)
from .._params import given
from ._concurrency import closing, in_thread

if TYPE_CHECKING:
    from ._client import Client
    from ._data_store import DataStore

__all__ = ["blocks", "export", "import_"]

_FAILURES_MOST = 8
_PASSING = (APIConnectionError, APITimeout, RateLimited, ServerError, Unavailable)


def export(store: DataStore, file: Target, prefix: str, resume: bool) -> int:
    """Write an export to a file; return the number of lines that were written."""
    after: str | None = None
    if resume:
        if not isinstance(file, (str, os.PathLike)):
            raise TypeError("resume=True needs a path; for a file object use iter_export(after=…)")
        after = in_thread(continue_after, file, prefix)
    lines = 0
    path = path_to(store._path, store.id) + "/export"
    with opened(file, "ab" if resume else "wb") as target:
        with closing(blocks(store._client, path, prefix, after)) as export:
            for block in export:
                in_thread(target.write, block)
                lines += block.count(b"\n")
    return lines


def blocks(
    client: Client, path: str, prefix: str, after: str | None
) -> Generator[bytes, None, None]:
    """Yield an export as blocks of whole lines.

    A connection that breaks is made again from the key after the last complete line, so that
    none is lost and none comes twice.
    """
    transport = client._transport
    last_line: bytes | None = None
    failures = 0
    while True:
        if last_line is not None:
            after, last_line = key_of(last_line), None
        asked: float | None = None
        rest: list[bytes] = []
        try:
            with transport.stream(
                path,
                params={**({"prefix": prefix} if prefix else {}), **given(after=after)},
                headers={"Accept": NDJSON, "Accept-Encoding": "identity"},
            ) as response:
                for chunk in response.iter_bytes():
                    end = chunk.rfind(b"\n") + 1
                    if not end:
                        rest.append(chunk)
                        continue
                    block = b"".join((*rest, chunk[:end]))
                    rest = [chunk[end:]]
                    last_line = block[block.rfind(b"\n", 0, -1) + 1 :]
                    failures = 0
                    yield block
            if not any(rest):
                return
            broken: RoostError = APIConnectionError(
                f"{transport.base_url} ends the export of {path} again and again within a line"
            )
        except (APIConnectionError, APITimeout, RateLimited, Unavailable) as error:
            broken = error
            asked = getattr(error, "retry_after", None)
        if failures >= _FAILURES_MOST:
            raise broken
        transport.clock.sleep(transport.backoff(failures, asked))
        failures += 1


def import_(store: DataStore, file: Source) -> int:
    """Send a file in parts of whole lines; return the number of entries that were stored."""
    path = path_to(store._path, store.id) + "/import"
    imported = 0
    with opened(file, "rb") as source:
        remaining = parts(source)
        while (next_part := in_thread(lambda: next(remaining, None))) is not None:
            before, part = next_part
            imported += _send(store._client, path, before, part)
    return imported


def _send(client: Client, path: str, before: int, part: bytes) -> int:
    transport = client._transport
    try:
        response = transport.request(
            "POST",
            path,
            body=part,
            headers={"Content-Type": NDJSON},
            repeatable=True,  # it stores what it has stored before
        )
    except RoostError as error:
        count_from_the_start(error, before)
        if isinstance(error, _PASSING):
            error.args = (f"{error}{stored(before)}\nimporting all of it again is harmless",)
        raise
    count: int = transport.parse(response)["imported"]
    return count
