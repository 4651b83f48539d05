"""The log of events, read and followed."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from itertools import islice
from typing import Any

import httpx
import pytest
from support import TIME, Server, problem, stream

import roost
from roost._sse import Parser

EVENTS = "/events"
HERE = ":still here\nid:4\n\n"


def data(position: int, **fields: Any) -> dict[str, Any]:
    return {
        "id": str(position),
        "type": "execution.succeeded",
        "subject": f"exec_{position}",
        "agent_id": "agent_1",
        "time": TIME,
        "data": {"id": f"exec_{position}", "attempt": 1},
        **fields,
    }


def event(position: int) -> str:
    return f"id: {position}\nevent: execution.succeeded\ndata: {json.dumps(data(position))}\n\n"


def last_ids(server: Server) -> list[Any]:
    return [request.headers.get("Last-Event-ID") for request in server.requests]


def test_an_event_has_its_fields(server: Server) -> None:
    server.on("GET", EVENTS, stream(event(5)))
    events = server.client.events(after="4")
    found = next(events)
    assert (found.id, found.type, found.subject) == ("5", "execution.succeeded", "exec_5")
    assert found.agent_id == "agent_1"
    assert found.time == datetime(2026, 11, 2, 9, 0, 0, 1, tzinfo=timezone.utc)
    assert found.data == {"id": "exec_5", "attempt": 1}
    events.close()


def test_filters_are_sent(server: Server) -> None:
    server.on("GET", EVENTS, stream(event(5)), stream(event(5)))
    types = ["execution.*", "webhook.test"]
    next(server.client.events(types=types, agent_id="agent_1", subject="exec_5", after=4))
    next(roost.events(types="execution.failed", after=4, client=server.client))
    first, second = server.requests
    assert dict(first.url.params) == {
        "types": "execution.*,webhook.test",
        "agent_id": "agent_1",
        "subject": "exec_5",
    }
    assert dict(second.url.params) == {"types": "execution.failed"}
    assert first.headers["Accept"] == "text/event-stream"


def test_now_is_when_it_is_called(server: Server) -> None:
    server.on("GET", EVENTS, stream(HERE), stream(event(5)))
    events = server.client.events()
    assert last_ids(server) == [None]
    assert next(events).id == "5"
    assert last_ids(server) == [None, "4"]


def test_it_continues_where_it_was_cut_off(server: Server) -> None:
    server.on(
        "GET",
        EVENTS,
        stream(event(1), event(2), event(3)[:40], httpx.ReadError("reset")),
        httpx.ConnectError("refused"),
        problem(503, "unavailable", headers={"Retry-After": "2"}),
        stream(event(3)),  # the server ends it
        stream(event(2), event(3), event(4)),  # repeats what was seen
    )
    events = server.client.events(after=0)
    assert [found.id for found in islice(events, 4)] == ["1", "2", "3", "4"]
    assert last_ids(server) == ["0", "2", "2", "2", "3"]
    assert server.clock.slept == [0.5, 1.0, 4.0, 0.5]


def test_too_many_streams_are_waited_for(server: Server) -> None:
    busy = problem(429, "rate_limited", headers={"Retry-After": "5"})
    server.on("GET", EVENTS, busy, stream(event(1)), busy, stream(event(2)))
    events = server.client.events(after=0)
    assert [found.id for found in islice(events, 2)] == ["1", "2"]
    assert server.clock.slept == [5.5, 0.5, 6.0]


def test_an_event_that_is_cut_off_after_its_id_is_not_skipped(server: Server) -> None:
    server.on("GET", EVENTS, stream("id: 5\n", httpx.ReadError("reset")), stream(event(5)))
    assert next(server.client.events(after=4)).id == "5"
    assert last_ids(server) == ["4", "4"]


def test_what_the_filter_leaves_out_moves_it_on(server: Server) -> None:
    server.on("GET", EVENTS, stream(":still here\nid: 90\n\n"), stream(event(95)))
    assert next(server.client.events(types="execution.*", after=4)).id == "95"
    assert last_ids(server) == ["4", "90"]


def test_many_events_in_one_piece_come_one_by_one(server: Server) -> None:
    server.on("GET", EVENTS, stream(event(1) + event(2) + event(3)))
    assert [found.id for found in islice(server.client.events(after=0), 3)] == ["1", "2", "3"]


def test_what_is_not_kept_any_more_is_gone(server: Server) -> None:
    server.on("GET", EVENTS, problem(410, "gone", "Events up to 9 are removed."))
    with pytest.raises(roost.Gone, match="up to 9") as raised:
        next(server.client.events(after=4))
    assert raised.value.status == 410
    assert len(server.requests) == 1


def test_a_server_that_stays_away_is_an_error_that_explains_how_to_continue(server: Server) -> None:
    server.on("GET", EVENTS, stream(event(7)), httpx.ConnectError("refused"))
    events = server.client.events(after=4)
    assert next(events).id == "7"
    with pytest.raises(roost.APIConnectionError, match='after="7"'):
        next(events)
    assert 120 <= sum(server.clock.slept) < 240


def test_a_server_that_was_never_there_is_an_error_soon(server: Server) -> None:
    server.on("GET", EVENTS, httpx.ConnectError("refused"))
    for start in (lambda: server.client.events(), lambda: next(server.client.events(after=4))):
        server.clock.slept.clear()
        with pytest.raises(roost.APIConnectionError):
            start()
        assert sum(server.clock.slept) < 30


def test_a_wrong_type_is_an_error_at_once(server: Server) -> None:
    server.on("GET", EVENTS, problem(422, "validation_failed", "Did you mean execution.failed?"))
    with pytest.raises(roost.ValidationError, match="Did you mean"):
        server.client.events(types="execution.fialed")
    assert len(server.requests) == 1


def test_those_that_are_kept_come_page_by_page(server: Server) -> None:
    full = {"data": [data(n) for n in (3, 4)], "next_cursor": "4"}
    server.on("GET", EVENTS, full, {"data": [data(9)]}, {"data": []})
    assert [found.id for found in server.client.events(follow=False)] == ["3", "4", "9"]
    assert [request.url.params["after"] for request in server.requests] == ["0", "4", "9"]
    assert server.requests[0].headers["Accept"] == "application/json"


def test_an_id_counts_when_its_event_is_complete() -> None:
    parser = Parser()
    assert parser.feed(b"id: 7\ndata: x\n") == []
    assert parser.last_id is None
    assert [found.id for found in parser.feed(b"\n:here\nid: 9\n\nid: 10")] == ["7"]
    assert parser.last_id == "9"
