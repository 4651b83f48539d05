"""Values that scripts emit, and their progress."""

import threading
import time
from typing import Any

import pytest
from executor import Executor, merged

AT_ONCE: "dict[str, Any]" = {"limits": {"suspend_after_seconds": 0.0}}
AGAIN: "dict[str, Any]" = merged(AT_ONCE, {"has_steps": True})


def test_values_are_emitted_in_order_before_the_end(executor: Executor) -> None:
    end = executor.run(
        """
        def main(request):
            for n in range(1000):
                request.emit({"n": n})
            request.emit("é\\n\\u2028")
            return "done"
        """
    )
    assert end.value == "done"
    assert executor.plane.stream.values == [*({"n": n} for n in range(1000)), "é\n\u2028"]


def test_a_generator_emits_what_it_yields_and_returns_what_it_returns(executor: Executor) -> None:
    end = executor.run(
        """
        def part():
            yield 2
            return 3

        def main(request):
            yield 1
            value = yield from part()
            request.emit("between")
            yield None
            return value
        """
    )
    assert end.value == 3
    assert executor.plane.stream.values == [1, 2, "between", None]


def test_an_asynchronous_generator(executor: Executor) -> None:
    end = executor.run(
        """
        import asyncio

        async def main(request):
            for n in range(3):
                await asyncio.sleep(0.01)
                yield n
        """
    )
    assert end.value is None
    assert executor.plane.stream.values == [0, 1, 2]


def test_a_generator_that_ends_at_once_and_an_iterator_that_is_none(executor: Executor) -> None:
    assert executor.run("def main():\n    return 7\n    yield").value == 7
    assert executor.plane.stream.values == []


def test_an_iterator_is_not_a_stream(executor: Executor) -> None:
    assert executor.run("def main():\n    return iter([1])").reason == "not_json"


def test_the_first_value_comes_while_the_script_runs(executor: Executor) -> None:
    name = executor.submit(
        """
        import time
        def main(request):
            yield 1
            time.sleep(60)
        """
    )
    executor.plane.wait_for(lambda: executor.plane.stream.values == [1])
    executor.plane.cancel(name)
    assert executor.finished(name).last["state"] == "cancelled"


def test_a_failure_comes_after_the_values_before_it(executor: Executor) -> None:
    end = executor.run("def main():\n    yield 1\n    yield 2\n    raise KeyError('x')")
    assert end.reason == "exception" and end.last["error"]["line"] == 4
    assert executor.plane.stream.values == [1, 2]


@pytest.mark.parametrize(
    "end", ["import sys; sys.exit(0)", "import sys; sys.exit(3)", "raise SystemExit", "request.sleep(3600)"]
)
def test_whatever_ends_the_script_its_values_are_stored(executor: Executor, end: str) -> None:
    executor.run(f"def main(request):\n    for n in range(200): request.emit(n)\n    {end}", **AT_ONCE)
    assert executor.plane.stream.values == list(range(200))


def test_what_is_no_json_is_raised_where_it_is_yielded(executor: Executor) -> None:
    end = executor.run(
        """
        def main(request):
            try:
                yield {1, 2}
            except TypeError as error:
                yield str(error)
            request.emit(float("nan"))
        """
    )
    assert executor.plane.stream.values == ["the value isn't JSON: $ is a set"]
    assert end.last["error"]["line"] == 7 and "isn't JSON" in end.last["message"]


def test_a_value_that_is_too_large(executor: Executor) -> None:
    end = executor.run(
        """
        async def main(request):
            try:
                yield "x" * 2000
            except request.StreamError as error:
                yield str(error)
        """,
        limits={"stream_value_bytes": 1000},
    )
    assert end.value is None
    assert executor.plane.stream.values[0].startswith("the value is 2,002 bytes of JSON; the limit is 1,000.")


def test_values_that_cannot_be_stored_end_the_script(executor: Executor) -> None:
    executor.plane.stream.most = 3
    end = executor.run("def main():\n    while True:\n        yield 1")
    assert end.reason == "exception" and end.last["error"]["type"].endswith("StreamError")
    assert "too many values" in end.last["message"]


def test_values_that_cannot_be_stored_at_the_end_fail_it(executor: Executor) -> None:
    executor.plane.stream.most = 0
    end = executor.run("def main(request):\n    request.emit(1)\n    return 5")
    assert end.reason == "exception" and "too many values" in end.last["message"]


def test_an_outage_is_waited_for_and_nothing_is_doubled(executor: Executor) -> None:
    seen: list[int] = []

    def fault(last: str) -> Any:
        if last != "stream":
            return None
        seen.append(1)
        return (503, {"code": "unavailable"}) if len(seen) % 3 else None

    executor.plane.fault = fault
    end = executor.run("def main():\n    for n in range(50):\n        yield n")
    assert end.last["type"] == "returned"
    assert executor.plane.stream.values == list(range(50))


def test_a_script_waits_while_too_much_is_unsent(executor: Executor) -> None:
    """64 MiB of values are emitted, of which the process holds two at most."""
    paused = threading.Event()

    def fault(last: str) -> Any:
        return None if last != "stream" or paused.is_set() else (503, {"code": "unavailable"})

    executor.plane.fault = fault
    name = executor.submit(
        """
        import resource
        def main(request):
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            for n in range(512):
                request.emit("x" * 131_072)
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        """,
        timeout_seconds=120,
    )
    time.sleep(1)
    assert name not in executor.plane.frames or executor.plane.frames[name][-1]["type"] == "started"
    paused.set()
    end = executor.finished(name)
    assert len(executor.plane.stream.values) == 512
    assert end.value < 16 * 1024, "KiB"


