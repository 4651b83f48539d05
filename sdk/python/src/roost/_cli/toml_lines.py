"""Line numbers of values in a TOML text, which TOML parsers don't provide."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["line_of"]

_HEADER = re.compile(r"\s*\[\[?\s*(?P<keys>[^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_ASSIGNMENT = re.compile(r"""\s*(?P<keys>(?:"[^"]*"|'[^']*'|[\w.\s-])+?)\s*=""")
_KEY = re.compile(r""""([^"]*)"|'([^']*)'|([\w-]+)""")


def line_of(text: str, path: Sequence[str | int], containing: str = "") -> int:
    """Return the line, counted from 1, of the value under `path`; the first line if none.

    Numbers in `path` are indices of lists. Within another value, such as a list over several
    lines, it is the first line that contains `containing`.
    """
    best, depth = 1, 0
    table: tuple[str | int, ...] = ()
    counts: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line)
        assignment = None if header else _ASSIGNMENT.match(line)
        if header:
            table = names = _keys(header["keys"])
            if line.lstrip().startswith("[["):
                counts[names] = counts.get(names, -1) + 1
                table = (*names, counts[names])
            here: tuple[str | int, ...] = table
        elif assignment:
            here = (*table, *_keys(assignment["keys"]))
        else:
            continue
        shared = _shared(here, path)
        if shared > depth and (shared == len(here) or assignment is None):
            best, depth = number, shared
    following = enumerate(text.splitlines()[best - 1 :], best)
    return next((number for number, line in following if containing in line), best)


def _keys(text: str) -> tuple[str, ...]:
    return tuple(match[1] or match[2] or match[3] for match in _KEY.finditer(text))


def _shared(here: Sequence[str | int], path: Sequence[str | int]) -> int:
    count = 0
    for one, other in zip(here, path):
        if one != other:
            break
        count += 1
    return count
