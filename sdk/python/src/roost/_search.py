"""Results of the search."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from ._page import Page
from ._values import parse_time

__all__ = ["SearchFragment", "SearchLine", "SearchMatch", "SearchPage"]


@dataclass(frozen=True)
class SearchFragment:
    """A part of a text, and whether it is a match."""

    text: str
    match: bool


@dataclass(frozen=True)
class SearchLine:
    """A line of a log near a match; its text has up to 500 characters."""

    seq: int
    time: datetime
    stream: str
    level: str | None
    text: str

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> SearchLine:
        """Return the line that is `data` in the API."""
        time = parse_time(data["time"])
        return cls(data["seq"], time, data["stream"], data["level"], data["text"])


@dataclass(frozen=True)
class SearchMatch:
    """A line of a log, or an error, payload or return value, that matches a search.

    `kind` is "logs", "errors", "payloads" or "results". `seq`, `stream` and `level` are `None`
    unless it is a line of a log. `fragments` are the parts of the text, of a long one those around
    the first match; then `truncated` is true. `before` and `after` are the lines around it. `path`
    is the path of the dashboard's page with the line. `str()` is the text.
    """

    kind: str
    execution_id: str
    agent_id: str
    agent_name: str | None
    time: datetime
    seq: int | None
    stream: str | None
    level: str | None
    fragments: tuple[SearchFragment, ...]
    truncated: bool
    before: tuple[SearchLine, ...]
    after: tuple[SearchLine, ...]
    path: str

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> SearchMatch:
        """Return the match that is `data` in the API."""
        return cls(
            data["in"],
            data["execution_id"],
            data["agent_id"],
            data["agent_name"],
            parse_time(data["time"]),
            data["seq"],
            data["stream"],
            data["level"],
            tuple(SearchFragment(each["text"], each["match"]) for each in data["fragments"]),
            data["truncated"],
            tuple(SearchLine.of(each) for each in data["before"]),
            tuple(SearchLine.of(each) for each in data["after"]),
            data["path"],
        )

    @property
    def text(self) -> str:
        """The text, or its part around the first match."""
        return "".join(fragment.text for fragment in self.fragments)

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class SearchPage(Page[SearchMatch]):
    """One page of a search.

    `timed_out` is true if the search ended early; `next_cursor` continues it. Executions that
    ended before `indexed_from` are not found yet; `None` if the index is complete.
    """

    timed_out: bool
    indexed_from: datetime | None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> SearchPage:
        """Return the page that is `data` in the API."""
        indexed_from = data["indexed_from"]
        return cls(
            [SearchMatch.of(each) for each in data["data"]],
            data["next_cursor"],
            data["timed_out"],
            None if indexed_from is None else parse_time(indexed_from),
        )
