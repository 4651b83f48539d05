"""Values that a local run emits."""

from __future__ import annotations

from pathlib import Path

from roost._run.local_run import Job, LocalRun
from roost._run.stores import Stores

WAIT_SECONDS = 60


def test_values_are_handed_on_in_order(environment: Path, stores: Stores) -> None:
    script = (
        "def main(request):\n"
        "    for n in range(300):\n"
        "        yield {'n': n}\n"
        "    request.progress(1.0, 'done')\n"
        "    return 'end'\n"
    )
    seen: list[str] = []
    with LocalRun(Job(script), environment, stores, on_values=seen.extend) as running:
        execution = running.wait(WAIT_SECONDS)
    assert execution is not None, "it didn't end"
    assert execution.outcome.return_value == '"end"'
    assert seen == [f'{{"n": {n}}}' for n in range(300)]


def test_values_are_limited(environment: Path, stores: Stores) -> None:
    large = "def main():\n    yield 'x' * 2**20\n"
    with LocalRun(Job(large), environment, stores) as running:
        execution = running.wait(WAIT_SECONDS)
    assert execution is not None, "it didn't end"
    assert "the limit is 1,048,576" in (execution.outcome.message or "")
