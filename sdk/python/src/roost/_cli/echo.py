"""Printing: a script's output can't control the terminal."""

from __future__ import annotations

import re
import sys

import click

__all__ = ["echo", "plain", "safe"]

# SGR sequences (colours) stay; other control characters but tab and newline are replaced.
_COLOUR = re.compile(r"\x1b\[[0-9;:]*m")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_RESET = "\x1b[0m"
_DELETE = 0x7F


def echo(text: str = "", *, err: bool = False, nl: bool = True, color: bool | None = None) -> None:
    """Print text; in a terminal without control characters."""
    stream = sys.stderr if err else sys.stdout
    click.echo(safe(text) if stream.isatty() else text, err=err, nl=nl, color=color)


def safe(text: str) -> str:
    """Return text without control characters, except colours, which are reset at the end."""
    # `\r\n` ends lines on other systems; a lone `\r` would overwrite the line.
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
    """Return text with all control characters, also those of colours, replaced by symbols."""
    return _CONTROL.sub(_picture, text)


def _picture(found: re.Match[str]) -> str:
    code = ord(found[0])
    if code < 0x20:
        return chr(0x2400 + code)  # the control pictures of Unicode, such as ␛
    return "\u2421" if code == _DELETE else "\ufffd"
