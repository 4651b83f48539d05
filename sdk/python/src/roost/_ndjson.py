"""Export files of DataStores: lines of JSON, sent in parts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import IO, Literal, Union

from ._errors import FieldError, RoostError, TooLarge, ValidationError
from ._values import parse_json

__all__ = [
    "NDJSON",
    "Source",
    "Target",
    "continue_after",
    "count_from_the_start",
    "key_of",
    "opened",
    "parts",
    "stored",
]

Target = Union[str, "os.PathLike[str]", IO[bytes]]
Source = Union[str, "os.PathLike[str]", IO[bytes]]

NDJSON = "application/x-ndjson"
_PART_BYTES = 4 << 20
# More than any entry, even with escapes.
_MAX_LINE_BYTES = 64 << 20
_BLOCK_BYTES = 1 << 20
_LINE = re.compile(r"\A(line )(\d+)(?=:)")
_BATCH = re.compile(r"\A(line \d+: the batch up to line )(\d+)(?=:)")
_PROGRESS = re.compile(
    r"(?:[Tt]he \d+ lines before line (?P<line>\d+) are stored|(?P<one>Line 1 is stored)"
    r"|Nothing is stored)(?P<rest>, nothing after (?:it|them))?\.\Z"
)
_KEY = re.compile(rb'\s*\{\s*"key"\s*:\s*("(?:[^"\\]|\\.)*")')


def opened(file: Target, mode: Literal["rb", "wb", "ab"]) -> AbstractContextManager[IO[bytes]]:
    """Return the file as a context manager, which closes it only if opened here."""
    return open(file, mode) if isinstance(file, (str, os.PathLike)) else nullcontext(file)


def key_of(line: bytes) -> str:
    """Return the key of an export's line."""
    match = _KEY.match(line)
    if match is None:
        raise ValueError(f"not a line of an export: {line[:80]!r}")
    key = parse_json(match[1])
    assert isinstance(key, str)
    return key


def continue_after(path: str | os.PathLike[str], prefix: str) -> str | None:
    """Remove an incomplete last line and return the key of the one before."""
    try:
        file = open(path, "r+b")  # noqa: SIM115
    except FileNotFoundError:
        return None
    with file:
        size = file.seek(0, os.SEEK_END)
        end = _after_line_break(file, size)
        if end == 0:
            if size:
                # Never truncate a file that may not be an export.
                file.seek(0)
                if not file.read(2).startswith(b'{"'[:size]):
                    raise ValueError(f"{os.fspath(path)} is not an export: it has no complete line")
            file.truncate(0)
            return None
        start = _after_line_break(file, end - 1)
        file.seek(start)
        key = key_of(file.read(end - start))
        if not key.startswith(prefix):
            raise ValueError(
                f"{os.fspath(path)} is an export with another prefix: it ends with {key!r}"
            )
        file.truncate(end)
        return key


def _after_line_break(file: IO[bytes], end: int) -> int:
    """Return the offset after the last line break before `end`; 0 without one."""
    while end > 0:
        start = max(0, end - _BLOCK_BYTES)
        file.seek(start)
        found = file.read(end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def parts(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield parts of whole lines with the number of lines before each."""
    part: list[bytes] = []
    size = before = 0
    while True:
        line = file.readline(_MAX_LINE_BYTES + 1)
        if not isinstance(line, bytes):
            raise TypeError("import_ requires bytes: open the file with mode 'rb'")
        if part and (not line or size + len(line) > _PART_BYTES):
            yield before, b"".join(part)
            before += len(part)
            part, size = [], 0
        if not line:
            return
        if len(line) > _MAX_LINE_BYTES:
            raise ValidationError(
                f"line {before + len(part) + 1}: longer than {_MAX_LINE_BYTES:,} bytes, "
                f"more than any entry{stored(before)}"
            )
        part.append(line)
        size += len(line)


def stored(lines: int) -> str:
    """Return a sentence with the number of stored lines."""
    return f"\nthe {lines:,} lines before line {lines + 1:,} are stored" if lines else ""


def count_from_the_start(error: RoostError, before: int) -> None:
    """Convert line numbers of a part to line numbers of the whole file."""
    if not before or error.detail is None or not _LINE.match(error.detail):
        return
    detail = _shifted(error.detail, before)
    message = str(error).replace(error.detail, detail, 1)
    error.detail = detail
    if isinstance(error, (TooLarge, ValidationError)):
        errors: list[FieldError] = []
        for old in error.errors:
            new = old if old.line is None else replace(old, line=old.line + before)
            message = message.replace(f"\n  {old}", f"\n  {new}", 1)
            errors.append(new)
        error.errors = tuple(errors)
    error.args = (message,)


def _shifted(detail: str, before: int) -> str:
    """Shift the line of the error and, at the end, the number of stored lines."""
    detail = _LINE.sub(lambda match: f"{match[1]}{int(match[2]) + before}", detail)
    detail = _BATCH.sub(lambda match: f"{match[1]}{int(match[2]) + before}", detail)
    end = _PROGRESS.search(detail)
    if end is None:
        return f"{detail} (The {before} lines before line {before + 1} are stored.)"
    first_open = before + (int(end["line"]) if end["line"] else 2 if end["one"] else 1)
    the = "the" if detail[end.start()] == "t" else "The"
    stored = f"{the} {first_open - 1} lines before line {first_open} are stored"
    return f"{detail[: end.start()]}{stored}{end['rest'] or ''}."
