"""Durable steps: `request.step`."""

import json
from typing import Any

import pytest
from executor import Executor

AGAIN: "dict[str, Any]" = {"attempt": 2, "has_steps": True}


def test_a_step_runs_once_in_a_job(executor: Executor) -> None:
    script = """
        import os

        def main(request):
            calls = []
            first = request.step("first", lambda n: calls.append(n) or (n, {"n": n}), 7)
            pages = [request.step("page", lambda n=n: calls.append(n) or n) for n in range(3)]
            if request.attempt == 1:
                raise RuntimeError("later")
            return [first, pages, calls]
    """
    first = executor.run(script)
    assert first.reason == "exception"
    assert [step["path"] for step in executor.plane.job.steps] == ["1", "2", "3", "4"]
    # A tuple is a list, in the first attempt as well.
    assert executor.run(script, **AGAIN).value == [[7, {"n": 7}], [0, 1, 2], []]


def test_the_value_is_the_same_in_every_attempt(executor: Executor) -> None:
    script = """
        def main(request):
            return repr([request.step("a", lambda: (1, 1.0, {1: None})), request.step("b", lambda: None)])
    """
    assert executor.run(script).value == "[[1, 1.0, {'1': None}], None]"
    assert executor.run(script, **AGAIN).value == "[[1, 1.0, {'1': None}], None]"


def test_nothing_is_sent_without_steps(executor: Executor) -> None:
    executor.run("def main(request): return 1")
    assert not [path for path, _ in executor.plane.requests if path.endswith("/steps")]


def test_a_step_is_one_request(executor: Executor) -> None:
    executor.run("def main(request): return [request.step('a', int), request.step('b', int)]")
    assert len([path for path, _ in executor.plane.requests if path.endswith("/steps")]) == 2


def test_steps_within_steps(executor: Executor) -> None:
    script = """
        def main(request):
            calls = []
            def inner(n):
                calls.append(n)
                return n
            def outer(n):
                calls.append("outer")
                values = [request.step("inner", inner, n), request.step("inner", inner, n + 1)]
                if request.attempt == 1 and n == 3:
                    raise RuntimeError("stop")
                return values
            return [request.step("outer", outer, 1), request.step("outer", outer, 3), calls]
    """
    assert executor.run(script).reason == "exception"
    paths = [step["path"] for step in executor.plane.job.steps]
    assert paths == ["1/1", "1/2", "1", "2/1", "2/2", "2"]
    assert executor.plane.job.steps[-1]["open"]
    # The outer one that failed runs again; what it had done is not done again.
    assert executor.run(script, **AGAIN).value == [[1, 2], [3, 4], ["outer"]]


def test_a_step_is_tried_again_after_a_pause(executor: Executor) -> None:
    result = executor.run(
        """
        def main(request):
            tries = []
            def flaky():
                tries.append(1)
                if len(tries) < 3:
                    raise ConnectionError(f"try {len(tries)}")
                return "done"
            return [request.step("flaky", flaky, attempts=5, delay=0.01), len(tries)]
        """
    )
    assert result.value == ["done", 3]
    assert [entry["level"] for entry in result.entries] == ["WARNING", "WARNING"]
    assert result.lines[0].startswith("step 'flaky' failed (ConnectionError: try 1); attempt 2 of 5 in 0.0 s")


def test_an_attempt_of_a_step_runs_again_what_failed_within_it(executor: Executor) -> None:
    result = executor.run(
        """
        def main(request):
            calls = []
            def inner():
                calls.append("inner")
                if calls.count("inner") == 1:
                    raise ValueError("once")
                return "fine"
            def outer():
                calls.append("outer")
                return [request.step("before", lambda: calls.append("before")), request.step("inner", inner)]
            return [request.step("outer", outer, attempts=2, delay=0), calls]
        """
    )
    assert result.value == [[None, "fine"], ["outer", "before", "inner", "outer", "inner"]]


def test_an_exception_that_the_script_handled_is_raised_again(executor: Executor) -> None:
    script = """
        import requests_stub

        class Refused(Exception):
            def __init__(self, code):
                super().__init__(code)
                self.code = code

        class Odd(Exception):
            def __init__(self, a, b):
                super().__init__(f"{a} and {b}")

        def fail(error):
            raise error

        def main(request):
            seen = []
            for error in (ValueError("no"), Refused(4), Odd(1, 2), OSError(2, "gone"), KeyError("k")):
                try:
                    request.step("fail", fail, error)
                except Exception as caught:
                    seen.append([type(caught).__name__, str(caught), getattr(caught, "code", None)])
            if request.attempt == 1:
                raise RuntimeError("later")
            assert not [e for e in seen if e[0] == "Never"]
            return seen
    """.replace("        import requests_stub\n", "")
    assert executor.run(script).reason == "exception"
    assert not [step for step in executor.plane.job.steps if step["open"]]
    assert executor.run(script, **AGAIN).value == [
        ["ValueError", "no", None],
        ["Refused", "4", 4],
        ["StepFailed", "agent.Odd: 1 and 2", None],
        ["FileNotFoundError", "[Errno 2] gone", None],
        ["KeyError", "'k'", None],
    ]


