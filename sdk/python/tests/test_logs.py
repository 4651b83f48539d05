from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from support import Server, entry, execution, job, problem, stream

import roost
from roost._sse import Event, events

LOGS = "/executions/exec_1/logs"


def log(seq: int, message: str = "") -> str:
    data = json.dumps(entry(seq, message), ensure_ascii=False)
    return f"id: {seq}\nevent: log\ndata: {data}\n\n"


def end(**fields: Any) -> str:
    return f"event: end\ndata: {json.dumps(execution(**fields))}\n\n"


@pytest.fixture
def run(server: Server) -> roost.Execution:
    return roost.Execution(server.client, execution(state="running", finished_at=None))


def last_ids(server: Server) -> list[Any]:
    return [request.headers.get("Last-Event-ID") for request in server.requests]


def test_logs_are_read_page_by_page(server: Server, run: roost.Execution) -> None:
    first = {"data": [entry(1), entry(2, level="INFO", logger="app")], "next_cursor": "2"}
    server.on("GET", LOGS, first, {"data": [entry(3)], "next_cursor": None})
    entries = run.logs(level="INFO", contains="line")
    assert [each.seq for each in entries] == [1, 2, 3]
    assert (entries[1].level, entries[1].logger, str(entries[1])) == ("INFO", "app", "line 2")
    assert entries[0].time.utcoffset() is not None
    first_request, second = server.requests
    assert first_request.url.params["level"] == "INFO"
    assert second.url.params["cursor"] == "2"
    assert second.url.params["contains"] == "line"


def test_text_logs(server: Server, run: roost.Execution) -> None:
    server.on("GET", LOGS, httpx.Response(200, text="one\ntwo ü\n"))
    assert run.text_logs() == "one\ntwo ü\n"
    assert server.requests[0].headers["Accept"] == "text/plain"


def test_following_yields_entries_until_the_end(server: Server, run: roost.Execution) -> None:
    server.on("GET", LOGS, stream(": hello\n\n", log(1), log(2), end(return_value=7)))
    assert [str(each) for each in run.logs(follow=True)] == ["line 1", "line 2"]
    assert (run.state, run.return_value) == ("succeeded", 7)


def test_following_resumes_where_it_broke(server: Server, run: roost.Execution) -> None:
    server.on(
        "GET",
        LOGS,
        stream(log(1), log(2)[:-9], httpx.ReadError("reset")),
        httpx.ConnectError("refused"),
        problem(503, "unavailable", headers={"Retry-After": "2"}),
        stream(log(2), log(3)),  # ends without an end
        stream(log(3), log(4), end()),  # repeats what was seen
    )
    assert [each.seq for each in run.logs(follow=True)] == [1, 2, 3, 4]
    assert last_ids(server) == [None, "1", "1", "1", "3"]
    assert server.clock.slept == [0.5, 1.0, 4.0, 0.5]


def test_following_waits_while_there_are_too_many_streams(
    server: Server, run: roost.Execution
) -> None:
    busy = problem(429, "rate_limited", headers={"Retry-After": "5"})
    server.on("GET", LOGS, busy, stream(log(1)), busy, stream(log(2), end()))
    assert [each.seq for each in run.logs(follow=True)] == [1, 2]
    assert last_ids(server) == [None, None, "1", "1"]


def test_following_can_begin_later(server: Server, run: roost.Execution) -> None:
    server.on("GET", LOGS, stream(log(8), end()))
    assert [each.seq for each in run.logs(follow=True, after_seq=7)] == [8]
    assert last_ids(server) == ["7"]


def test_following_gives_up_when_nothing_comes(server: Server, run: roost.Execution) -> None:
    server.on("GET", LOGS, httpx.ConnectError("refused"))
    with pytest.raises(roost.APIConnectionError):
        list(run.logs(follow=True))
    assert len(server.requests) == 9


def test_following_what_is_not_there_is_an_error_at_once(
    server: Server, run: roost.Execution
) -> None:
    server.on("GET", LOGS, problem(404, "not_found", "no such execution"))
    with pytest.raises(roost.NotFound, match="no such execution"):
        next(run.logs(follow=True))
    assert len(server.requests) == 1


def test_a_job_is_followed_through_all_its_attempts(server: Server) -> None:
    waiting = job("queued")
    submitted = roost.ExecutorJob(server.client, waiting)
    one, two = execution(state="lost"), execution(id="exec_2", attempt=2)
    server.on("GET", "/executor-jobs/xjob_1", waiting, job("running"), job("running"), job())
    server.on(
        "GET",
        "/executions",
        {"data": [], "next_cursor": None},
        {"data": [], "next_cursor": None},
        {"data": [one], "next_cursor": None},
        {"data": [two, one], "next_cursor": None},
    )
    server.on("GET", LOGS, stream(log(1, "first"), end(state="lost")))
    server.on("GET", "/executions/exec_2/logs", stream(log(1, "second"), end()))
    assert [str(each) for each in submitted.logs(follow=True)] == ["first", "second"]
    assert submitted.state == "succeeded"
    assert server.sent("GET", "/executions")[0].url.params["executor_job_id"] == "xjob_1"


def test_a_build_is_followed_too(server: Server) -> None:
    build = roost.BuilderJob(server.client, {"id": "bjob_1", "state": "running"})
    ended = 'event: end\ndata: {"id": "bjob_1", "state": "succeeded"}\n\n'
    server.on("GET", "/builder-jobs/bjob_1/logs", stream(log(1), ended))
    assert [each.seq for each in build.logs(follow=True)] == [1]
    assert build.state == "succeeded"


def test_lines_end_where_the_standard_says() -> None:
    text = "event: a\r\ndata: x\u2028y\x85\x0bz\r\ndata:second\rid: 7\n\n: comment\n\ndata\n\nid: 8"
    expected = [Event("a", "x\u2028y\x85\x0bz\nsecond", "7"), Event("message", "", "7")]
    whole = text.encode()
    assert list(events([whole])) == expected
    assert list(events(whole[i : i + 1] for i in range(len(whole)))) == expected
