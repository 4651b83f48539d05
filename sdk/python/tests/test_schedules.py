from __future__ import annotations

import json
from datetime import datetime, timedelta, timezone
from typing import Any

import httpx
import pytest
from support import TIME, Server, agent, job, problem

import roost

NOON = datetime(2026, 11, 3, 12, 0, tzinfo=timezone(timedelta(hours=1)))


def schedule(**fields: Any) -> dict[str, Any]:
    return {
        "id": "sched_1",
        "agent_id": "agent_1",
        "name": "every-morning",
        "cron": "0 9 * * MON-FRI",
        "time_zone": "Europe/Berlin",
        "payload": {"n": 1},
        "state": "active",
        "missed_runs": "run_once",
        "missed_runs_limit": 100,
        "overlap": "allow",
        "jitter": 0,
        "starts_at": None,
        "ends_at": "2026-12-24T00:00:00Z",
        "next_run_at": "2026-11-03T08:00:00Z",
        "last_run": {"scheduled_time": TIME, "executor_job_id": "xjob_1", "state": "running"},
        "description": "at 09:00, Monday to Friday",
        "created_at": TIME,
        "updated_at": TIME,
        "a_field_of_the_future": 1,
        **fields,
    }


def test_create_sends_what_was_given(server: Server) -> None:
    server.on("POST", "/schedules", schedule())
    made = roost.Schedule.create(
        agent_id="agent_1",
        cron="0 9 * * MON-FRI",
        time_zone="Europe/Berlin",
        overlap="skip",
        jitter=2.5,
        starts_at=NOON,
        client=server.client,
    )
    assert json.loads(server.requests[0].content) == {
        "agent_id": "agent_1",
        "cron": "0 9 * * MON-FRI",
        "time_zone": "Europe/Berlin",
        "overlap": "skip",
        "jitter": 2.5,
        "starts_at": "2026-11-03T11:00:00+00:00",
    }
    assert (made.name, made.payload, made.missed_runs) == ("every-morning", {"n": 1}, "run_once")


def test_times_are_aware(server: Server) -> None:
    found = roost.Schedule(server.client, schedule())
    assert found.next_run_at == datetime(2026, 11, 3, 8, 0, tzinfo=timezone.utc)
    assert found.starts_at is None
    assert found.ends_at is not None
    assert found.ends_at.utcoffset() == timedelta(0)
    assert found.last_run is not None
    assert found.last_run.executor_job_id == "xjob_1"
    assert found.last_run.scheduled_time.utcoffset() == timedelta(0)
    assert roost.Schedule(server.client, schedule(last_run=None)).last_run is None


def test_a_time_without_a_zone_is_refused(server: Server) -> None:
    with pytest.raises(ValueError, match="ends_at requires a time zone"):
        roost.Schedule(server.client, schedule()).update(ends_at=datetime(2026, 11, 3))
    assert server.requests == []


def test_an_agent_makes_its_own(server: Server) -> None:
    server.on("POST", "/schedules", schedule())
    roost.Agent(server.client, agent()).schedule("@daily", payload=None, name="nightly")
    assert json.loads(server.requests[0].content) == {
        "agent_id": "agent_1",
        "cron": "@daily",
        "payload": None,
        "name": "nightly",
    }


def test_a_bad_expression_says_what_to_write(server: Server) -> None:
    errors = [{"pointer": "/cron", "code": "invalid", "detail": "Write 0 9 * * *."}]
    server.on("POST", "/schedules", problem(422, "validation_failed", errors=errors))
    with pytest.raises(roost.ValidationError, match=r"cron: Write 0 9 \* \* \*\.") as raised:
        server.client.schedules.create(agent_id="agent_1", cron="0 9")
    assert raised.value.errors[0].pointer == "/cron"


def test_changes_are_made_in_place(server: Server) -> None:
    server.on("PATCH", "/schedules/sched_1", schedule(state="paused"))
    found = roost.Schedule(server.client, schedule())
    assert found.pause() is found
    assert found.state == "paused"
    found.resume()
    found.update(cron="@hourly", payload=None, ends_at=None)
    server.client.schedules.update("sched_1", jitter=3)
    server.client.schedules.pause("sched_1")
    server.client.schedules.resume("sched_1")
    assert [json.loads(request.content) for request in server.requests] == [
        {"state": "paused"},
        {"state": "active"},
        {"cron": "@hourly", "payload": None, "ends_at": None},
        {"jitter": 3},
        {"state": "paused"},
        {"state": "active"},
    ]


def test_list_retrieve_and_delete(server: Server) -> None:
    server.on("GET", "/schedules", {"data": [schedule()], "next_cursor": None})
    server.on("GET", "/schedules/sched_1", schedule())
    server.on("DELETE", "/schedules/sched_1", httpx.Response(204))
    [found] = roost.Schedule.list(agent_id="agent_1", state="active", client=server.client)
    assert dict(server.requests[0].url.params) == {"agent_id": "agent_1", "state": "active"}
    assert roost.Schedule.retrieve("sched_1", client=server.client) == found.refresh()
    found.delete()
    assert repr(found) == (
        "<roost.Schedule id='sched_1' name='every-morning' cron='0 9 * * MON-FRI' state='active'>"
    )


def test_a_run_is_never_triggered_twice(server: Server) -> None:
    submitted = job("queued", schedule_id="sched_1")
    server.on("POST", "/schedules/sched_1/trigger", submitted, httpx.ReadError("reset"))
    found = roost.Schedule(server.client, schedule())
    assert found.trigger().schedule_id == "sched_1"
    with pytest.raises(roost.APIConnectionError):
        found.trigger()
    assert len(server.requests) == 2


def test_the_next_times(server: Server) -> None:
    answer = {"description": "every hour", "next": ["2026-11-03T08:00:00Z", "2026-11-03T09:00:00Z"]}
    server.on("GET", "/schedules/sched_1/next", answer)
    times = roost.Schedule(server.client, schedule()).next(2)
    assert [time.hour for time in times] == [8, 9]
    assert dict(server.requests[0].url.params) == {"count": "2"}


def test_a_preview_needs_no_schedule(server: Server) -> None:
    answer = {"description": "every hour", "next": ["2026-11-03T12:00:00Z"]}
    server.on("POST", "/schedules/preview", problem(503, "unavailable"), answer)
    preview = roost.Schedule.preview(
        "@hourly", time_zone="Europe/Berlin", count=1, after=NOON, client=server.client
    )
    assert preview.description == "every hour"
    assert preview.next == (datetime(2026, 11, 3, 12, tzinfo=timezone.utc),)
    assert json.loads(server.requests[0].content) == {
        "cron": "@hourly",
        "time_zone": "Europe/Berlin",
        "count": 1,
        "after": "2026-11-03T11:00:00+00:00",
    }
