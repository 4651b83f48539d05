"""Lists: their items, their pages, and what they say of themselves."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from support import Server, agent, execution

import roost


def three(server: Server) -> None:
    """Lists of two pages."""
    first = {"data": [agent(name="a"), agent(name="b")], "next_cursor": "after-b"}
    last = {"data": [agent(name="c")], "next_cursor": None}
    server.on("GET", "/agents", first, last)


def test_a_list_is_an_iterator_over_the_items_of_all_pages(server: Server) -> None:
    three(server)
    agents = server.client.agents.list()
    assert next(agents).name == "a"
    assert [each.name for each in agents] == ["b", "c"]
    assert list(agents) == []


def test_pages_show_where_the_next_one_begins(server: Server) -> None:
    three(server)
    first, last = server.client.agents.list(q="x").pages()
    assert [each.name for each in first] == ["a", "b"]
    assert (len(first), first.next_cursor) == (2, "after-b")
    assert (len(last), last.next_cursor) == (1, None)
    assert [dict(each.url.params) for each in server.sent("GET", "/agents")] == [
        {"q": "x"},
        {"q": "x", "cursor": "after-b"},
    ]


def test_pages_begin_where_another_has_ended(server: Server) -> None:
    server.on("GET", "/agents", {"data": [agent(name="c")], "next_cursor": None})
    (page,) = server.client.agents.list(limit=2).pages(cursor="after-b")
    assert [each.name for each in page] == ["c"]
    assert dict(server.sent("GET", "/agents")[0].url.params) == {"limit": "2", "cursor": "after-b"}


def test_an_empty_page_may_have_others_after_it(server: Server) -> None:
    empty = {"data": [], "next_cursor": "further"}
    server.on("GET", "/executions", empty, {"data": [execution()], "next_cursor": None})
    found = server.client.executions.list()
    assert [bool(page) for page in found.pages()] == [True, True]


def test_a_limit_is_for_all_pages_together(server: Server) -> None:
    three(server)
    pages = list(server.client.agents.list(limit=2).pages())
    assert [len(page) for page in pages] == [2]
    assert pages[0].next_cursor == "after-b"


def test_a_list_says_what_it_is_of(server: Server) -> None:
    found = server.client.executions.list(agent_id="agent_1", state=["failed", "lost"], limit=5)
    assert repr(found) == (
        "<roost.Paged of /v1/executions?agent_id=agent_1&state=failed,lost&limit=5: "
        "iterate over it, or its pages()>"
    )
    assert server.requests == []
    page = roost.Page([1, 2], None)
    assert repr(page) == "Page(items=[1, 2], next_cursor=None)"


def test_a_state_that_a_newer_server_has_is_the_text_that_it_is(server: Server) -> None:
    newer: Any = "hibernating"
    assert newer not in get_args(roost.ExecutionState)
    data = {"data": [execution(state=newer)], "next_cursor": None}
    server.on("GET", "/executions", data)
    (found,) = server.client.executions.list(state=newer)
    assert found.state == newer
    assert server.sent("GET", "/executions")[0].url.params["state"] == newer


@pytest.mark.parametrize("name", ["ExecutorJobState", "WebhookState", "WaitingOn"])
def test_states_have_names(name: str) -> None:
    assert all(isinstance(state, str) for state in get_args(getattr(roost, name)))
