"""Profiles: servers and their API keys, in `~/.config/roost/config.toml`.

::

    [profiles.default]
    url = "https://roost.example.org"
    api_key = "roost_…"

`ROOST_PROFILE` selects one; the default is "default". `XDG_CONFIG_HOME` is respected.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

__all__ = ["Profile", "chosen", "config_path", "load", "remove", "save"]

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_HEADER = re.compile(r"\s*\[")


@dataclass(frozen=True)
class Profile:
    """A server and its key; either may be missing."""

    name: str
    url: str | None
    api_key: str | None = field(repr=False)


def config_path() -> Path:
    """Return the path of the profiles, which may not exist."""
    home = os.environ.get("XDG_CONFIG_HOME")
    # The XDG specification requires relative paths to be ignored.
    root = Path(home) if home and Path(home).is_absolute() else Path("~/.config").expanduser()
    return root / "roost" / "config.toml"


def load() -> dict[str, Profile]:
    """Return all profiles by name; none without a file.

    Raises `ValueError`, which names the file, if it is invalid.
    """
    path = config_path()
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} can't be read: {error}") from None
    return _profiles(text, path)


def chosen() -> Profile | None:
    """Return the profile named by `ROOST_PROFILE`, or "default" if it exists.

    Raises `ValueError` if the profile of `ROOST_PROFILE` doesn't exist.
    """
    name = os.environ.get("ROOST_PROFILE")
    profiles = load()
    if not name:
        return profiles.get("default")
    if name not in profiles:
        known = ", ".join(sorted(profiles)) or "none"
        raise ValueError(
            f"ROOST_PROFILE is {name!r}, but {config_path()} has no profile of that name "
            f"(it has: {known})"
        )
    return profiles[name]


def save(name: str, url: str, api_key: str) -> Path:
    """Add or replace a profile and return the file, which only the user can read.

    The rest of the file is unchanged, including comments.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"a profile's name may have letters, digits, - and _ only, not {name!r}")
    before = _without(_text(), name)
    gap = "\n" if before else ""
    section = f"[profiles.{name}]\nurl = {_quoted(url)}\napi_key = {_quoted(api_key)}\n"
    return _write(f"{before}{gap}{section}", name, present=True)


def remove(name: str) -> bool:
    """Remove a profile; return whether it existed."""
    if name not in load():
        return False
    _write(_without(_text(), name), name, present=False)
    return True


def _profiles(text: str, path: Path) -> dict[str, Profile]:
    try:
        tables = _parse(text).get("profiles", {})
    except ValueError as error:
        raise ValueError(f"{path} is not valid TOML: {error}") from None
    if not isinstance(tables, dict):
        raise ValueError(f"{path}: profiles must be tables, such as [profiles.default]")
    named = cast("dict[str, Any]", tables)
    return {name: _profile(name, table, path) for name, table in named.items()}


def _profile(name: str, table: Any, path: Path) -> Profile:
    values: dict[str, str | None] = {}
    for key in ("url", "api_key"):
        value: Any = cast("dict[str, Any]", table).get(key) if isinstance(table, dict) else table
        if value is not None and not isinstance(value, str):
            raise ValueError(f"{path}: profiles.{name}.{key} must be a string")
        values[key] = value
    return Profile(name, values["url"], values["api_key"])


def _parse(text: str) -> Mapping[str, Any]:
    # Imported here, since most users have no such file.
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    return tomllib.loads(text)


def _text() -> str:
    try:
        return config_path().read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


def _without(text: str, name: str) -> str:
    """Return the text without the section of that profile."""
    header = re.compile(rf"\s*\[\s*profiles\s*\.\s*[\"']?{re.escape(name)}[\"']?\s*\]")
    kept: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if _HEADER.match(line):
            inside = header.match(line) is not None
        if not inside:
            kept.append(line)
    rest = "".join(kept).rstrip()
    return f"{rest}\n" if rest else ""


def _write(text: str, name: str, *, present: bool) -> Path:
    path = config_path()
    if (name in _profiles(text, path)) is not present:
        raise ValueError(
            f"{path} has the profile {name!r} in a form that can't be edited automatically"
        )
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    # Atomically replaced by a new file with mode 0600.
    import tempfile

    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".config-", suffix=".toml")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink()
        raise
    return path


def _quoted(text: str) -> str:
    # A JSON string is a TOML string, except for the control character that JSON doesn't escape.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