@pytest.mark.parametrize("wrap", ["raise", "raise RuntimeError('wrapped') from error", "sys.exit(3)"])
def test_a_retry_runs_a_step_again_whose_exception_ended_the_script(executor: Executor, wrap: str) -> None:
    script = f"""
        import sys

        def main(request):
            def fail():
                if request.attempt == 1:
                    raise ValueError("first")
                return "second"
            before = request.step("before", lambda: request.attempt)
            try:
                return [before, request.step("fail", fail)]
            except ValueError as error:
                {wrap}
    """
    assert executor.run(script).last["type"] == "failed"
    assert [step["open"] for step in executor.plane.job.steps] == [False, True]
    assert executor.run(script, **AGAIN).value == [1, "second"]
    assert executor.plane.job.names() == ["before", "fail", "fail"]


def test_after_a_failure_that_is_run_again_the_script_may_take_another_way(executor: Executor) -> None:
    script = """
        def main(request):
            def fail():
                if request.attempt == 1:
                    raise ValueError("first")
                return "fine"
            try:
                first = request.step("fail", fail)
            except ValueError as error:
                request.step("clean up", int)
                request.step("report", int)
                raise error
            return [first, request.step("go on", lambda: "done")]
    """
    assert executor.run(script).reason == "exception"
    assert executor.run(script, **AGAIN).value == ["fine", "done"]


def test_a_different_step_is_found(executor: Executor) -> None:
    script = """
        def main(request):
            request.step("same", int)
            try:
                request.step(f"step {request.attempt}", int)
            except Exception:
                pass
            request.step("last", int) if request.attempt == 2 else 1 / 0
    """
    assert executor.run(script).reason == "exception"
    result = executor.run(script, **AGAIN)
    assert result.reason == "replay_diverged"
    assert "asks for the step 'step 2' where the job has stored the step 'step 1' (step 2)" in result.last["message"]
    assert result.last["error"]["line"] == 5


@pytest.mark.parametrize("ending", ["return 1", "return request.step('a', int)"])
def test_a_step_that_is_left_out_is_found(executor: Executor, ending: str) -> None:
    script = f"""
        def main(request):
            if request.attempt == 2:
                {ending}
            request.step("a", int)
            request.step("b", int)
            1 / 0
    """
    assert executor.run(script).reason == "exception"
    result = executor.run(script, **AGAIN)
    assert result.reason == "replay_diverged"
    assert "without asking for the step" in result.last["message"]


def test_steps_at_the_same_time(executor: Executor) -> None:
    script = """
        import asyncio

        async def main(request):
            calls = []
            async def work(n):
                await asyncio.sleep(0.05 - n / 100)
                calls.append(n)
                return await request.step("inside", inside, n)
            async def inside(n):
                return n * 10
            def plain(n):
                return request.step("in a thread", lambda: n * 100)
            values = await asyncio.gather(*(request.step("work", work, n) for n in range(4)))
            values += await asyncio.gather(*(request.step("plain", plain, n) for n in range(2)))
            values.append(await request.step("lambda", lambda: inside(9)))
            timed = await request.step("timed", work, 5, timeout=30)
            assert request.attempt == 2
            return [values, timed, calls]
    """
    assert executor.run(script).reason == "exception"
    paths = {step["path"]: step for step in executor.plane.job.steps}
    assert sorted(paths) == sorted(
        ["1", "2", "3", "4", "1/1", "2/1", "3/1", "4/1", "5", "5/1", "6", "6/1", "7", "8", "8/1"]
    )
    assert [json.loads(paths[str(n)]["result"]) for n in range(1, 5)] == [0, 10, 20, 30]
    assert executor.run(script, **AGAIN).value == [[0, 10, 20, 30, 0, 100, 90], 50, []]


def test_steps_of_threads_and_tasks_are_known_by_their_names(executor: Executor) -> None:
    script = """
        import asyncio
        from concurrent.futures import ThreadPoolExecutor

        async def tasks(request):
            async def visit(name):
                return await request.step(name, lambda: name)
            return await asyncio.gather(*(visit(f"task/{n}") for n in range(3)))

        def main(request):
            with ThreadPoolExecutor(4) as pool:
                values = list(pool.map(lambda n: request.step(f"thread {n}", lambda: n), range(8)))
                values += asyncio.run(tasks(request))
                assert request.attempt == 2
                try:
                    list(pool.map(lambda n: request.step("same", int), range(2)))
                except request.StepError as error:
                    return [values, str(error)]
    """
    assert executor.run(script).reason == "exception"
    assert sorted(step["path"] for step in executor.plane.job.steps) == [
        *("~task%2F0", "~task%2F1", "~task%2F2"),
        *(f"~thread {n}" for n in range(8)),
    ]
    values, error = executor.run(script, **AGAIN).value
    assert values == [*range(8), "task/0", "task/1", "task/2"]
    assert error.startswith("there are two steps or sleeps 'same' in threads or tasks")


