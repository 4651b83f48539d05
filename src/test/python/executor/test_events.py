"""Waits for events: `request.wait_for_event`."""

from typing import Any

import pytest
from executor import Executor, merged

# A wait of unknown length ends the process after half a second, or at once.
AT_ONCE: "dict[str, Any]" = {"limits": {"suspend_after_seconds": 0.0}}
AGAIN: "dict[str, Any]" = merged(AT_ONCE, {"has_steps": True})


def waits(end: Any) -> "list[int]":
    assert end.last["type"] == "suspended", end.last
    return end.last["waits"]


def test_each_wait_gets_its_own_event(executor: Executor) -> None:
    script = """
        def main(request):
            return [request.wait_for_event("approved") for n in range(3)]
    """
    job = executor.plane.job
    for number in (1, 2, 3):
        assert waits(executor.run(script, **(AGAIN if number > 1 else AT_ONCE))) == [number]
        job.send(number, {"answer": number})
    assert executor.run(script, **AGAIN).value == [{"answer": 1}, {"answer": 2}, {"answer": 3}]
    assert job.awaited == dict.fromkeys((1, 2, 3), ("approved", None, None))


def test_keys_and_timeouts(executor: Executor) -> None:
    script = """
        import asyncio

        async def main(request):
            try:
                await request.wait_for_event("paid", key="order-1", timeout=60)
            except request.WaitTimeout as error:
                assert isinstance(error, TimeoutError) and isinstance(error, request.StepError)
                first = str(error)
            each = [request.wait_for_event("paid", key=key) for key in ("order-2", "order-3")]
            return [first, *await asyncio.gather(*each)]
    """
    job = executor.plane.job
    assert waits(executor.run(script, **AT_ONCE)) == [1]
    job.time_out(1)
    assert waits(executor.run(script, **AGAIN)) == [2, 3]
    job.send(3, "three")
    assert waits(executor.run(script, **AGAIN)) == [2]
    job.send(2)
    assert executor.run(script, **AGAIN).value == ["no event paid came in time", None, "three"]
    assert job.awaited == {
        1: ("paid", "order-1", 60),
        2: ("paid", "order-2", None),
        3: ("paid", "order-3", None),
    }


def test_a_timeout_that_ends_the_script_waits_again_in_the_next_attempt(executor: Executor) -> None:
    script = 'def main(request): return request.wait_for_event("go", timeout=5)'
    job = executor.plane.job
    assert waits(executor.run(script, **AT_ONCE)) == [1]
    job.time_out(1)
    assert "no event go came in time" in executor.run(script, **AGAIN).last["message"]
    assert waits(executor.run(script, **merged(AGAIN, {"attempt": 2}))) == [2]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('wait_for_event("")', "the name of an event must have 1 to 200 characters"),
        ("wait_for_event(7)", "the name of an event is an int; it must be a str"),
        ('wait_for_event("a", key="k" * 201)', "the key of an event must have 1 to 200 characters"),
        ('wait_for_event("a", key=b"k")', "the key of an event is a bytes; it must be a str"),
        ('wait_for_event("a", timeout=-1)', "timeout"),
    ],
)
def test_bad_arguments(executor: Executor, call: str, message: str) -> None:
    end = executor.run(f"def main(request):\n    request.{call}")
    assert message in end.last["message"]
    assert not executor.plane.job.steps


def test_another_event_diverges(executor: Executor) -> None:
    script = 'def main(request): request.wait_for_event("a", key=str(request.attempt))'
    assert waits(executor.run(script, **AT_ONCE)) == [1]
    executor.plane.job.send(1)
    end = executor.run(script, **merged(AGAIN, {"attempt": 2}))
    assert end.reason == "replay_diverged"
    assert "asks for the event 'a 2' where the job has stored the event 'a 1'" in end.last["message"]
