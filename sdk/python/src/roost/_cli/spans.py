"""Times and durations as arguments."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Any

import click

__all__ = ["LATER", "SPAN", "TIME"]

_SPAN = re.compile(r"(\d+(?:\.\d+)?)\s*(s|min|m|h|d|w)?")
_SECONDS = {"s": 1, "min": 60, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def _seconds(text: str) -> float | None:
    match = _SPAN.fullmatch(text.strip())
    return None if match is None else float(match[1]) * _SECONDS[match[2] or "s"]


class _Time(click.ParamType):
    """A time or an age; local time without an offset."""

    name = "time"
    sign = -1

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "TIME|AGO"

    def convert(self, value: Any, param: Any, ctx: Any) -> datetime:
        if isinstance(value, datetime):
            return value
        seconds = _seconds(value) if re.search(r"[a-z]$", value.strip()) else None
        if seconds is not None:
            return datetime.now(timezone.utc) + self.sign * timedelta(seconds=seconds)
        text = value.strip()
        if text.endswith(("Z", "z")):
            text = text[:-1] + "+00:00"
        try:
            return datetime.fromisoformat(text).astimezone()
        except ValueError:
            self.fail(
                f'"{value}" is neither a time (2026-12-24T18:00) nor an age (24h)', param, ctx
            )


class _Span(click.ParamType):
    """A duration in seconds, or with a unit: 90, 90s, 5min, 2h, 7d."""

    name = "span"

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "DURATION"

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        if isinstance(value, (int, float)):
            return float(value)
        seconds = _seconds(value)
        if seconds is None:
            self.fail(f'"{value}" is not a duration, such as 90, 90s, 5min, 2h or 7d', param, ctx)
        return seconds


class _Later(_Time):
    """A time or a delay from now."""

    sign = 1

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return "TIME|DELAY"


TIME = _Time()
LATER = _Later()
SPAN = _Span()
