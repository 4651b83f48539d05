"""Values that scripts emit, from a server."""

from __future__ import annotations

from typing import Any, Callable

import pytest

import roost

RETRIED = """\
def main(request):
    yield f"attempt {request.attempt}"
    if request.attempt == 1:
        raise RuntimeError("again")
    return "done"
"""


def test_a_retry_begins_again(make_agent: Callable[..., Any]) -> None:
    agent = make_agent(script=RETRIED, max_attempts=2, retry_delay=0)
    attempts: list[int] = []
    job = agent.submit()
    values = list(job.stream(on_restart=attempts.append))
    # Attempt 2 may have begun before the values of attempt 1 were read.
    assert values in (["attempt 1", "attempt 2"], ["attempt 2"])
    assert attempts == [2] * (len(values) - 1)
    assert job.execution.return_value == "done"
    assert list(job.stream()) == ["attempt 2"]


def test_twenty_thousand_values(make_agent: Callable[..., Any]) -> None:
    agent = make_agent(script="def main():\n    yield from range(20_000)\n")
    assert list(agent.stream()) == list(range(20_000))


def test_a_value_that_is_too_large_fails_the_script(make_agent: Callable[..., Any]) -> None:
    agent = make_agent(script="def main():\n    yield 1\n    yield 'x' * 2_000_000\n")
    values = agent.stream()
    assert next(values) == 1
    with pytest.raises(roost.ExecutionFailed, match="the limit is 1,048,576"):
        next(values)
