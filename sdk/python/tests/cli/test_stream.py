from __future__ import annotations

import json
from typing import Any

import pytest
from support import Server, agent, execution, job, stream

STREAM = "/executor-jobs/xjob_1/stream"


def value(place: str, data: Any) -> str:
    return f"id: {place}\nevent: value\ndata: {json.dumps(data)}\n\n"


def end(**fields: Any) -> str:
    ended = execution(executor_job_id="xjob_1", **fields)
    data = job(id="xjob_1", state=ended["state"], execution=ended)
    return f"event: end\ndata: {json.dumps(data)}\n\n"


RESTART = 'event: restart\ndata: {"attempt": 2}\n\n'


def test_values_are_printed_line_by_line(cli: Any, server: Server) -> None:
    server.on("GET", "/executor-jobs/xjob_1", job(id="xjob_1"))
    server.on("GET", STREAM, stream(value("1-1", {"é": 1}), RESTART, value("2-1", None), end()))
    done = cli("stream", "xjob_1", client=server.client)
    assert done.code == 0
    assert done.out == '{"é": 1}\nnull\n'
    assert "Attempt 2 has begun; the values begin again." in done.err


def test_an_agent_is_executed_and_its_values_are_printed(cli: Any, server: Server) -> None:
    server.on("GET", "/agents", {"data": [agent(id="agent_1", name="writer")], "next_cursor": None})
    new = job(id="xjob_1", state="queued", finished_at=None, execution=None)
    server.on("POST", "/agents/agent_1/execute", new)
    server.on("GET", STREAM, stream(value("1-1", "a"), value("1-2", "b"), end(return_value=2)))
    done = cli("execute", "writer", "--stream", client=server.client)
    assert (done.code, done.out) == (0, '"a"\n"b"\n2\n')


@pytest.mark.parametrize("more", ["--follow", "--json", "--timeout=3"])
def test_what_it_can_not_be_combined_with(cli: Any, server: Server, more: str) -> None:
    done = cli("execute", "writer", "--stream", more, client=server.client)
    assert done.code == 2
    assert "--stream can't be combined" in done.err
