from __future__ import annotations

import json
from typing import Any

from support import Server, agent, search_match, search_page


def test_matches_are_printed_by_execution(cli: Any, server: Server) -> None:
    other = search_match(execution_id="exec_2", seq=None, **{"in": "errors"})
    page = search_page(search_match(seq=7), search_match(seq=3), other)
    server.on("GET", "/search", page)
    done = cli("search", "connection", "reset", "-C", "1", client=server.client)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].startswith("exec_1  billing  ")
    assert lines[1:4] == ["     2- before", "     7: the connection reset", "     4- after"]
    assert sum(line.startswith("exec_1") for line in lines) == 1
    assert any(line.startswith("exec_2") for line in lines)
    assert " error: the connection reset" in done.out
    params = server.requests[0].url.params
    assert (params["q"], params["context"], params["limit"]) == ("connection reset", "1", "50")


def test_filters_are_passed(cli: Any, server: Server) -> None:
    server.on("GET", "/agents", {"data": [agent()], "next_cursor": None})
    server.on("GET", "/search", search_page())
    options = ("--agent", "greeter", "--level", "error", "--in", "logs", "--since", "1d")
    done = cli("search", '"a b"', *options, client=server.client)
    assert done.code == 0
    assert "No results." in done.err
    params = server.sent("GET", "/search")[0].url.params
    assert (params["q"], params["agent_id"], params["level"]) == ('"a b"', "agent_1", "ERROR")
    assert params["in"] == "logs"
    assert "since" in params


def test_json_has_all_pages_up_to_the_limit(cli: Any, server: Server) -> None:
    first = search_page(search_match(seq=2), next_cursor="search_1-1-1")
    server.on("GET", "/search", first, search_page(search_match(seq=1)))
    done = cli("search", "reset", "--all", "--json", client=server.client)
    assert [match["seq"] for match in json.loads(done.out)] == [2, 1]


def test_what_is_missing_is_said(cli: Any, server: Server) -> None:
    page = search_page(
        search_match(seq=2),
        next_cursor="search_1-1-1",
        timed_out=True,
        indexed_from="2026-11-02T09:00:00.000001Z",
    )
    server.on("GET", "/search", page)
    done = cli("search", "reset", client=server.client)
    assert "ended early" in done.err
    assert "are not indexed yet" in done.err
