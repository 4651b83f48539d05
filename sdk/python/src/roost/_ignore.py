"""Patterns of `.gitignore` files, matched as Git matches them.

A pattern becomes a list of items, over which a path is matched byte by byte with the set of all
places that it may have reached. So the time is at most the product of both lengths, which a regular
expression doesn't guarantee.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Union

__all__ = ["IgnoreFile", "is_ignored"]

_SLASH = ord("/")
_SPECIAL = b"*?[\\"
# Items of a pattern. A set of bytes matches one of them.
_STAR = 1  # any bytes but slashes
_ANY = 2  # any bytes
_DIRECTORIES = 3  # `**/`: nothing, or the next item
_WITHIN = 4  # any bytes and a slash
_NEVER = 5
_Item = Union[int, frozenset[int]]

_ALL = frozenset(range(256))
_NO_SLASH = _ALL - {_SLASH}
_PRINTED = frozenset(range(33, 127))
_DIGITS = frozenset(b"0123456789")
_LOWER = frozenset(b"abcdefghijklmnopqrstuvwxyz")
_UPPER = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_CLASSES = {
    b"alnum": _DIGITS | _LOWER | _UPPER,
    b"alpha": _LOWER | _UPPER,
    b"blank": frozenset(b" \t"),
    b"cntrl": frozenset((*range(32), 127)),
    b"digit": _DIGITS,
    b"graph": _PRINTED,
    b"lower": _LOWER,
    b"print": _PRINTED | {32},
    b"punct": _PRINTED - _DIGITS - _LOWER - _UPPER,
    b"space": frozenset(b" \t\n\r\v\f"),
    b"upper": _UPPER,
    b"xdigit": _DIGITS | frozenset(b"abcdefABCDEF"),
}


@dataclass(frozen=True)
class _Pattern:
    """One line. `prefix` are the bytes before the first wildcard, `items` what follows."""

    negated: bool
    only_directories: bool
    only_name: bool
    prefix: bytes
    items: Sequence[_Item]

    def matches(self, path: bytes, is_directory: bool) -> bool:
        """Return whether it matches; `path` is relative to the file's directory."""
        if self.only_directories and not is_directory:
            return False
        text = path.rpartition(b"/")[2] if self.only_name else path
        return text.startswith(self.prefix) and _matches(self.items, text[len(self.prefix) :])


class IgnoreFile:
    """The patterns of one file, for paths relative to its directory."""

    def __init__(self, text: bytes) -> None:
        lines = text.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        patterns = (_pattern(line[:-1] if line.endswith(b"\r") else line) for line in lines)
        # The last pattern that matches counts.
        self._patterns = [pattern for pattern in patterns if pattern is not None][::-1]

    def verdict(self, path: bytes, is_directory: bool) -> bool | None:
        """Return whether the path is ignored; None if no pattern matches."""
        for pattern in self._patterns:
            if pattern.matches(path, is_directory):
                return not pattern.negated
        return None


def is_ignored(files: Iterable[tuple[bytes, IgnoreFile]], path: bytes, is_directory: bool) -> bool:
    """Return whether a path is ignored whose directories aren't.

    `files` are those of the directories above it, outermost first, each with its directory's path
    (empty, or with a slash at the end). The innermost one with a pattern that matches counts.
    """
    ignored = False
    for base, file in files:
        verdict = file.verdict(path[len(base) :], is_directory)
        if verdict is not None:
            ignored = verdict
    return ignored


def _pattern(line: bytes) -> _Pattern | None:
    if line.startswith(b"#"):
        return None
    line = _without_spaces(line)
    negated = line.startswith(b"!")
    if negated:
        line = line[1:]
    only_directories = line.endswith(b"/")
    if only_directories:
        line = line[:-1]
    if not line:
        return None
    only_name = b"/" not in line
    if line.startswith(b"/"):
        line = line[1:]
    first = next((index for index, byte in enumerate(line) if byte in _SPECIAL), len(line))
    items = _items(line[first:], paths=not only_name)
    return _Pattern(negated, only_directories, only_name, line[:first], items)


