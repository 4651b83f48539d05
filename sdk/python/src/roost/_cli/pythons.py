"""Python versions that a `requires-python` allows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import zip_longest

__all__ = ["allows", "is_specifier"]

_CLAUSE = re.compile(
    r"\s*(?P<operator>===|==|~=|!=|<=|>=|<|>)\s*(?P<version>\d+(?:\.\d+)*)(?P<any>\.\*)?\s*"
)
_PATCHES = range(100)  # of one minor version; at most about 20 exist


def is_specifier(text: str) -> bool:
    """Return whether the text is a specifier, such as `>=3.11` or `>=3.9,<3.13`."""
    return all(_CLAUSE.fullmatch(clause) for clause in text.split(","))


def allows(requires_python: str, version: str) -> bool:
    """Return whether a minor version such as "3.13" has a release that the specifier allows."""
    clauses = [_CLAUSE.fullmatch(clause) for clause in requires_python.split(",")]
    minor = tuple(int(part) for part in version.split(".")[:2])
    return any(
        all(match is not None and _holds(match, (*minor, patch)) for match in clauses)
        for patch in _PATCHES
    )


def _holds(clause: re.Match[str], release: Sequence[int]) -> bool:
    wanted = [int(part) for part in clause["version"].split(".")]
    operator = clause["operator"]
    if operator == "~=":
        prefix = len(wanted) - 1
        return _compare(release, wanted) >= 0 and list(release[:prefix]) == wanted[:prefix]
    if clause["any"]:
        same = list(release[: len(wanted)]) == wanted
        return same if operator == "==" else not same
    order = _compare(release, wanted)
    return {
        "===": order == 0,
        "==": order == 0,
        "!=": order != 0,
        "<=": order <= 0,
        ">=": order >= 0,
        "<": order < 0,
        ">": order > 0,
    }[operator]


def _compare(one: Sequence[int], other: Sequence[int]) -> int:
    for left, right in zip_longest(one, other, fillvalue=0):
        if left != right:
            return -1 if left < right else 1
    return 0
