"""Waiting without a process: `request.sleep`."""

import time
from typing import Any

import pytest
from executor import Executor, merged

# An hour is long, a tenth of a second isn't.
LONG: "dict[str, Any]" = {"limits": {"suspend_after_seconds": 5.0}}
AGAIN: "dict[str, Any]" = merged(LONG, {"has_steps": True})


def passed(executor: Executor) -> None:
    """The time of all timers has come."""
    for step in executor.plane.job.steps:
        if "until" in step:
            step["until"] = "2020-01-01T00:00:00.000000Z"


def test_a_long_sleep_ends_the_process_and_another_one_continues(executor: Executor) -> None:
    script = """
        import atexit

        atexit.register(print, "exit handler")

        def main(request):
            calls = []
            first = request.step("first", lambda: calls.append(1) or "kept")
            try:
                print("before", flush=False)
                request.sleep(3600)
                return [first, calls, request.step("second", lambda: "new")]
            finally:
                print("finally")
    """
    before = time.time()
    suspended = executor.run(script, **LONG)
    assert suspended.last["type"] == "suspended"
    assert suspended.last["waits"] == [2]
    assert suspended.lines == ["before"]
    timer = executor.plane.job.steps[1]
    assert (timer["path"], timer["name"]) == ("2", "sleep")
    assert time.strftime("%Y-%m-%dT%H", time.gmtime(before + 3600)) == timer["until"][:13]
    # It is too early: the same again, and nothing new is stored.
    assert executor.run(script, **AGAIN).last["waits"] == [2]
    passed(executor)
    resumed = executor.run(script, **AGAIN)
    assert resumed.value == ["kept", [], "new"]
    assert resumed.lines == ["before", "finally", "exit handler"]
    assert executor.plane.job.names() == ["first", "sleep", "second"]


def test_a_short_sleep_keeps_the_process(executor: Executor) -> None:
    script = """
        import time

        def main(request):
            before = time.time()
            request.sleep(0.2)
            request.sleep(0)
            return time.time() - before
    """
    assert 0.2 <= executor.run(script, **LONG).value < 5


def test_without_the_control_planes_support_a_sleep_keeps_the_process(executor: Executor) -> None:
    script = """
        def main(request):
            request.sleep(1)
            return "awake"
    """
    assert executor.run(script).value == "awake"


def test_sleeps_until_a_time(executor: Executor) -> None:
    script = """
        from datetime import datetime, timedelta, timezone

        def main(request):
            request.sleep(until=datetime(2001, 1, 1, tzinfo=timezone.utc))
            request.sleep(until=datetime(2101, 1, 1, 2, tzinfo=timezone(timedelta(hours=2))))
    """
    assert executor.run(script, **LONG).last["waits"] == [2]
    assert executor.plane.job.steps[1]["until"] == "2101-01-01T00:00:00.000000Z"


def test_a_sleep_within_a_step(executor: Executor) -> None:
    script = """
        def outer(request):
            request.step("inner", lambda: print("inner"))
            request.sleep(3600)
            return "slept"

        def main(request):
            return request.step("outer", outer, request)
    """
    assert executor.run(script, **LONG).last["waits"] == [2]
    passed(executor)
    resumed = executor.run(script, **AGAIN)
    assert resumed.value == "slept"
    assert resumed.lines == []
    assert [step["path"] for step in executor.plane.job.steps] == ["1/1", "1/2", "1"]


def test_tasks_that_wait_let_others_end_first(executor: Executor) -> None:
    script = """
        import asyncio

        async def slow(n):
            await asyncio.sleep(1.5)
            print("slow", n)
            return n

        async def branch(request, n):
            await request.sleep(3600 + n)
            return await request.step(f"after {n}", slow, n)

        async def main(request):
            return await asyncio.gather(
                request.step("branch", branch, request, 0),
                request.step("slow", slow, 2),
                request.step("branch", branch, request, 1),
            )
    """
    suspended = executor.run(script, **LONG)
    assert suspended.lines == ["slow 2"]
    assert suspended.last["type"] == "suspended"
    assert sorted(suspended.last["waits"]) == [1, 2]
    passed(executor)
    assert executor.run(script, **AGAIN).value == [0, 2, 1]


def test_the_only_task_ends_the_process_at_once(executor: Executor) -> None:
    script = """
        async def main(request):
            await request.sleep(3600)
            return "slept"
    """
    assert executor.run(script, **LONG).last["waits"] == [1]
    passed(executor)
    assert executor.run(script, **AGAIN).value == "slept"


def test_another_step_in_place_of_a_sleep_is_found(executor: Executor) -> None:
    script = """
        def main(request):
            if request.attempt == 1:
                request.sleep(3600)
            request.step("sleep", int)
    """
    executor.run(script, **LONG)
    result = executor.run(script, **merged(AGAIN, {"attempt": 2}))
    assert result.reason == "replay_diverged"
    assert "asks for the step 'sleep' where the job has stored the sleep 'sleep' (step 1)" in result.last["message"]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("request.sleep()", "TypeError: request.sleep takes either seconds or until"),
        ("request.sleep('1')", "TypeError: seconds is a str; it must be a number of seconds"),
        ("request.sleep(-1)", "ValueError: seconds is -1; it must be a number of seconds, 0 or more"),
        ("request.sleep(1e12)", "ValueError: the sleep would end after the year 9999, or before 1970"),
        ("request.sleep(until=3)", "TypeError: until is an int; it must be a datetime"),
        ("request.sleep(until=datetime(2101, 1, 1))", "ValueError: until has no time zone"),
    ],
)
def test_wrong_uses_are_refused(executor: Executor, call: str, error: str) -> None:
    result = executor.run(f"""
        from datetime import datetime

        def main(request):
            {call}
    """)
    assert result.last["message"].startswith(error)
    assert executor.plane.job.steps == []
