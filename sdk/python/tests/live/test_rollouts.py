from __future__ import annotations

from typing import Callable

import pytest

import roost

SCRIPT = "def main():\n    return 1\n"


def test_a_rebuild_is_used_and_undone(
    client: roost.Client, make_agent: Callable[..., roost.Agent], unique: str
) -> None:
    agent = make_agent(name=unique, script=SCRIPT).wait_until_built(300)
    before = agent.latest_builder_job_id
    rollout = agent.rebuild().wait(300)
    assert (rollout.state, rollout.counts.updated, rollout.automatic) == ("completed", 1, False)
    (item,) = rollout.agents()
    assert (item.agent_name, item.state, item.from_builder_job_id) == (unique, "updated", before)
    agent.refresh()
    assert (agent.latest_builder_job_id, agent.outdated) == (item.to_builder_job_id, None)
    assert agent.build_id is not None
    assert client.builds.retrieve(agent.build_id).base

    with pytest.raises(roost.Conflict, match="only one that is paused can be resumed"):
        rollout.resume()
    assert rollout.undo().wait(300).counts.undone == 1
    assert agent.refresh().latest_builder_job_id == before
    assert agent.execute(timeout=300).return_value == 1


def test_nothing_outdated_is_nothing_to_do(
    client: roost.Client, make_agent: Callable[..., roost.Agent], unique: str
) -> None:
    agent = make_agent(name=unique, script=SCRIPT).wait_until_built(300)
    rollout = roost.Rollout.start([agent], client=client)
    assert (rollout.state, rollout.counts.total) == ("completed", 0)
    assert rollout in client.rollouts.list(state="completed")
