from __future__ import annotations

import asyncio
from datetime import datetime, timezone
from typing import Any

from support import Server, search_match, search_page

import roost
import roost.aio

MOMENT = datetime(2026, 11, 2, 9, 0, 0, 1, tzinfo=timezone.utc)


def test_matches_are_read_page_by_page(server: Server) -> None:
    server.on(
        "GET",
        "/search",
        search_page(search_match(seq=3), next_cursor="search_1-1-1", timed_out=True),
        search_page(search_match(seq=2)),
    )
    found = list(
        roost.search(
            '"connection reset"',
            kinds=["logs", "errors"],
            level="ERROR",
            agent="billing",
            since=MOMENT,
            client=server.client,
        )
    )
    assert [match.seq for match in found] == [3, 2]
    match = found[0]
    assert str(match) == "the connection reset"
    assert match.fragments[1] == roost.SearchFragment("connection", True)
    assert match.before == (roost.SearchLine(2, MOMENT, "stdout", None, "before"),)
    assert (match.kind, match.time, match.path) == ("logs", MOMENT, "/executions/exec_1?line=3")
    first, second = (request.url.params for request in server.requests)
    assert (first["q"], first["in"], first["level"]) == (
        '"connection reset"',
        "logs,errors",
        "ERROR",
    )
    assert (first["agent"], first["since"]) == ("billing", "2026-11-02T09:00:00.000001+00:00")
    assert second["cursor"] == "search_1-1-1"


def test_a_page_says_what_it_lacks(server: Server) -> None:
    page = search_page(
        next_cursor="search_m1-1-1", timed_out=True, indexed_from="2026-11-02T09:00:00.000001Z"
    )
    server.on("GET", "/search", page)
    found = server.client.search_page("x", limit=7, cursor="search_2-0-3")
    assert (found.items, found.next_cursor, found.timed_out) == ([], "search_m1-1-1", True)
    assert found.indexed_from == MOMENT
    params = server.requests[0].url.params
    assert (params["limit"], params["cursor"]) == ("7", "search_2-0-3")


def test_the_same_for_asyncio() -> None:
    assert roost.aio.SearchMatch is roost.SearchMatch
    assert asyncio.iscoroutinefunction(roost.aio.Client.search_page)
    data: dict[str, Any] = search_match(seq=None, level=None, stream=None)
    assert roost.SearchMatch.of({**data, "in": "errors"}).kind == "errors"
