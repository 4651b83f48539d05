from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Callable

import pytest

import roost

MakeAgent = Callable[..., roost.Agent]
TIMEOUT = 180.0


def script(text: str) -> str:
    return f"def main(request):\n    return {text!r}\n"


def test_an_agent_goes_back_to_what_it_was(make_agent: MakeAgent) -> None:
    agent = make_agent(script=script("one"), store_ids=[], env_vars={"A": "1"})
    agent.update(script=script("two"), env_vars={"A": "2"})
    assert [each.revision for each in agent.revisions()] == [2, 1]
    first = agent.revision_at(1)
    assert (first.script, first.env_vars) == (script("one"), {"A": "1"})
    assert first in list(agent.revisions(limit=2))
    assert agent.roll_back(1).revision == 3
    assert (agent.script, agent.env_vars) == (script("one"), {"A": "1"})
    assert agent.execute(timeout=TIMEOUT, check=True).return_value == "one"
    assert agent.roll_back(1).revision == 3, "nothing has changed"
    with pytest.raises(roost.NotFound):
        agent.roll_back(99)


def test_preloading_is_part_of_a_revision(make_agent: MakeAgent) -> None:
    agent = make_agent(script=script("one"), store_ids=[], preload="off")
    assert agent.preload == "off"
    assert agent.execute(timeout=TIMEOUT, check=True).return_value == "one"
    assert agent.refresh().preloaded is None
    agent.update(preload="auto")
    assert (agent.preload, agent.revision) == ("auto", 2)
    assert [each.preload for each in agent.revisions()] == ["auto", "off"]
    assert agent.roll_back(1).preload == "off"


def test_what_an_agent_does_is_seen(make_agent: MakeAgent, client: roost.Client) -> None:
    agent = make_agent(script="def main():\n    1 / 0\n", store_ids=[])
    assert agent.activity is None
    execution = agent.execute(timeout=TIMEOUT)
    activity = client.agents.retrieve(agent.id, include_activity=True).activity
    assert activity is not None
    assert activity.last_execution is not None
    assert activity.last_execution.id == execution.id
    assert activity.builder_job is not None
    assert activity.executions_7d == roost.ExecutionCounts(succeeded=0, failed=1)
    # The hour before as well: a new one may have begun since.
    statistics = client.statistics(hours=2, agent_id=agent.id)
    assert sum(hour.failed for hour in statistics.hours) == 1
    assert [(each.reason, each.count) for each in statistics.failures] == [("exception", 1)]
    assert statistics.failures[0].latest.execution_id == execution.id


def test_executions_are_chosen_by_reason_and_time(
    make_agent: MakeAgent, client: roost.Client
) -> None:
    agent = make_agent(script="def main():\n    1 / 0\n", store_ids=[])
    execution = agent.execute(timeout=TIMEOUT)

    def found(**filters: object) -> list[roost.Execution]:
        return list(client.executions.list(agent_id=agent.id, **filters))  # type: ignore[arg-type]

    hour = timedelta(hours=1)
    now = datetime.now(timezone.utc)
    assert found(reason="exception", state=["failed", "lost"]) == [execution]
    assert found(started_after=now - hour, started_before=now + hour) == [execution]
    assert found(reason="executor_lost") == found(started_after=now + hour) == []
    jobs = client.executor_jobs.list(agent_id=agent.id, state=["failed", "queued"])
    assert [job.id for job in jobs] == [execution.executor_job_id]


def test_a_link_signs_in_and_settings_keep_secrets(client: roost.Client) -> None:
    link = client.login_link()
    assert link.url.startswith(client.base_url + "/login?token=")
    assert link.expires_at > datetime.now(timezone.utc)
    settings = {each.name: each for each in client.settings()}
    assert settings
    assert all(each.description for each in settings.values())
