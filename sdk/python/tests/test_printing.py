from __future__ import annotations

import io
import re
import sys
import threading
from types import ModuleType, SimpleNamespace
from typing import Any

import httpx
import pytest
from support import Server, agent, builder_job, entry, execution, job

import roost
from roost import _progress

EXECUTE = "/agents/agent_1/execute"
JOB = "/executor-jobs/xjob_1"
EVIL = "<script>alert(1)</script>&\"'"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    @property
    def shown(self) -> list[str]:
        """What the line said, one after another; times are left out."""
        texts = re.split(r"\r|\x1b\[K", self.getvalue())
        return [re.sub(r" · \d+ s$", "", text) for text in texts if text]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setattr(roost, "progress", None)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    errors_go_to(terminal, monkeypatch)
    return terminal


def errors_go_to(stderr: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    # sys.stderr itself is pytest's, which puts its own there before each test.
    monkeypatch.setattr(_progress, "sys", SimpleNamespace(stderr=stderr, modules=sys.modules))


def slow(server: Server) -> None:
    """Answer like a server whose job waits for this and that."""
    server.on("POST", EXECUTE, job("queued", waiting_on="build"))
    states = [
        job("queued", waiting_on="build"),
        job("queued", waiting_on="executor"),
        job("running"),
        job("running"),
        job(),
    ]
    server.on("GET", JOB, *states)


def test_names_and_states_are_shown() -> None:
    shown = [
        roost.Agent(None, agent()),
        roost.Execution(None, execution(state="failed", reason="exception")),
        roost.ExecutorJob(None, job("queued")),
        roost.BuilderJob(None, builder_job("running")),
    ]
    assert [repr(each) for each in shown] == [
        "<roost.Agent id='agent_1' name='greeter' revision=1>",
        "<roost.Execution id='exec_1' state='failed' reason='exception'>",
        "<roost.ExecutorJob id='xjob_1' state='queued' reason=None>",
        "<roost.BuilderJob id='bjob_1' state='running' reason=None>",
    ]


def test_notebooks_get_a_table() -> None:
    failed = execution(state="failed", message="It raised.", return_value=None)
    html = roost.Execution(None, failed)._repr_html_()
    assert html.startswith("<table>")
    for text in ("Execution", "exec_1", "failed", "It raised.", "2026-11-02 09:00:00+00:00"):
        assert text in html
    assert "return_value" not in html, "what isn't there has no row"


def test_what_scripts_write_is_escaped() -> None:
    run = execution(message=EVIL, return_value={"x": EVIL}, error={"type": EVIL, "message": EVIL})
    things: list[Any] = [
        roost.Execution(None, run),
        roost.Agent(None, agent(name=EVIL)),
        roost.LogEntry.of(entry(1, EVIL)),
    ]
    for thing in things:
        html = thing._repr_html_()
        assert "<script" not in html
        assert "&lt;script&gt;" in html


def test_a_log_is_shown_as_lines(server: Server) -> None:
    page = {"data": [entry(1, "one"), entry(2, EVIL)], "next_cursor": None}
    server.on("GET", "/executions/exec_1/logs", page)
    log: Any = roost.Execution(server.client, execution()).logs()
    assert log == [*log], "it is a list"
    assert re.search(r"<pre[^>]*>one\n&lt;script&gt;.*</pre>", log._repr_html_())


def test_secrets_are_shown_nowhere() -> None:
    hook = roost.Webhook(None, {"id": "h", "state": "active", "secret": "whsec_1", "url": "u://2"})
    key = roost.Key(None, {"id": "k", "name": "ci", "role": "read", "key": "roost_3"})
    greeter = roost.Agent(None, agent())
    text = "".join(each._repr_html_() + repr(each) for each in (hook, key, greeter))
    assert not re.search("whsec_1|u://2|roost_3|hush-hush", text)


def test_a_terminal_says_what_is_waited_for(server: Server, terminal: Terminal) -> None:
    slow(server)
    roost.Agent(server.client, agent()).execute()
    assert terminal.shown == [
        "xjob_1 waiting for the build",
        "xjob_1 waiting for an executor",
        "xjob_1 running",
        "xjob_1 running",
    ]
    assert terminal.getvalue().endswith("\r\x1b[K"), "nothing of it is left"
    waits = {request.url.params.get("wait") for request in server.requests}
    assert waits == {"1"}, "it moves every second"


def test_a_terminal_shows_the_result_of_a_build(server: Server, terminal: Terminal) -> None:
    states = [builder_job("queued"), builder_job("running"), builder_job("succeeded")]
    server.on("GET", "/builder-jobs/bjob_1", *states)
    server.on("GET", "/agents/agent_1", agent())
    roost.Agent(server.client, agent()).wait_until_built()
    assert terminal.shown[-1] == "bjob_1 build running"


def test_a_line_is_no_wider_than_the_terminal(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    with _progress.line(None, lambda: 0.0) as line:
        line.show("x" * 50)
    assert [len(text) for text in terminal.shown] == [19]


@pytest.mark.parametrize("wanted", [None, False])
def test_without_a_terminal_there_is_silence(
    server: Server, monkeypatch: pytest.MonkeyPatch, wanted: bool | None
) -> None:
    monkeypatch.setattr(roost, "progress", wanted)
    stderr = io.StringIO() if wanted is None else Terminal()
    errors_go_to(stderr, monkeypatch)
    slow(server)
    roost.Agent(server.client, agent()).execute()
    assert stderr.getvalue() == ""
    assert server.requests[0].url.params["wait"] == "50"


def test_a_client_may_use_another_clock(server: Server, terminal: Terminal) -> None:
    server.client._progress = False
    slow(server)
    roost.Agent(server.client, agent()).execute()
    assert terminal.getvalue() == ""


def test_another_thread_is_silent(server: Server, terminal: Terminal) -> None:
    slow(server)
    thread = threading.Thread(target=roost.Agent(server.client, agent()).execute)
    thread.start()
    thread.join()
    assert terminal.getvalue() == ""


def test_there_is_one_line_at_a_time(terminal: Terminal) -> None:
    with _progress.line(None, lambda: 0.0) as first, _progress.line(None, lambda: 0.0) as second:
        assert (first.visible, second.visible) == (True, False)
        second.show("two")
        first.show("one")
    assert terminal.shown == ["one"]


def test_a_terminal_that_goes_away_ends_no_wait(server: Server, terminal: Terminal) -> None:
    def vanish(request: object) -> Any:
        terminal.close()
        return httpx.Response(200, json=job("running"))

    server.on("POST", EXECUTE, job("queued"))
    server.on("GET", JOB, job("running"), vanish, job("running"), job())
    assert roost.Agent(server.client, agent()).execute().state == "succeeded"


def test_a_notebook_gets_a_display_that_is_emptied(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []

    class Handle:
        def update(self, content: dict[str, str], *, raw: bool) -> None:
            shown.append(content["text/plain"])

    class Shell:
        kernel = object()

    def display(content: dict[str, str], *, raw: bool, display_id: bool) -> Handle:
        handle = Handle()
        handle.update(content, raw=raw)
        return handle

    ipython: Any = ModuleType("IPython")
    ipython.get_ipython = Shell
    ipython.display = SimpleNamespace(display=display)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", ipython.display)
    monkeypatch.setattr(roost, "progress", None)
    slow(server)
    roost.Agent(server.client, agent()).execute()
    assert shown[0].startswith("xjob_1 waiting for the build · ")
    assert shown[-1] == ""
