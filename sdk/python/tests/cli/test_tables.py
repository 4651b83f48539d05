from __future__ import annotations

import json
import sys
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from support import Server, agent, execution

from roost._cli import output, times
from roost._cli.output import Column

NOW = datetime(2026, 11, 22, 12, 0, tzinfo=timezone.utc)
LONG_ID = "exec_01jd4m8z6hf0r9w2x3c5v7b8na"


@pytest.mark.parametrize(
    ("ago", "words"),
    [
        (timedelta(0), "now"),
        (timedelta(seconds=59), "59 s ago"),
        (timedelta(minutes=3, seconds=50), "3 min ago"),
        (timedelta(hours=5), "5 h ago"),
        (timedelta(days=29), "29 d ago"),
        (timedelta(days=31), "2026-10-22"),
        (-timedelta(minutes=2), "in 2 min"),
    ],
)
def test_times_are_relative(ago: timedelta, words: str) -> None:
    assert times.moment(NOW - ago, NOW) == words


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.004, "0.00 s"),
        (1.234, "1.23 s"),
        (12.34, "12.3 s"),
        (65, "1 min 5 s"),
        (7260, "2 h 1 min"),
    ],
)
def test_durations_have_three_figures(seconds: float, words: str) -> None:
    assert times.duration(seconds) == words


@pytest.mark.parametrize(
    ("count", "words"), [(0, "0 B"), (1023, "1023 B"), (1536, "1.5 KiB"), (3 << 30, "3.0 GiB")]
)
def test_sizes_have_units(count: int, words: str) -> None:
    assert times.size(count) == words


def listed(server: Server, *found: Any) -> None:
    server.on("GET", "/executions", {"data": list(found), "next_cursor": None})
    server.on("GET", "/agents/agent_1", agent(name="a-rather-long-name-of-an-agent"))


@pytest.mark.parametrize(
    "command", [["show", "greeter"], ["list", "agents"], ["revisions", "greeter"]]
)
def test_json_has_the_values_of_variables_only_on_demand(
    cli: Any, server: Server, command: list[str]
) -> None:
    server.on("GET", "/agents", {"data": [agent()], "next_cursor": None})
    server.on("GET", "/agents/agent_1", agent())
    revision = {**agent(), "agent_id": "agent_1"}
    server.on("GET", "/agents/agent_1/revisions", {"data": [revision], "next_cursor": None})

    def variables(*options: str) -> Any:
        output = json.loads(cli(*command, "--json", *options, client=server.client).out)
        found = output[0] if isinstance(output, list) else output
        text = found["env_vars"]
        return text if isinstance(text, str) else "".join(f"{k}={v}\n" for k, v in text.items())

    assert variables() == "TOKEN=***\nEMPTY=***\n"
    assert variables("--values") == "TOKEN=hush-hush\nEMPTY=\n"


def test_in_a_pipe_nothing_is_cut_off(cli: Any, server: Server) -> None:
    listed(server, execution(id=LONG_ID, state="failed", reason="return_value_too_large"))
    header, line = cli("list", "executions", client=server.client).out.splitlines()
    assert header.split() == ["ID", "AGENT", "STATE", "STARTED", "TOOK"]
    assert line.startswith(f"{LONG_ID}  a-rather-long-name-of-an-agent  failed (return_value_too")
    assert "\x1b" not in line


def test_json_is_what_the_api_has(cli: Any, server: Server) -> None:
    listed(server, execution())
    done = cli("list", "executions", "--json", client=server.client)
    assert json.loads(done.out) == [execution()]


def test_it_says_that_there_are_more(cli: Any, server: Server) -> None:
    listed(server, *(execution(id=f"exec_{n}") for n in range(3)))
    done = cli("list", "executions", "-n", "2", client=server.client)
    assert len(done.out.splitlines()) == 3
    assert "Showing the newest 2" in done.err
    done = cli("list", "executions", "--all", client=server.client)
    assert (len(done.out.splitlines()), done.err) == (4, "")


