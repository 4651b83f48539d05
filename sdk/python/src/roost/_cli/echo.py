"""Printing for people: what scripts have written can't control their terminals."""

from __future__ import annotations

import re
import sys

import click

__all__ = ["echo", "plain", "safe"]

# Colours and their like (SGR) stay; every other control character but tab and newline is replaced.
_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_RESET = "\x1b[0m"
_DELETE = 0x7F


def echo(text: str = "", *, err: bool = False, nl: bool = True, color: bool | None = None) -> None:
    """Print text; in a terminal without control characters."""
    stream = sys.stderr if err else sys.stdout
    click.echo(safe(text) if stream.isatty() else text, err=err, nl=nl, color=color)


def safe(text: str) -> str:
    """Return text that does no more in a terminal than show itself, with colours that end."""
    # `\r\n` ends lines on other systems; another `\r` would write over what is there.
    text = text.replace("\r\n", "\n")
    pieces: list[str] = []
    end = 0
    for colour in _COLOUR.finditer(text):
        pieces += plain(text[end : colour.start()]), colour[0]
        end = colour.end()
    pieces.append(plain(text[end:]))
    if end and not text.endswith(_RESET):
        pieces.append(_RESET)
    return "".join(pieces)


def plain(text: str) -> str:
    """Return text with pictures instead of control characters, those of colours as well."""
    return _CONTROL.sub(_picture, text)


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)  # the control pictures of Unicode, such as ␛
    return "\u2421" if code == _DELETE else "\ufffd"
