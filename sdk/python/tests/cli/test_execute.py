from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from support import Server, agent, entry, execution, job, stream

EXECUTE = "/agents/agent_1/execute"


@pytest.fixture
def greeter(server: Server) -> Server:
    """A server with one agent, whose jobs succeed at once."""
    server.on("GET", "/agents", {"data": [agent()], "next_cursor": None})
    server.on("POST", EXECUTE, job())
    return server


def payload(server: Server) -> Any:
    return json.loads(server.sent("POST", EXECUTE)[-1].content)


def test_the_return_value_is_all_that_is_printed(cli: Any, greeter: Server) -> None:
    done = cli("execute", "greeter", "--payload", '{"name": "Ada"}', client=greeter.client)
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out) == {"n": 42}
    assert payload(greeter) == {"payload": {"name": "Ada"}}


def test_json_is_the_job_with_its_execution(cli: Any, greeter: Server) -> None:
    done = cli("execute", "greeter", "--json", client=greeter.client)
    assert json.loads(done.out) == job()
    assert payload(greeter) == {}


def test_a_payload_comes_from_a_file_or_standard_input(
    cli: Any, greeter: Server, tmp_path: Path
) -> None:
    file = tmp_path / "payload.json"
    file.write_text('["from", "ä file"]', encoding="utf-8")
    cli("execute", "greeter", "--payload", f"@{file}", client=greeter.client)
    assert payload(greeter) == {"payload": ["from", "ä file"]}
    cli("execute", "greeter", "--payload", "-", client=greeter.client, stdin="null")
    assert payload(greeter) == {"payload": None}


def test_a_payload_that_is_no_json_is_refused_with_advice(cli: Any, greeter: Server) -> None:
    done = cli("execute", "greeter", "--payload", "Ada", client=greeter.client)
    assert done.code == 2
    assert """A JSON string needs quotes: '"Ada"'.""" in done.err
    assert greeter.sent("POST", EXECUTE) == []


def test_a_draft_is_sent_with_its_script(cli: Any, greeter: Server, tmp_path: Path) -> None:
    file = tmp_path / "greeter.py"
    file.write_text("def main(): ...\n", encoding="utf-8")
    greeter.on("POST", EXECUTE + "-draft", job(draft=True))
    done = cli("execute", "greeter", "--draft", str(file), "--payload", "1", client=greeter.client)
    assert done.code == 0
    sent = json.loads(greeter.sent("POST", EXECUTE + "-draft")[0].content)
    assert sent == {"payload": 1, "script": "def main(): ...\n"}
    assert greeter.sent("POST", EXECUTE) == []
    assert cli("execute", "greeter", "--draft", "missing.py", client=greeter.client).code == 2


def test_options_of_the_job_are_sent(cli: Any, greeter: Server) -> None:
    options = ("--priority", "7", "--concurrency-key", "k", "--idempotency-key", "once")
    cli("execute", "greeter", *options, client=greeter.client)
    assert payload(greeter) == {"priority": 7, "concurrency_key": "k"}
    assert greeter.sent("POST", EXECUTE)[0].headers["Idempotency-Key"] == "once"


def test_a_failure_is_reported_with_the_scripts_traceback(cli: Any, greeter: Server) -> None:
    error = {"type": "ValueError", "message": "no", "traceback": 'File "agent.py", line 2\n'}
    failed = execution(state="failed", reason="exception", error=error, return_value=None)
    greeter.on("POST", EXECUTE, job("failed", reason="exception", execution=failed))
    done = cli("execute", "greeter", client=greeter.client)
    assert (done.code, done.out) == (1, "")
    assert 'exec_1 failed (exception):\n\nFile "agent.py", line 2\n' in done.err
    assert "`roost logs exec_1`" in done.err
    done = cli("execute", "greeter", "--json", client=greeter.client)
    assert (done.code, json.loads(done.out)["state"]) == (1, "failed")