def test_nothing_to_list_is_no_output(cli: Any, server: Server) -> None:
    listed(server)
    done = cli("list", "executions", client=server.client)
    assert (done.code, done.out) == (0, "")
    assert "`roost execute AGENT`" in done.err
    assert cli("list", "executions", "--json", client=server.client).out == "[]\n"


def test_filters_are_sent(cli: Any, server: Server) -> None:
    listed(server)
    arguments = ("--agent", "agent_1", "--state", "failed,lost", "--since", "24h", "--reason", "x")
    cli("list", "executions", *arguments, client=server.client)
    params = server.sent("GET", "/executions")[-1].url.params
    assert (params["agent_id"], params["state"], params["reason"]) == (
        "agent_1",
        "failed,lost",
        "x",
    )
    age = datetime.now(timezone.utc) - datetime.fromisoformat(
        params["started_after"].replace("Z", "+00:00")
    )
    assert timedelta(hours=23, minutes=59) < age < timedelta(hours=24, minutes=1)
    done = cli("list", "executions", "--state", "fialed", client=server.client)
    assert (done.code, '"fialed" is not one of' in done.err) == (2, True)


def test_lists_are_narrowed_by_tags_and_sorted(cli: Any, server: Server) -> None:
    server.on("GET", "/agents", {"data": [agent(tags=["team/x"])], "next_cursor": None})
    flags = ("--tag", "team", "--tag", "billing", "--sort", "-failures")
    done = cli("list", "agents", *flags, client=server.client)
    params = server.sent("GET", "/agents")[-1].url.params
    assert (params["tag"], params["sort"]) == ("team,billing", "-failures")
    assert "team/x" in done.out
    server.on("GET", "/executions", {"data": [], "next_cursor": None})
    cli("list", "executions", "--tag", "team", "--sort", "duration", client=server.client)
    params = server.sent("GET", "/executions")[-1].url.params
    assert (params["tag"], params["sort"]) == ("team", "duration")
    assert cli("list", "agents", "--sort", "size", client=server.client).code == 2