def test_timeouts(executor: Executor) -> None:
    result = executor.run(
        """
        import asyncio, threading, time

        def main(request):
            seen = []
            def slow(seconds):
                try:
                    time.sleep(seconds)
                except Exception:
                    return "handled"
                return "done"
            def outer():
                return request.step("inner", slow, 60, timeout=60)
            for name, function, limit in (("slow", lambda: slow(60), 0.05), ("outer", outer, 0.1), ("fine", int, 60)):
                try:
                    seen.append(request.step(name, function, timeout=limit))
                except request.StepTimeout as error:
                    seen.append([str(error), isinstance(error, TimeoutError)])
            async def late():
                async def sleeps():
                    await asyncio.sleep(60)
                try:
                    await request.step("async", sleeps, timeout=0.05)
                except request.StepTimeout as error:
                    seen.append(str(error))
            asyncio.run(late())
            def in_thread():
                try:
                    request.step("thread", int, timeout=1)
                except request.StepError as error:
                    seen.append(str(error))
            thread = threading.Thread(target=in_thread)
            thread.start()
            thread.join()
            return seen
        """
    )
    assert result.value == [
        ["the step 'slow' took longer than 0.05 s", True],
        ["the step 'outer' took longer than 0.1 s", True],
        0,
        "the step 'async' took longer than 0.05 s",
        "the timeout of the step 'thread' needs the main thread or an async main",
    ]
    # What a timeout around it has ended has no result.
    assert executor.plane.job.names() == ["slow", "outer", "fine", "async"]


def test_wrong_uses_are_refused(executor: Executor) -> None:
    result = executor.run(
        """
        import multiprocessing, os

        def other(request, results):
            try:
                request.step("a", int)
            except request.StepError as error:
                results.put(str(error))

        def deep(request, n):
            return request.step("deep", deep, request, n + 1)

        async def coroutine():
            pass

        def main(request):
            seen = []
            for call in (
                lambda: request.step(5, int),
                lambda: request.step("", int),
                lambda: request.step("a\\nb", int),
                lambda: request.step("a", 5),
                lambda: request.step("a", int, attempts=0),
                lambda: request.step("a", int, delay=-1),
                lambda: request.step("a", int, timeout=0),
                lambda: request.step("set", lambda: {"when": {1}}),
                lambda: request.step("coroutine", coroutine),
                lambda: deep(request, 0),
            ):
                try:
                    call()
                except Exception as error:
                    seen.append([type(error).__name__, str(error)])
            for method in ("fork", "spawn"):
                context = multiprocessing.get_context(method)
                results = context.Queue()
                process = context.Process(target=other, args=(request, results))
                process.start()
                seen.append(results.get())
                process.join()
            return seen
        """
    )
    *errors, forked, spawned = result.value
    assert errors == [
        ["TypeError", "the name of a step is a str, not an int"],
        ["ValueError", "the name of a step has 1 to 200 printable characters"],
        ["ValueError", "the name of a step has 1 to 200 printable characters"],
        ["TypeError", "the step 'a' needs a function and its arguments, not an int"],
        ["ValueError", "attempts is 0; it must be from 1 to 1,000"],
        ["ValueError", "delay is -1; it must be a number of seconds, 0 or more"],
        ["ValueError", "timeout is 0; it must be a number of seconds, above 0"],
        ["StepError", "the step 'set' returned a value that isn't JSON: $.when is a set"],
        ["StepError", "the step 'coroutine' is async: define `async def main` and await the step"],
        ["StepError", "'deep' is in 16 steps; steps can't be nested more deeply"],
    ]
    assert forked == spawned == "a request belongs to the process of main; another process can't use it for this"


def test_many_steps_are_read_in_pages(executor: Executor) -> None:
    script = """
        def main(request):
            values = [request.step("n", lambda: n) for n in range(25)]
            assert request.attempt == 2
            return values
    """
    executor.plane.job.page = 10
    assert executor.run(script).reason == "exception"
    assert executor.run(script, **AGAIN).value == list(range(25))


def test_a_result_that_can_not_be_stored_fails_the_script(executor: Executor) -> None:
    executor.plane.job.most = 2
    script = """
        def main(request):
            for n in range(5):
                try:
                    request.step(f"n {n}", int)
                except request.StepError as error:
                    last = str(error)
            return last
    """
    assert executor.run(script).value == "the result of the step 'n 2' can't be stored: too many steps"
    assert executor.plane.job.names() == ["n 0", "n 1"]


def test_a_lost_response_does_not_run_a_step_twice(executor: Executor) -> None:
    lost = []

    def lose(kind: str) -> Any:
        if kind == "steps" and len(lost) < 2:
            lost.append(kind)
            return 503, {"code": "unavailable"}
        return None

    executor.plane.fault = lose
    script = "def main(request): return [request.step('a', list), request.step('b', int)]"
    assert executor.run(script).value == [[], 0]
    assert executor.plane.job.names() == ["a", "b"]
