from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from support import Server, agent, job

TIMES = ["2027-01-01T07:00:00.000000Z", "2027-01-02T07:00:00.000000Z"]
SCHEDULE = {
    "id": "sched_1",
    "agent_id": "agent_1",
    "name": "mornings",
    "cron": "0 7 * * *",
    "time_zone": "Europe/Berlin",
    "state": "active",
    "description": "At 07:00 every day",
    "next_run_at": TIMES[0],
}


@pytest.fixture
def scheduled(server: Server) -> Server:
    server.on("GET", "/agents", {"data": [agent()], "next_cursor": None})
    preview = {"description": SCHEDULE["description"], "next": TIMES}
    server.on("POST", "/schedules/preview", preview)
    server.on("POST", "/schedules", httpx.Response(201, json=SCHEDULE))
    server.on("GET", "/schedules/sched_1", SCHEDULE)
    server.on("PATCH", "/schedules/sched_1", SCHEDULE)
    server.on("GET", "/schedules/sched_1/next", preview)
    server.on("POST", "/schedules/sched_1/trigger", httpx.Response(201, json=job("queued")))
    return server


def sent(server: Server, method: str, path: str) -> Any:
    return json.loads(server.sent(method, path)[-1].content)


@pytest.mark.parametrize("cron", [["0 7 * * *"], ["0", "7", "*", "*", "*"]])
def test_an_expression_is_one_argument_or_five(
    cli: Any, scheduled: Server, cron: list[str]
) -> None:
    arguments = ("-z", "Europe/Berlin", "--payload", "null", "--jitter", "1min")
    done = cli("schedule", "greeter", *cron, *arguments, client=scheduled.client)
    assert (done.code, done.out) == (0, "sched_1\n")
    assert sent(scheduled, "POST", "/schedules") == {
        "agent_id": "agent_1",
        "cron": "0 7 * * *",
        "time_zone": "Europe/Berlin",
        "payload": None,
        "jitter": 60.0,
    }
    assert "greeter runs at 07:00 every day (Europe/Berlin)" in done.err
    assert "Fri 2027-01-01 08:00:00 CET" in done.err


def test_a_dry_run_only_says_when(cli: Any, scheduled: Server) -> None:
    done = cli("schedule", "greeter", "0 7 * * *", "--dry-run", client=scheduled.client)
    assert done.code == 0
    assert "Fri 2027-01-01 07:00:00 UTC" in done.out
    assert scheduled.sent("POST", "/schedules") == []


def test_next_is_of_a_schedule_or_an_expression(cli: Any, scheduled: Server) -> None:
    done = cli("schedules", "next", "sched_1", "-n", "2", client=scheduled.client)
    assert len(done.out.splitlines()) == 2
    assert scheduled.sent("GET", "/schedules/sched_1/next")[0].url.params["count"] == "2"
    done = cli("schedules", "next", "@daily", "--json", client=scheduled.client)
    assert json.loads(done.out)["next"] == TIMES


def test_a_schedule_is_paused_and_resumed(cli: Any, scheduled: Server) -> None:
    for command, state in (("pause", "paused"), ("resume", "active")):
        assert cli("schedules", command, "sched_1", client=scheduled.client).code == 0
        assert sent(scheduled, "PATCH", "/schedules/sched_1") == {"state": state}


def test_a_trigger_prints_the_job(cli: Any, scheduled: Server) -> None:
    done = cli("schedules", "trigger", "sched_1", client=scheduled.client)
    assert (done.out, "`roost logs -f xjob_1` follows its log." in done.err) == ("xjob_1\n", True)
