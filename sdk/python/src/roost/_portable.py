"""DataStores as files: exports and imports as lines of JSON, in constant memory."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Literal, Union

from ._errors import (
    APIConnectionError,
    APITimeout,
    RateLimited,
    RoostError,
    ServerError,
    TooLarge,
    Unavailable,
    ValidationError,
)
from ._pages import given
from ._resource import path_to
from ._values import parse_json

if TYPE_CHECKING:
    from ._client import Client
    from ._data_store import DataStore

__all__ = ["Source", "Target", "blocks", "export", "import_"]

Target = Union[str, "os.PathLike[str]", IO[bytes]]
Source = Union[str, "os.PathLike[str]", IO[bytes]]

_NDJSON = "application/x-ndjson"
_PART_BYTES = 4 << 20
# A value of 1 MiB and a key are less, escaped too; more would not fit into a request.
_LINE_MOST_BYTES = 64 << 20
_BLOCK_BYTES = 1 << 20
_FAILURES_MOST = 8
_PASSING = (APIConnectionError, APITimeout, RateLimited, ServerError, Unavailable)
_LINE = re.compile(r"\A(line )(\d+)(?=:)")
_BATCH = re.compile(r"\A(line \d+: the batch up to line )(\d+)(?=:)")
_PROGRESS = re.compile(
    r"(?:[Tt]he \d+ lines before line (?P<line>\d+) are stored|(?P<one>Line 1 is stored)"
    r"|Nothing is stored)(?P<rest>, nothing after (?:it|them))?\.\Z"
)
_KEY = re.compile(rb'\s*\{\s*"key"\s*:\s*("(?:[^"\\]|\\.)*")')


def export(store: DataStore, file: Target, prefix: str, resume: bool) -> int:
    """Write an export to a file; return the number of lines that were written."""
    after: str | None = None
    if resume:
        if not isinstance(file, (str, os.PathLike)):
            raise TypeError("resume=True needs a path; for a file object use iter_export(after=…)")
        after = _continue_after(file, prefix)
    lines = 0
    with _opened(file, "ab" if resume else "wb") as target:
        for block in store.iter_export(prefix, after):
            target.write(block)
            lines += block.count(b"\n")
    return lines


def _opened(file: Target, mode: Literal["rb", "wb", "ab"]) -> AbstractContextManager[IO[bytes]]:
    return open(file, mode) if isinstance(file, (str, os.PathLike)) else nullcontext(file)


def blocks(client: Client, path: str, prefix: str, after: str | None) -> Iterator[bytes]:
    """Yield an export as blocks of whole lines.

    A connection that breaks is made again from the key after the last complete line, so that
    none is lost and none comes twice.
    """
    transport = client._transport
    last_line: bytes | None = None
    failures = 0
    while True:
        if last_line is not None:
            after, last_line = _key_of(last_line), None
        asked: float | None = None
        rest: list[bytes] = []
        try:
            with transport.stream(
                path,
                params={**({"prefix": prefix} if prefix else {}), **given(after=after)},
                headers={"Accept": _NDJSON, "Accept-Encoding": "identity"},
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


def _key_of(line: bytes) -> str:
    match = _KEY.match(line)
    if match is None:
        raise ValueError(f"this is no line of an export: {line[:80]!r}")
    key = parse_json(match[1])
    assert isinstance(key, str)
    return key


def _continue_after(path: str | os.PathLike[str], prefix: str) -> str | None:
    """Cut an incomplete last line off and return the key of the one before."""
    try:
        file = open(path, "r+b")  # noqa: SIM115
    except FileNotFoundError:
        return None
    with file:
        size = file.seek(0, os.SEEK_END)
        end = _after_line_break(file, size)
        if end == 0:
            if size:
                # It may be anything: what is not certainly ours is not ours to cut off.
                file.seek(0)
                if not file.read(2).startswith(b'{"'[:size]):
                    raise ValueError(f"{os.fspath(path)} is no export: it has no line of one")
            file.truncate(0)
            return None
        start = _after_line_break(file, end - 1)
        file.seek(start)
        key = _key_of(file.read(end - start))
        if not key.startswith(prefix):
            raise ValueError(
                f"{os.fspath(path)} is an export with another prefix: it ends with {key!r}"
            )
        file.truncate(end)
        return key


def _after_line_break(file: IO[bytes], end: int) -> int:
    """Return where the bytes after the last line break before `end` begin; 0 without one."""
    while end > 0:
        start = max(0, end - _BLOCK_BYTES)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def import_(store: DataStore, file: Source) -> int:
    """Send a file in parts of whole lines; return the number of entries that were stored."""
    path = path_to(store._path, store.id) + "/import"
    imported = 0
    with _opened(file, "rb") as source:
        for before, part in _parts(source):
            imported += _send(store._client, path, before, part)
    return imported


def _parts(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield parts of whole lines with the number of lines before each."""
    part: list[bytes] = []
    size = before = 0
    while True:
        line = file.readline(_LINE_MOST_BYTES + 1)
        if not isinstance(line, bytes):
            raise TypeError("import_ reads bytes: open the file with mode 'rb'")
        if part and (not line or size + len(line) > _PART_BYTES):
            yield before, b"".join(part)
            before += len(part)
            part, size = [], 0
        if not line:
            return
        if len(line) > _LINE_MOST_BYTES:
            raise ValidationError(
                f"line {before + len(part) + 1}: longer than {_LINE_MOST_BYTES:,} bytes, "
                f"which no entry is{_stored(before)}"
            )
        part.append(line)
        size += len(line)


def _send(client: Client, path: str, before: int, part: bytes) -> int:
    transport = client._transport
    try:
        response = transport.request(
            "POST",
            path,
            body=part,
            headers={"Content-Type": _NDJSON},
            repeatable=True,  # it stores what it has stored before
        )
    except RoostError as error:
        _count_from_the_start(error, before)
        if isinstance(error, _PASSING):
            error.args = (f"{error}{_stored(before)}\nimporting all of it again is harmless",)
        raise
    count: int = transport.parse(response)["imported"]
    return count


def _stored(lines: int) -> str:
    return f"\nthe {lines:,} lines before line {lines + 1:,} are stored" if lines else ""


def _count_from_the_start(error: RoostError, before: int) -> None:
    """Make the numbers of lines in a part those of the whole file."""
    if not before or error.detail is None or not _LINE.match(error.detail):
        return
    detail = _shifted(error.detail, before)
    message = str(error).replace(error.detail, detail, 1)
    error.detail = detail
    if isinstance(error, (TooLarge, ValidationError)):
        errors = []
        for old in error.errors:
            new = old if old.line is None else replace(old, line=old.line + before)
            message = message.replace(f"\n  {old}", f"\n  {new}", 1)
            errors.append(new)
        error.errors = tuple(errors)
    error.args = (message,)


def _shifted(detail: str, before: int) -> str:
    """Shift where the mistake is and, at the end, how many lines are stored."""
    detail = _LINE.sub(lambda match: f"{match[1]}{int(match[2]) + before}", detail)
    detail = _BATCH.sub(lambda match: f"{match[1]}{int(match[2]) + before}", detail)
    end = _PROGRESS.search(detail)
    if end is None:
        return f"{detail} (The {before} lines before line {before + 1} are stored.)"
    first_open = before + (int(end["line"]) if end["line"] else 2 if end["one"] else 1)
    the = "the" if detail[end.start()] == "t" else "The"
    stored = f"{the} {first_open - 1} lines before line {first_open} are stored"
    return f"{detail[: end.start()]}{stored}{end['rest'] or ''}."