def test_many_small_values_come_in_few_requests(executor: Executor) -> None:
    executor.run("def main():\n    yield from range(50_000)")
    assert executor.plane.stream.values == list(range(50_000))
    assert len(executor.plane.stream.requests) < 5_000


def test_an_attempt_that_continues_emits_nothing_twice(executor: Executor) -> None:
    script = """
        def main(request):
            yield "before"
            request.sleep(3600)
            yield "after"
    """
    assert executor.run(script, **AT_ONCE).last["type"] == "suspended"
    assert executor.plane.stream.values == ["before"]
    executor.plane.job.steps[0]["until"] = "2000-01-01T00:00:00Z"
    assert executor.run(script, **AGAIN).last["type"] == "returned"
    assert executor.plane.stream.values == ["before", "after"]


def test_what_stored_steps_have_emitted_is_counted(executor: Executor) -> None:
    script = """
        def inner(request, n):
            request.emit(["inner", n])

        def outer(request):
            request.emit("outer")
            request.step("inner", inner, request, 1)
            request.emit("outer again")

        def failing(request):
            request.emit("failing")
            raise OSError(5, "no")

        def main(request):
            yield 1
            request.step("outer", outer, request)
            try:
                request.step("failing", failing, request, attempts=2, delay=0)
            except OSError:
                yield 2
            request.sleep(3600)
            yield 3
            request.step("inner", inner, request, 2)
            request.sleep(3600)
            yield 4
    """
    stream, job = executor.plane.stream, executor.plane.job
    before = [1, "outer", ["inner", 1], "outer again", "failing", "failing", 2]
    assert executor.run(script, **AT_ONCE).last["type"] == "suspended"
    assert stream.values == before
    assert [step.get("emitted") for step in job.steps] == [1, 3, 2, None]
    job.steps[3]["until"] = "2000-01-01T00:00:00Z"
    assert executor.run(script, **AGAIN).last["type"] == "suspended"
    assert stream.values == [*before, 3, ["inner", 2]]
    job.steps[5]["until"] = "2000-01-01T00:00:00Z"
    assert executor.run(script, **AGAIN).last["type"] == "returned"
    assert stream.values == [*before, 3, ["inner", 2], 4]


def test_steps_in_threads_and_tasks_count_what_they_emit(executor: Executor) -> None:
    script = """
        import asyncio

        def plain(request, n):
            request.emit(n)

        async def nested(request, n):
            await request.step("plain", plain, request, n)
            request.emit(-n)

        async def main(request):
            await asyncio.gather(*(request.step(f"step {n}", nested, request, n) for n in range(1, 20)))
            await request.sleep(3600)
            yield "end"
    """
    assert executor.run(script, **AT_ONCE).last["type"] == "suspended"
    stream, job = executor.plane.stream, executor.plane.job
    assert sorted(stream.values) == [*range(-19, 0), *range(1, 20)]
    assert {step.get("emitted") for step in job.steps[:-1]} == {1, 2}
    job.steps[-1]["until"] = "2000-01-01T00:00:00Z"
    assert executor.run(script, **AGAIN).last["type"] == "returned"
    assert len(stream.values) == 39 and stream.values[-1] == "end"


def test_progress_is_sent_but_not_each_of_it(executor: Executor) -> None:
    end = executor.run(
        """
        def main(request):
            for n in range(10_000):
                request.progress(n / 10_000, f"reading {n}")
            request.progress(1)
        """
    )
    assert end.last["type"] == "returned"
    progress = executor.plane.stream.progress
    assert progress[0]["message"].startswith("reading") and progress[-1] == {"fraction": 1.0}
    assert len(progress) < 200


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ('progress("half")', "the fraction is a str; it must be a number from 0 to 1"),
        ("progress(1.5)", "the fraction is 1.5; it must be from 0 to 1"),
        ("progress(True)", "the fraction is a bool"),
        ("progress(None, 7)", "the message is an int; it must be a str"),
    ],
)
def test_bad_progress(executor: Executor, call: str, message: str) -> None:
    assert message in executor.run(f"def main(request):\n    request.{call}").last["message"]


def test_progress_that_is_refused_ends_nothing(executor: Executor) -> None:
    executor.plane.fault = lambda last: (422, {"code": "validation_failed"}) if last == "stream" else None
    assert executor.run("def main(request):\n    request.progress(0.5)\n    return 1").value == 1


def test_another_process_cannot_emit(executor: Executor) -> None:
    end = executor.run(
        """
        import multiprocessing, os
        def child(request, queue):
            try:
                request.emit(1)
            except request.StreamError as error:
                queue.put(str(error))

        def main(request):
            request.emit(0)
            context = multiprocessing.get_context("fork")
            queue = context.Queue()
            process = context.Process(target=child, args=(request, queue))
            process.start()
            return queue.get(timeout=30)
        """
    )
    assert "another process can't" in end.value
    assert executor.plane.stream.values == [0]


def test_threads_may_emit(executor: Executor) -> None:
    executor.run(
        """
        import threading
        def main(request):
            threads = [threading.Thread(target=lambda n=n: [request.emit(n) for _ in range(100)]) for n in range(4)]
            for thread in threads: thread.start()
            for thread in threads: thread.join()
        """
    )
    assert sorted(executor.plane.stream.values) == sorted(n for n in range(4) for _ in range(100))


def test_after_main_nothing_is_emitted(executor: Executor) -> None:
    executor.run(
        """
        import atexit
        def late(request):
            try:
                request.emit("late")
            except request.StreamError as error:
                print(error)
        def main(request):
            atexit.register(late, request)
            yield 1
        """
    )
    assert executor.plane.stream.values == [1]


def test_without_values_no_request_is_sent(executor: Executor) -> None:
    executor.run("def main(request):\n    return 1")
    assert not [path for path, _ in executor.plane.requests if path.endswith("stream")]
