from __future__ import annotations

import json
from typing import Any

import pytest
from support import Server, agent, entry, execution, stream


@pytest.fixture
def written(server: Server) -> Server:
    """A server with an execution that has written something."""
    server.on("GET", "/executions/exec_1", execution())
    entries = [
        entry(1, "first"),
        entry(2, "a long ", continued=True),
        entry(3, "line", stream="stdout"),
        entry(4, "oh no", level="ERROR", stream="logging"),
    ]
    server.on("GET", "/executions/exec_1/logs", {"data": entries, "next_cursor": None})
    return server


def followed(server: Server) -> None:
    messages = [entry(1, "first"), entry(2, "oh no", level="ERROR")]
    events = (f"event: log\nid: {each['seq']}\ndata: {json.dumps(each)}\n\n" for each in messages)
    end = f"event: end\ndata: {json.dumps(execution())}\n\n"
    server.on("GET", "/executions/exec_1/logs", stream(*events, end))


def test_a_line_that_came_in_parts_is_whole_again(cli: Any, written: Server) -> None:
    done = cli("logs", "exec_1", client=written.client)
    assert (done.code, done.err) == (0, "")
    assert done.out == "first\na long line\noh no\n"


def test_times_begin_the_lines(cli: Any, written: Server) -> None:
    lines = cli("logs", "exec_1", "-t", client=written.client).out.splitlines()
    assert [line.partition("  ")[2] for line in lines] == ["first", "a long line", "oh no"]


def test_json_is_an_array_or_lines_when_followed(cli: Any, written: Server) -> None:
    done = cli("logs", "exec_1", "--json", client=written.client)
    assert json.loads(done.out)[0] == entry(1, "first")
    followed(written)
    done = cli("logs", "-f", "exec_1", "--json", client=written.client)
    first = json.loads(done.out.splitlines()[0])
    assert first == entry(1, "first")


def test_the_server_chooses_unless_it_is_followed(cli: Any, written: Server) -> None:
    cli("logs", "exec_1", "--level", "error", "--contains", "oh", client=written.client)
    params = written.sent("GET", "/executions/exec_1/logs")[0].url.params
    assert (params["level"], params["contains"]) == ("ERROR", "oh")
    followed(written)
    done = cli("logs", "-f", "exec_1", "--level", "ERROR", client=written.client)
    assert done.out == "oh no\n"


def test_of_an_agent_it_is_the_latest_execution(cli: Any, written: Server) -> None:
    written.on("GET", "/agents", {"data": [agent()], "next_cursor": None})
    written.on("GET", "/executions", {"data": [execution()], "next_cursor": None})
    assert cli("logs", "greeter", client=written.client).out.startswith("first\n")


def test_an_agent_that_has_not_run_says_what_to_do(cli: Any, server: Server) -> None:
    server.on("GET", "/agents", {"data": [agent()], "next_cursor": None})
    server.on("GET", "/executions", {"data": [], "next_cursor": None})
    done = cli("logs", "greeter", client=server.client)
    assert done.code == 4
    assert "`roost logs bjob_1` shows its build." in done.err


def test_what_has_no_log_says_so(cli: Any, server: Server) -> None:
    done = cli("logs", "store_1", client=server.client)
    assert (done.code, "A store has no log." in done.err) == (2, True)