def _without_spaces(line: bytes) -> bytes:
    """Remove spaces at the end that have no backslash before them."""
    end = index = 0
    while index < len(line):
        if line[index : index + 1] == b"\\":
            index += 1
            end = index + 1
        elif line[index : index + 1] != b" ":
            end = index + 1
        index += 1
    return line[:end]


def _items(text: bytes, paths: bool) -> list[_Item]:
    """Return the items of a pattern; without `paths`, what is matched has no slashes."""
    items: list[_Item] = []
    index = 0
    while index < len(text):
        byte = text[index]
        if byte == ord("\\"):
            if index + 1 == len(text):
                return [_NEVER]
            items.append(frozenset(text[index + 1 : index + 2]))
            index += 2
        elif byte == ord("?"):
            items.append(_NO_SLASH)
            index += 1
        elif byte == ord("*"):
            end = index
            while text[end : end + 1] == b"*":
                end += 1
            rest = text[end:]
            begins = index == 0 or text[index - 1] == _SLASH
            whole = begins and (not rest or rest.startswith((b"/", b"\\/")))
            if not paths or end - index == 1 or not whole:
                items.append(_STAR)
            elif rest.startswith(b"/"):
                items += [_DIRECTORIES, _WITHIN]
                end += 1
            else:
                items.append(_ANY)
            index = end
        elif byte == ord("["):
            found = _bracket(text, index + 1)
            if found is None:
                return [_NEVER]
            allowed, index = found
            items.append(allowed - {_SLASH})
        else:
            items.append(frozenset((byte,)))
            index += 1
    return items


def _bracket(text: bytes, index: int) -> tuple[frozenset[int], int] | None:
    """Return the bytes of `[…]`, and the index after it; None if Git never matches it."""
    negated = text[index : index + 1] in (b"!", b"^")
    if negated:
        index += 1
    allowed: set[int] = set()
    before = 0
    is_first = True
    while is_first or text[index : index + 1] != b"]":
        is_first = False
        if index >= len(text):
            return None
        byte = text[index]
        following = text[index + 1 : index + 2]
        if byte == ord("\\"):
            index += 1
            if index >= len(text):
                return None
            byte = text[index]
            allowed.add(byte)
        elif byte == ord("-") and before and following and following != b"]":
            index += 1
            if following == b"\\":
                index += 1
                if index >= len(text):
                    return None
            allowed.update(range(before, text[index] + 1))
            byte = 0
        elif byte == ord("[") and following == b":":
            end = text.find(b"]", index + 2)
            if end < 0:
                return None
            if end == index + 2 or text[end - 1] != ord(":"):
                allowed.add(byte)
            else:
                named = _CLASSES.get(text[index + 2 : end - 1])
                if named is None:
                    return None
                allowed |= named
                index = end
                byte = 0
        else:
            allowed.add(byte)
        before = byte
        index += 1
    return (_ALL - allowed if negated else frozenset(allowed)), index + 1


def _matches(items: Sequence[_Item], text: bytes) -> bool:
    """Return whether the items match all of the text."""
    places = _with_skipped(items, {0})
    for byte in text:
        reached: set[int] = set()
        for place in places:
            item = items[place] if place < len(items) else _NEVER
            if isinstance(item, frozenset):
                if byte in item:
                    reached.add(place + 1)
            elif item in (_ANY, _WITHIN) or (item == _STAR and byte != _SLASH):
                reached.add(place)
                if item == _WITHIN and byte == _SLASH:
                    reached.add(place + 1)
        places = _with_skipped(items, reached)
        if not places:
            return False
    return len(items) in places


def _with_skipped(items: Sequence[_Item], places: set[int]) -> set[int]:
    """Add the places that are reached without a byte."""
    pending = list(places)
    while pending:
        place = pending.pop()
        item = items[place] if place < len(items) else _NEVER
        if item in (_STAR, _ANY):
            following = [place + 1]
        elif item == _DIRECTORIES:
            following = [place + 1, place + 2]
        else:
            continue
        for each in following:
            if each not in places:
                places.add(each)
                pending.append(each)
    return places