class Terminal:
    """Standard output of a width."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
        monkeypatch.setenv("COLUMNS", str(width))
        monkeypatch.setenv("NO_COLOR", "1")
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)


def test_in_a_terminal_ids_stay_whole_and_the_rest_is_narrowed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Terminal(monkeypatch, 60)
    columns = [
        Column("ID", whole=True),
        Column("NAME"),
        Column("SPARE", whole=True, extra=True),
        Column("MESSAGE"),
    ]
    output.table(columns, [[LONG_ID, "n" * 30, "s" * 20, "m" * 30]])
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if len(plain(line)) > 60] == []
    assert LONG_ID in lines[1]
    assert "…" in lines[1]
    assert "SPARE" not in lines[0]


def plain(line: str) -> str:
    return line.replace("\x1b[1m", "").replace("\x1b[0m", "")


def test_a_wide_terminal_shows_all(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Terminal(monkeypatch, 200)
    output.table([Column("NAME"), Column("SPARE", extra=True)], [["n" * 30, "s" * 20]])
    assert plain(capsys.readouterr().out).split() == ["NAME", "SPARE", "n" * 30, "s" * 20]


def test_what_looks_like_markup_is_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output.table([Column("NAME")], [["[red]x[/red] :smile:"]])
    assert "[red]x[/red] :smile:" in capsys.readouterr().out


FAILURE = {"revision": 3, "builder_job_id": "bjob_1", "reason": "lost", "message": None}
ACTIVITY = {
    "builder_job": {"id": "bjob_1", "state": "failed", "reason": "lost"},
    "last_execution": None,
    "next_run_at": None,
    "running": 0,
    "queued": 0,
    "executions_7d": {"succeeded": 0, "failed": 0},
}


SETTINGS = {
    "timeout": 1.0,
    "memory": 64,
    "cpu": 1.0,
    "max_concurrency": 1,
    "max_attempts": 1,
    "retry_delay": 1.0,
    "keep_warm": 1.0,
    "isolation": "process",
    "requests_per_process": 1,
}


def test_what_runs_is_reported_where_it_is_not_the_newest(cli: Any, server: Server) -> None:
    behind = agent(
        revision=3,
        running_revision=2,
        build_failure=FAILURE,
        activity=ACTIVITY,
        **SETTINGS,
    )
    numbers = {"agent_id": "agent_1", "script": "", "requirements": "", "env_vars": ""}
    common = {**numbers, "python_version": "3.13", "created_at": behind["created_at"]}
    revisions = [{**common, "revision": number} for number in (3, 2, 1)]
    server.on("GET", "/agents", {"data": [behind], "next_cursor": None})
    server.on("GET", "/agents/agent_1", behind)
    server.on("GET", "/agents/agent_1/revisions", {"data": revisions, "next_cursor": None})
    done = cli("list", "agents", client=server.client)
    assert "failed (lost; revision 2 runs)" in done.out
    done = cli("show", "greeter", client=server.client)
    assert "revision 3 failed to build; revision 2 still runs" in done.out
    done = cli("revisions", "greeter", client=server.client)
    assert "3 (not built)" in done.out
    assert "2 (now)" in done.out


def shown(cli: Any, server: Server, **fields: Any) -> dict[str, str]:
    """Return the facts of `roost show`, by their labels; further lines have none."""
    found = agent(activity=ACTIVITY, **SETTINGS, **fields)
    server.on("GET", "/agents", {"data": [found], "next_cursor": None})
    server.on("GET", "/agents/agent_1", found)
    facts: dict[str, str] = {}
    label = ""
    for line in cli("show", "greeter", client=server.client).out.splitlines():
        name, value = line[:9].strip(), line[9:].strip()
        label = name or label
        facts[label] = f"{facts[label]}\n{value}" if label in facts else value
    return facts


PACKAGES = [f"p{number:02}" for number in range(12)]
PRELOADED = {
    "revision": 1,
    "modules": 1612,
    "packages": PACKAGES,
    "import_seconds": 0.231,
    "memory_bytes": 48_123_904,
    "left_out": [{"module": f"m{number}", "reason": "starts a thread"} for number in range(12)],
    "updated_at": "2026-11-22T12:00:00Z",
}


def test_what_is_preloaded_is_shown(cli: Any, server: Server) -> None:
    facts = shown(cli, server, preload="auto", preloaded=PRELOADED)
    assert facts["preload"] == (
        "auto, 1,612 modules: 0.23 s less for each execution\n45.9 MiB of memory for each executor"
    )
    assert facts["preloaded"] == ", ".join(PACKAGES[:10]) + ", and 2 more"
    lines = facts["left out"].splitlines()
    assert len(lines) == 11
    assert lines[0] == "m0: starts a thread"
    assert lines[-1] == "and 2 more: `roost show greeter --json`"


def test_few_modules_are_all_shown(cli: Any, server: Server) -> None:
    few = {**PRELOADED, "modules": 1, "packages": ["six"], "left_out": []}
    facts = shown(cli, server, preload="auto", preloaded=few)
    assert facts["preload"].startswith("auto, 1 module: ")
    assert facts["preloaded"] == "six"
    assert "left out" not in facts


def test_preloading_can_be_off_or_not_known(cli: Any, server: Server) -> None:
    facts = shown(cli, server, preload="auto", preloaded=None)
    assert facts["preload"] == "auto, not known before the first execution of this revision"
    facts = shown(cli, server, preload="off", preloaded=None)
    assert facts["preload"] == "off"


def test_a_tool_is_shown(cli: Any, server: Server) -> None:
    facts = shown(cli, server, tool_name="weather", tool_description="Forecasts.")
    assert facts["tool"].splitlines()[:2] == ["weather", "Forecasts."]
    assert "tool" not in shown(cli, server, tool_name=None, tool_description="Forecasts.")


def test_a_revision_differs_in_preloading(cli: Any, server: Server) -> None:
    now = agent(preload="off", revision=2)
    server.on("GET", "/agents", {"data": [now], "next_cursor": None})
    server.on("GET", "/agents/agent_1", now)
    before = {**agent(preload="auto"), "agent_id": "agent_1"}
    server.on("GET", "/agents/agent_1/revisions/1", before)
    done = cli("revisions", "greeter", "--diff", "1", client=server.client)
    assert done.out.splitlines() == ['- preload = "auto"', '+ preload = "off"']
