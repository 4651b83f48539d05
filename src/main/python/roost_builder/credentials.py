"""Finds the passwords of package indexes, and removes them from all that is printed."""

import contextlib
import netrc
import os
import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

CREDENTIALS = re.compile(r"://([^/@\s]+)@")
# Shorter strings are unlikely to be passwords, and would hide half of the output.
MIN_CHARACTERS = 5


def passwords(environment: Mapping[str, str]) -> list[str]:
    """The passwords in uv's variables and in the file that NETRC names, the longest first."""
    found = {value for key, value in environment.items() if re.fullmatch(r"UV_INDEX_\w+_PASSWORD", key)}
    for key, value in environment.items():
        if key.startswith("UV_"):
            for user in CREDENTIALS.findall(value):
                password = user.partition(":")[2] or user
                found |= {password, unquote(password)}
    with contextlib.suppress(OSError, netrc.NetrcParseError, UnicodeDecodeError):
        for _, _, password in netrc.netrc(environment.get("NETRC") or os.devnull).hosts.values():
            found.add(password or "")
    return sorted((each for each in found if len(each) >= MIN_CHARACTERS), key=len, reverse=True)


def hide(text: str, hidden: Iterable[str] = ()) -> str:
    """The text without these words, and without the user and password of any URL."""
    text = CREDENTIALS.sub("://***@", text)
    for word in hidden:
        text = text.replace(word, "***")
    return text
