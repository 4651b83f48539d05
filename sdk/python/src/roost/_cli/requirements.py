"""Checks of requirements, `name==version`, before the server's."""

from __future__ import annotations

import re

__all__ = ["mistake_in", "requirement_lines"]

_REQUIREMENT = re.compile(
    r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[[^\]]*\])?\s*"
    r"(?P<operator>===|==|~=|!=|<=|>=|<|>|@)?\s*(?P<version>[^;]*?)\s*(?:;.*)?"
)
_VERSION = re.compile(r"[0-9][A-Za-z0-9.!+_-]*")


def requirement_lines(text: str) -> list[tuple[int, str]]:
    """Return the requirements of a text with their line numbers, without comments."""
    lines = ((number, _without_comment(line)) for number, line in enumerate(text.splitlines(), 1))
    return [(number, line) for number, line in lines if line]


def mistake_in(requirement: str) -> str | None:
    """Return an error with advice, or None. The server checks more strictly."""
    quoted = f'"{requirement}"'
    if requirement.startswith("-"):
        return f"{quoted} is an option of pip. Write one package per line, name==version."
    if "://" in requirement or requirement.startswith("git+"):
        return f"{quoted} is a URL. Write a package from the package index, name==version."
    if requirement.startswith((".", "/", "~")) or requirement.endswith((".whl", ".tar.gz")):
        return f"{quoted} is a path. Write a package from the package index, name==version."
    match = _REQUIREMENT.fullmatch(requirement)
    if match is None or (match["operator"] is None and match["version"]):
        return f"{quoted} is not a requirement. Write name==version."
    name, operator, version = match["name"], match["operator"], match["version"]
    if operator is None and name.lower() == "roost":
        return None  # provided by the server
    if operator is None:
        return f"{quoted} has no version. Write {name}==<version>."
    if operator == "@":
        return f"{quoted} points to a URL or path. Write {name}==<version>."
    if operator != "==" or "," in version or "*" in version:
        bound = version if _VERSION.fullmatch(version) else "<version>"
        return f"{quoted} allows several versions. Pin one, for example {name}=={bound}."
    if not _VERSION.fullmatch(version):
        return f'"{version}" is not a version. Write {name}==1.2.3, say.'
    return None


def _without_comment(line: str) -> str:
    return re.sub(r"(^|\s)#.*", "", line).strip()
