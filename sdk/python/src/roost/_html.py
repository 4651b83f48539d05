"""What notebooks show of things. All of it is escaped: much of it was written by scripts."""

from __future__ import annotations

import html
from collections.abc import Iterable
from datetime import datetime
from typing import Any

__all__ = ["pre", "table"]

_TEXT_MOST_CHARACTERS = 2000


def table(title: str, rows: Iterable[tuple[str, Any]]) -> str:
    """Return a small table with a row for each pair."""
    body = "".join(
        f'<tr><th style="text-align:left">{html.escape(name)}</th>'
        f'<td style="text-align:left">{_cell(value)}</td></tr>'
        for name, value in rows
    )
    return f"<table><caption>{html.escape(title)}</caption>{body}</table>"


def pre(text: str) -> str:
    """Return text as it is, in lines."""
    return f'<pre style="margin:0">{html.escape(text)}</pre>'


def _cell(value: Any) -> str:
    if isinstance(value, datetime):
        return html.escape(value.isoformat(sep=" ", timespec="seconds"))
    text = str(value)
    if len(text) > _TEXT_MOST_CHARACTERS:
        text = text[:_TEXT_MOST_CHARACTERS] + "…"
    return pre(text) if "\n" in text else html.escape(text)
