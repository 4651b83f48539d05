"""Export and import of DataStores as lines of JSON, in constant memory."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
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
from ._concurrency import aclosing, in_thread

if TYPE_CHECKING:
    from ._client import Client
    from ._data_store import DataStore

__all__ = ["blocks", "export", "import_"]

_MAX_FAILURES = 8
_TRANSIENT_ERRORS = (APIConnectionError, APITimeout, RateLimited, ServerError, Unavailable)


async def export(store: DataStore, file: Target, prefix: str, resume: bool) -> int:
    """Write an export to a file; return the number of lines written."""
    after: str | None = None
    if resume:
        if not isinstance(file, (str, os.PathLike)):
            raise TypeError(
                "resume=True requires a path; for a file object use iter_export(after=…)"
            )
        after = await in_thread(continue_after, file, prefix)
    lines = 0
    path = path_to(store._path, store.id) + "/export"
    with opened(file, "ab" if resume else "wb") as target:
        async with aclosing(blocks(store._client, path, prefix, after)) as export:
            async for block in export:
                await in_thread(target.write, block)
                lines += block.count(b"\n")
    return lines


async def blocks(
    client: Client, path: str, prefix: str, after: str | None
) -> AsyncGenerator[bytes, None]:
    """Yield an export as blocks of whole lines.

    After a disconnect it resumes after the last complete line, without gaps or duplicates.
    """
    transport = client._transport
    last_line: bytes | None = None
    failures = 0
    while True:
        if last_line is not None:
            after, last_line = key_of(last_line), None
        retry_after: float | None = None
        rest: list[bytes] = []
        try:
            async with transport.stream(
                path,
                params={**({"prefix": prefix} if prefix else {}), **given(after=after)},
                headers={"Accept": NDJSON, "Accept-Encoding": "identity"},
            ) as response:
                async for chunk in response.aiter_bytes():
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
                f"{transport.base_url} keeps closing the export {path} within a line"
            )
        except (APIConnectionError, APITimeout, RateLimited, Unavailable) as error:
            broken = error
            retry_after = getattr(error, "retry_after", None)
        if failures >= _MAX_FAILURES:
            raise broken
        await transport.clock.asleep(transport.backoff(failures, retry_after))
        failures += 1


async def import_(store: DataStore, file: Source) -> int:
    """Send a file in parts of whole lines; return the number of entries stored."""
    path = path_to(store._path, store.id) + "/import"
    imported = 0
    with opened(file, "rb") as source:
        remaining = parts(source)
        while (next_part := await in_thread(lambda: next(remaining, None))) is not None:
            before, part = next_part
            imported += await _send(store._client, path, before, part)
    return imported


async def _send(client: Client, path: str, before: int, part: bytes) -> int:
    transport = client._transport
    try:
        response = await transport.request(
            "POST",
            path,
            body=part,
            headers={"Content-Type": NDJSON},
            repeatable=True,  # storing the same entries again is harmless
        )
    except RoostError as error:
        count_from_the_start(error, before)
        if isinstance(error, _TRANSIENT_ERRORS):
            error.args = (f"{error}{stored(before)}\nit is safe to import the whole file again",)
        raise
    count: int = transport.parse(response)["imported"]
    return count
