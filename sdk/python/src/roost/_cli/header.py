"""A script's inline metadata: the PEP 723 block at its top."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from typing import Any

from .mistakes import Mistakes

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["Header", "parse_toml", "read_header"]

_OPENING = re.compile(r"# /// (?P<type>[a-zA-Z0-9-]+)\s*")


@dataclass(frozen=True)
class Header:
    """The block's TOML as text, the line of the script on which it begins, and its values."""

    text: str
    first_line: int
    values: dict[str, Any]


def read_header(script: str, mistakes: Mistakes) -> Header | None:
    """Return the script's `# /// script` block, or None if it is absent or invalid."""
    lines = script.splitlines()
    found: Header | None = None
    number = 0
    while number < len(lines):
        opening = _OPENING.fullmatch(lines[number])
        number += 1
        if opening is None:
            continue
        end = _end(lines, number)
        if end is None:
            if opening["type"] == "script":
                mistakes.add(number, "the block `# /// script` is not closed; end it with `# ///`")
            continue
        if opening["type"] == "script":
            if found is not None:
                mistakes.add(number, "there is a second block `# /// script`; keep one of them")
                return found
            text = "\n".join(line[2:] for line in lines[number:end])
            values = parse_toml(text, mistakes.offset_by(number))
            found = Header(text, number + 1, {} if values is None else values)
        number = end + 1
    return found


def parse_toml(text: str, mistakes: Mistakes) -> dict[str, Any] | None:
    """Return the values of a TOML text; None if it is invalid, which adds a mistake."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        where = re.search(r" \(at line (\d+), column \d+\)$", str(error))
        line = int(where[1]) if where else len(text.splitlines())
        mistakes.add(line, f"not TOML: {re.sub(r' [(]at .*[)]$', '', str(error))}")
        return None


def _end(lines: list[str], start: int) -> int | None:
    """Return the number of the line that closes a block: the last `# ///` of its comment lines."""
    end = None
    for number in range(start, len(lines)):
        line = lines[number]
        if line != "#" and not line.startswith("# "):
            break
        if line.rstrip() == "# ///":
            end = number
            break
    return end
