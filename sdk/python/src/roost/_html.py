"""HTML for notebooks. All text is escaped, since scripts wrote much of it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

__all__ = ["pre", "table"]

_MAX_TEXT_CHARACTERS = 2000


def table(title: str, rows: Iterable[tuple[str, Any]]) -> str:
    """Return a small table with a row for each pair."""
    body = "".join(
        f'<tr><th style="text-align:left">{_escaped(name)}</th>'
        f'<td style="text-align:left">{_cell(value)}</td></tr>'
        for name, value in rows
    )
    return f"<table><caption>{_escaped(title)}</caption>{body}</table>"


def pre(text: str) -> str:
    """Return preformatted text."""
    return f'<pre style="margin:0">{_escaped(text)}</pre>'


def _escaped(text: str) -> str:
    import html  # with its table of entities, which only notebooks need

    return html.escape(text)


def _cell(value: Any) -> str:
    if isinstance(value, datetime):
        return _escaped(value.isoformat(sep=" ", timespec="seconds"))
    text = str(value)
    if len(text) > _MAX_TEXT_CHARACTERS:
        text = text[:_MAX_TEXT_CHARACTERS] + "…"
    return pre(text) if "\n" in text else _escaped(text)