def test_what_never_ran_says_why(cli: Any, greeter: Server) -> None:
    message = "six==99 is not there."
    failed = job("failed", reason="build_failed", message=message, execution=None)
    greeter.on("POST", EXECUTE, failed)
    done = cli("execute", "greeter", client=greeter.client)
    assert done.code == 1
    assert f"xjob_1 failed (build_failed): {message}" in done.err
    assert "`roost builds --failed`" in done.err


def test_it_waits_until_the_job_has_ended(cli: Any, greeter: Server) -> None:
    greeter.on("POST", EXECUTE, job("queued", waiting_on="build"))
    greeter.on("GET", "/executor-jobs/xjob_1", job("queued"), job("running"), job())
    done = cli("execute", "greeter", client=greeter.client)
    assert (done.code, json.loads(done.out)) == (0, {"n": 42})


@pytest.mark.parametrize("what", ["storage", "capacity"])
def test_what_waits_for_space_says_which(
    cli: Any, greeter: Server, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    said: list[str] = []
    monkeypatch.setattr("roost._cli.progress.Progress.say", lambda _self, text: said.append(text))
    message = "Payloads have 9 bytes; the limit is 8 (setting roost.storage.payload-bytes)."
    greeter.on("POST", EXECUTE, job("queued", waiting_on=what, message=message))
    greeter.on("GET", "/executor-jobs/xjob_1", job())
    assert cli("execute", "greeter", client=greeter.client).code == 0
    assert any(message in text for text in said), said


def test_with_no_wait_the_id_is_printed(cli: Any, greeter: Server) -> None:
    greeter.on("POST", EXECUTE, job("queued"))
    done = cli("execute", "greeter", "--no-wait", client=greeter.client)
    assert (done.code, done.out, done.err) == (0, "xjob_1\n", "")
    assert cli("execute", "greeter", "--no-wait", "--follow", client=greeter.client).code == 2


def test_after_the_time_out_it_says_how_to_continue(cli: Any, greeter: Server) -> None:
    greeter.on("POST", EXECUTE, job("queued"))
    done = cli("execute", "greeter", "--timeout", "0", client=greeter.client)
    assert (done.code, done.out) == (124, "")
    assert "`roost logs -f xjob_1` follows its log, `roost cancel xjob_1` cancels it." in done.err


def test_after_ctrl_c_it_continues(cli: Any, greeter: Server) -> None:
    def interrupt(request: object) -> None:
        raise KeyboardInterrupt

    greeter.on("POST", EXECUTE, job("queued"))
    greeter.on("GET", "/executor-jobs/xjob_1", interrupt)
    done = cli("execute", "greeter", client=greeter.client)
    assert done.code == 130
    assert done.err.splitlines() == [
        "Detached; xjob_1 is still running.",
        "`roost cancel xjob_1` cancels it, `roost logs -f xjob_1` follows its log.",
    ]


def test_the_log_is_followed_on_standard_error(cli: Any, greeter: Server) -> None:
    running = execution(state="running", finished_at=None, return_value=None)
    greeter.on("POST", EXECUTE, job("running", execution=running))
    greeter.on("GET", "/executor-jobs/xjob_1", job())
    greeter.on("GET", "/executions", {"data": [execution()], "next_cursor": None})
    lines = f"event: log\nid: 1\ndata: {json.dumps(entry(1, 'hello'))}\n\n"
    end = f"event: end\ndata: {json.dumps(execution())}\n\n"
    greeter.on("GET", "/executions/exec_1/logs", stream(lines, end))
    done = cli("execute", "greeter", "--follow", client=greeter.client)
    assert (done.code, json.loads(done.out), done.err) == (0, {"n": 42}, "hello\n")


def test_an_agent_that_is_not_there_is_nearly_one(cli: Any, server: Server) -> None:
    def listed(request: httpx.Request) -> httpx.Response:
        found = [] if "name" in request.url.params else [agent()]
        return httpx.Response(200, json={"data": found, "next_cursor": None})

    server.on("GET", "/agents", listed)
    done = cli("execute", "greter", client=server.client)
    assert done.code == 4
    assert 'There is no agent named "greter". Did you mean "greeter"?' in done.err
    assert "`roost list agents` lists all agents." in done.err
