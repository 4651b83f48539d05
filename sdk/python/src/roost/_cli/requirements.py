"""Checks of requirements, before the server's."""

from __future__ import annotations

import re

__all__ = ["is_pinned", "mistake_in", "requirement_lines"]

_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*"
    r"(?P<operator>===|==|~=|!=|<=|>=|<|>|@)?\s*(?P<version>[^;]*?)\s*(?:;.*)?"
)
_VERSION = re.compile(r"[0-9][A-Za-z0-9.!+_-]*")
_SPECIFIER = re.compile(r"(?:===|==|~=|!=|<=|>=|<|>)\s*[0-9][A-Za-z0-9.!+_*-]*")


def requirement_lines(text: str) -> list[tuple[int, str]]:
    """Return the requirements of a text with their line numbers, without comments."""
    lines = ((number, _without_comment(line)) for number, line in enumerate(text.splitlines(), 1))
    return [(number, line) for number, line in lines if line]


def mistake_in(requirement: str) -> str | None:
    """Return an error with advice, or None. The server checks more strictly."""
    quoted = f'"{requirement}"'
    if requirement.startswith("-"):
        return f"{quoted} is an option of pip. Write one package per line."
    if "://" in requirement or requirement.startswith("git+"):
        return f"{quoted} is a URL. Write a package from the package index."
    if requirement.startswith((".", "/", "~")) or requirement.endswith((".whl", ".tar.gz")):
        return f"{quoted} is a path. Write a package from the package index."
    match = _REQUIREMENT.fullmatch(requirement)
    if match is None or (match["operator"] is None and match["version"]):
        return f"{quoted} is not a requirement. Write one such as name==1.2.3 or name>=1.2."
    name, operator, version = match["name"], match["operator"], match["version"]
    if operator == "@":
        return f"{quoted} points to a URL or path. Write a version, such as {name}>=1.2."
    if operator is None:
        return None
    for specifier in f"{operator}{version}".split(","):
        if not _SPECIFIER.fullmatch(specifier.strip()):
            return f'"{specifier.strip()}" is not a version. Write {name}==1.2.3, say.'
    return None


def is_pinned(requirement: str) -> bool:
    """Return whether a requirement without mistakes allows one version only."""
    match = _REQUIREMENT.fullmatch(requirement)
    if match is None:
        return False
    if match["operator"] is None:
        return match["name"].lower() == "roost"  # provided by the server
    return match["operator"] == "==" and _VERSION.fullmatch(match["version"]) is not None


def _without_comment(line: str) -> str:
    return re.sub(r"(^|\s)#.*", "", line).strip()
