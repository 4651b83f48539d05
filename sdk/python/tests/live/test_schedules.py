from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Callable

import pytest

import roost

MakeAgent = Callable[..., roost.Agent]
TIMEOUT = 180.0
SCRIPT = "def main(request):\n    return [request.payload, request.scheduled]\n"


@pytest.fixture
def agent(make_agent: MakeAgent) -> roost.Agent:
    return make_agent(script=SCRIPT, store_ids=[])


def test_made_changed_and_deleted(agent: roost.Agent, client: roost.Client) -> None:
    ends_at = datetime.now(timezone.utc) + timedelta(days=365)
    made = agent.schedule(
        "30 2 * * MON-FRI",
        name="nightly",
        time_zone="Europe/Berlin",
        payload={"n": 1},
        missed_runs="run_all",
        missed_runs_limit=3,
        overlap="queue",
        jitter=10,
        ends_at=ends_at,
    )
    found = roost.Schedule.retrieve(made.id, client=client)
    assert (found.name, found.cron, found.payload) == ("nightly", "30 2 * * MON-FRI", {"n": 1})
    assert (found.missed_runs, found.missed_runs_limit) == ("run_all", 3)
    assert (found.overlap, found.jitter, found.ends_at) == ("queue", 10, ends_at)
    assert "02:30" in found.description
    assert list(roost.Schedule.list(agent_id=agent.id, client=client)) == [made]
    assert found.next_run_at is not None
    assert found.next(3)[0] == found.next_run_at
    assert all(time.utcoffset() == timedelta(0) for time in found.next(3))

    with pytest.raises(roost.Conflict):
        agent.schedule("@daily", name="nightly")
    found.update(cron="@hourly", ends_at=None)
    assert (found.cron, found.ends_at) == ("@hourly", None)
    assert found.pause().next_run_at is None
    assert list(client.schedules.list(agent_id=agent.id, state="paused")) == [made]
    assert found.resume().next_run_at is not None
    found.delete()
    with pytest.raises(roost.NotFound):
        client.schedules.retrieve(made.id)


def test_a_triggered_run(agent: roost.Agent) -> None:
    schedule = agent.schedule("@yearly", payload="by hand").pause()
    job = schedule.trigger()
    assert (job.schedule_id, job.scheduled_time) == (schedule.id, None)
    assert job.wait(TIMEOUT).return_value[0] == "by hand"


def test_a_preview(client: roost.Client) -> None:
    noon = datetime(2026, 11, 2, 12, 0, tzinfo=timezone(timedelta(hours=1)))
    preview = client.schedules.preview("0 9 * * *", time_zone="Europe/Berlin", count=2, after=noon)
    assert "09:00" in preview.description
    nine = datetime(2026, 11, 3, 8, 0, tzinfo=timezone.utc)
    assert list(preview.next) == [nine, nine + timedelta(days=1)]


def test_a_mistake_says_what_to_write(agent: roost.Agent, client: roost.Client) -> None:
    with pytest.raises(roost.ValidationError) as raised:
        agent.schedule("0 9 * *", time_zone="Europe/Berln")
    assert {error.pointer for error in raised.value.errors} == {"/cron", "/time_zone"}
    assert "Europe/Berlin" in str(raised.value)
