"""Calls of other agents: `request.call` and `request.map`."""

import threading
import time
from typing import Any

import pytest
from executor import Executor, merged

# A wait of unknown length ends the process after half a second, or at once.
AT_ONCE: "dict[str, Any]" = {"limits": {"suspend_after_seconds": 0.0}}
AGAIN: "dict[str, Any]" = merged(AT_ONCE, {"has_steps": True})
SUM = """
    def main(request):
        first = request.call("double", {"n": 20})
        second = request.call("double", {"n": first}, name="again")
        return first + second
"""


def test_a_call_ends_the_process_and_its_value_continues_it(executor: Executor) -> None:
    job = executor.plane.job
    assert waits(executor.run(SUM, **AT_ONCE)) == ([1], True)
    assert job.called == [("double", {"n": 20})]
    assert waits(executor.run(SUM, **AGAIN)) == ([1], True)
    job.end_call(1, 40)
    assert waits(executor.run(SUM, **AGAIN)) == ([2], True)
    job.end_call(2, 80)
    assert executor.run(SUM, **AGAIN).value == 120
    assert job.called == [("double", {"n": 20}), ("double", {"n": 40})]
    assert [(step["kind"], step["name"]) for step in job.steps] == [("call", "double"), ("call", "again")]


def test_a_call_that_ends_soon_keeps_the_process(executor: Executor) -> None:
    job = executor.plane.job

    def answer() -> None:
        for number in (1, 2):
            while len(job.steps) < number:
                time.sleep(0.01)
            job.end_call(number, number)

    thread = threading.Thread(target=answer)
    thread.start()
    assert executor.run(SUM, **merged(AT_ONCE, {"limits": {"suspend_after_seconds": 60.0}})).value == 3
    thread.join()


def test_a_call_takes_files_along(executor: Executor) -> None:
    script = """
        from pathlib import Path

        def main(request):
            made = request.artifact(b"made", name="made.bin")
            Path("notes.txt").write_text("notes")
            files = {"made": made, "notes": Path("notes.txt"), "same": "notes.txt", "raw": b"raw"}
            return request.call("read", files=files)
    """
    job, files = executor.plane.job, executor.plane.files
    assert waits(executor.run(script, **AT_ONCE)) == ([1], True)
    (sent,) = job.called_with
    contents = {name: files.of(identifier)["content"] for name, identifier in sent.items()}
    assert contents == {"made": b"made", "notes": b"notes", "same": b"notes", "raw": b"raw"}
    assert [files.of(sent[name])["name"] for name in ("notes", "raw")] == ["notes.txt", "raw"]
    # A run that continues doesn't store again what the call has.
    stored = len(files.made)
    job.end_call(1, "read")
    assert executor.run(script, **AGAIN).value == "read"
    assert len(files.made) == stored + 1, "the artifact that the script makes itself"


@pytest.mark.parametrize("is_async", [False, True])
def test_map_waits_for_all(executor: Executor, is_async: bool) -> None:
    script = "async def main(request):\n    return await" if is_async else "def main(request):\n    return"
    script += " request.map('double', (n for n in range(3)))"
    job = executor.plane.job
    assert waits(executor.run(script, **AT_ONCE)) == ([1, 2, 3], True)
    assert job.called == [("double", 0), ("double", 1), ("double", 2)]
    job.end_call(2, "two")
    assert waits(executor.run(script, **AGAIN)) == ([1, 3], True)
    job.end_call(1, "one")
    job.end_call(3, None)
    assert executor.run(script, **AGAIN).value == ["one", "two", None]


def test_map_of_nothing(executor: Executor) -> None:
    assert executor.run("def main(request):\n    return request.map('double', [])", **AT_ONCE).value == []


def test_what_waits_at_the_same_time_continues_with_the_first(executor: Executor) -> None:
    script = """
        import asyncio

        async def both(request, name):
            value = await request.call("double", name, name=name)
            return await request.step("of " + name, str.upper, value)

        async def main(request):
            sleep = request.sleep(3600, name="pause")
            return await asyncio.gather(both(request, "a"), both(request, "b"), sleep)
    """
    job = executor.plane.job
    numbers, are_all = waits(executor.run(script, **AT_ONCE))
    assert (len(numbers), are_all) == (3, False)
    (first,) = (step["seq"] for step in job.steps if step["name"] == "a")
    job.end_call(first, "first")
    numbers, are_all = waits(executor.run(script, **AGAIN))
    assert (len(numbers), are_all) == (2, False)
    assert "of a" in job.names()
    assert "of b" not in job.names()


def test_the_failure_of_a_job_is_raised_and_a_retry_calls_again(executor: Executor) -> None:
    script = """
        def main(request):
            try:
                request.call("broken")
            except request.CallFailed as error:
                caught = [error.job_id, error.state, error.reason, error.message, str(error)]
            return [caught, request.call("double")]
    """
    job = executor.plane.job
    executor.run(script, **AT_ONCE)
    job.end_call(1, failure="KeyError: 'a'")
    executor.run(script, **AGAIN)
    job.end_call(2, failure="no")
    failed = executor.run(script, **AGAIN)
    assert failed.reason == "exception"
    assert failed.last["message"] == "roost_executor.script.step_errors.CallFailed: the job xjob_2 failed: no"
    assert [step["open"] for step in job.steps] == [False, True]
    again = merged(AGAIN, {"attempt": 2})
    assert waits(executor.run(script, **again)) == ([3], True)
    job.end_call(3, 1)
    message = "KeyError: 'a'"
    caught = ["xjob_1", "failed", "exception", message, f"the job xjob_1 failed: {message}"]
    assert executor.run(script, **again).value == [caught, 1]


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("request.call(3)", "TypeError: the agent is an int; it must be a str, a name or an identifier"),
        ("request.call('')", "ValueError: the agent has no name"),
        ("request.call('a', {1: {2}})", "TypeError: the payload of a call isn't JSON"),
        ("request.call('a', name=1)", "TypeError: the name of a call is a str, not an int"),
        ("request.call('a', files={'x': 1})", "TypeError: an artifact is a path or bytes, not int"),
        ("request.call('a', files={'x': 'missing.txt'})", "FileNotFoundError"),
        ("request.call('nobody')", "the agent 'nobody' can't be called: There is no agent"),
    ],
)
def test_wrong_uses_are_refused(executor: Executor, call: str, error: str) -> None:
    result = executor.run(f"def main(request):\n    {call}", **AT_ONCE)
    assert error in result.last["message"]
    assert executor.plane.job.steps == []


def test_another_step_in_place_of_a_call_is_found(executor: Executor) -> None:
    script = """
        def main(request):
            if request.attempt == 1:
                request.call("double")
            request.step("double", int)
    """
    executor.run(script, **AT_ONCE)
    result = executor.run(script, **merged(AGAIN, {"attempt": 2}))
    assert result.reason == "replay_diverged"
    assert "asks for the step 'double' where the job has stored the call 'double'" in result.last["message"]


def waits(result: Any) -> "tuple[list[int], bool]":
    assert result.last["type"] == "suspended", result.last
    return result.last["waits"], result.last["all"]
