from __future__ import annotations

import os
import uuid
from collections.abc import Iterator

import pytest

import roost

_NEEDED = ("ROOST_TEST_URL", "ROOST_TEST_API_KEY")


@pytest.fixture(scope="session")
def client() -> Iterator[roost.Client]:
    """The server under test."""
    missing = [name for name in _NEEDED if not os.environ.get(name)]
    if missing:
        pytest.skip(f"needs a running Roost: {' and '.join(missing)} not set")
    with roost.Client(os.environ["ROOST_TEST_API_KEY"], os.environ["ROOST_TEST_URL"]) as client:
        yield client


@pytest.fixture
def unique() -> str:
    """A name that nothing else has."""
    return f"sdk-test-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def make_agent(client: roost.Client) -> Iterator[object]:
    """`client.agents.create`, with everything deleted at the end."""
    made: list[roost.Agent] = []

    def make(**settings: object) -> roost.Agent:
        made.append(client.agents.create(**settings))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for agent in made:
        store_ids = agent.store_ids
        agent.delete()
        for store_id in store_ids:
            client.datastores.delete(store_id, force=True)
