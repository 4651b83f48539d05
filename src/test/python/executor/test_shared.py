"""Several executions at a time in one process (`requests_per_process`)."""

import os
import signal
import sys
import textwrap
import time
from pathlib import Path
from typing import Any

from executor import Executor, wait_until

SHARED = {"agent": {"requests_per_process": 5}}
WAITS = """
    import asyncio, os

    started = []
    go = None

    async def main(request):
        global go
        go = go or asyncio.Event()
        started.append(request.payload)
        if len(started) == {count}:
            go.set()
        await go.wait()
        {then}
"""


def waiting(count: int, then: str = "return os.getpid()") -> str:
    """A script whose executions wait until there are so many of them."""
    body = textwrap.indent(textwrap.dedent(then).strip(), "    ")
    return textwrap.dedent(WAITS).replace("{count}", str(count)).replace("    {then}", body)


def submit(executor: Executor, script: str, count: int, **changes: Any) -> "list[str]":
    return [
        executor.submit(script, **{"payload": str(number), "agent": {"requests_per_process": 5}, **changes})
        for number in range(count)
    ]


def test_executions_overlap_in_one_process(executor: Executor) -> None:
    names = submit(executor, waiting(5), 5)
    results = [executor.finished(name) for name in names]
    assert len({result.value for result in results}) == 1
    assert all(result.types == ["started", "returned"] for result in results)


def test_no_more_than_there_are_places(executor: Executor) -> None:
    script = """
        import asyncio
        now = most = 0

        async def main():
            global now, most
            now += 1
            most = max(most, now)
            await asyncio.sleep(0.05)
            now -= 1
            return most
    """
    names = submit(executor, script, 12)
    assert max(executor.finished(name).value for name in names) == 5
    running = [len(poll.get("running", ())) for _, poll in executor.plane.polls]
    assert max(running) == 4, "it polls only while it has a place"


def test_the_module_is_imported_once(executor: Executor) -> None:
    script = """
        print("imported")
        count = 0

        async def main():
            global count
            count += 1
            return count
    """
    first = executor.run(script, **SHARED)
    second = executor.run(script, **SHARED)
    assert (first.value, first.lines) == (1, ["imported"])
    assert (second.value, second.lines) == (2, [])


def test_output_goes_to_its_execution(executor: Executor) -> None:
    then = """
        import logging, sys
        n = request.payload
        print("begin", n, end=" ", flush=True)
        await asyncio.sleep(0)
        print("end", n)
        print("error", n, file=sys.stderr)
        logging.getLogger("a.b").warning("logged %s", n)
        await asyncio.to_thread(print, "thread", n)
        async def say():
            print("task", n)

        await asyncio.create_task(say())
        sys.stdout.buffer.write(b"bytes %d\\n" % n)
        sys.stdout.flush()
    """
    names = submit(executor, waiting(5, then), 5)
    for number, name in enumerate(names):
        entries = executor.finished(name).entries
        shown = [(entry["stream"], entry["message"]) for entry in entries]
        assert shown == [
            ("stdout", f"begin {number} end {number}"),
            ("stderr", f"error {number}"),
            ("logging", f"logged {number}"),
            ("stdout", f"thread {number}"),
            ("stdout", f"task {number}"),
            ("stdout", f"bytes {number}"),
        ]
        assert (entries[2]["level"], entries[2]["logger"]) == ("WARNING", "a.b")


def test_output_outside_of_executions_is_the_executors(executor: Executor) -> None:
    script = """
        import subprocess, threading

        async def main():
            subprocess.run(["echo", "of a process"])
            thread = threading.Thread(target=print, args=("of a thread",))
            thread.start()
            thread.join()
            print("mine")
    """
    result = executor.run(script, **SHARED)
    # From Python 3.14 on, threads may inherit the context.
    assert [line for line in result.lines if line != "of a thread"] == ["mine"]
    log = executor.directory / "agent.log"
    wait_until(lambda: " stdout] of a process\n" in log.read_text())
    if sys.version_info < (3, 14):
        assert " stdout] of a thread\n" in log.read_text()


def test_a_failure_is_one_executions(executor: Executor) -> None:
    then = """
        if request.payload == 1:
            raise ValueError("one")
        if request.payload == 2:
            import sys
            sys.exit("two")
        await asyncio.sleep(0.05)
        return request.payload
    """
    names = submit(executor, waiting(4, then), 4)
    results = [executor.finished(name) for name in names]
    assert (results[0].value, results[3].value) == (0, 3)
    assert results[1].reason == "exception"
    error = results[1].last["error"]
    assert (error["type"], error["message"]) == ("ValueError", "one")
    assert error["traceback"].startswith('Traceback (most recent call last):\n  File "agent.py"')
    assert "roost_executor" not in error["traceback"]
    assert results[2].reason == "exited"
    assert results[2].lines == ["two"]


def test_a_cancel_is_one_executions(executor: Executor) -> None:
    then = """
        print("waits")
        try:
            await asyncio.sleep(0.3 if request.payload else 60)
        finally:
            print("over", request.payload)
        return request.payload
    """
    names = submit(executor, waiting(3, then), 3)
    executor.logged(names[0], "waits")
    executor.plane.cancel(names[0])
    cancelled = executor.finished(names[0])
    assert (cancelled.last["state"], cancelled.reason) == ("cancelled", "cancelled")
    assert cancelled.lines == ["waits", "over 0"]
    assert [executor.finished(name).value for name in names[1:]] == [1, 2]


def test_a_deadline_is_one_executions(executor: Executor) -> None:
    script = """
        import asyncio

        async def main(request):
            await asyncio.sleep(request.payload)
            return "done"
    """
    late = executor.submit(script, payload="60", timeout_seconds=0.5, **SHARED)
    other = executor.submit(script, payload="1", **SHARED)
    assert executor.finished(late).last["state"] == "timed_out"
    assert executor.finished(other).value == "done"


def test_tasks_end_with_their_execution(executor: Executor) -> None:
    script = """
        import asyncio
        ended = []

        async def forever(n):
            try:
                await asyncio.sleep(3600)
            finally:
                ended.append(n)

        async def main(request):
            if request.payload is not None:
                asyncio.create_task(forever(request.payload))
                await asyncio.sleep(0)
            return list(ended)
    """
    assert executor.run(script, payload="1", **SHARED).value == []
    assert executor.run(script, **SHARED).value == [1]


BLOCKS = """
    import asyncio, time

    async def main(request):
        print("begins")
        await asyncio.sleep(0.2)
        if request.payload == 0:
            time.sleep(3600)
        await asyncio.sleep(3600)
"""


def test_an_execution_that_blocks_is_ended_with_its_process(executor: Executor) -> None:
    blocking = executor.submit(BLOCKS, payload="0", timeout_seconds=1.0, limits={"grace_seconds": 0.3}, **SHARED)
    other = executor.submit(BLOCKS, payload="1", limits={"grace_seconds": 0.3}, **SHARED)
    assert executor.finished(blocking).last["state"] == "timed_out"
    lost = executor.finished(other)
    assert (lost.last["state"], lost.reason) == ("lost", "executor_lost")
    assert blocking in lost.last["message"]
    # The executor goes on, with another process.
    assert executor.run(BLOCKS, payload="2", timeout_seconds=1.0, **SHARED).last["state"] == "timed_out"


def test_the_end_of_the_process_fails_all_in_it(executor: Executor) -> None:
    then = """
        if request.payload == 2:
            os._exit(3)
        await asyncio.sleep(3600)
    """
    names = submit(executor, waiting(3, then), 3)
    for name in names:
        result = executor.finished(name)
        assert (result.last["state"], result.reason) == ("failed", "exited")
        assert "status 3" in result.last["message"]
    # The next one has another process, where the events and lists of the script are new.
    again = executor.submit("", payload="2", **SHARED)
    executor.plane.wait_for(lambda: executor.plane.frames.get(again))


def test_memory_is_the_processs(executor: Executor) -> None:
    script = """
        import asyncio
        kept = []

        async def main(request):
            print("begins")
            if request.payload:
                kept.append(bytes(range(256)) * (4096 * request.payload))
            await asyncio.sleep(3600)
    """
    other = executor.submit(script, payload="0", memory_mib=100, **SHARED)
    executor.logged(other, "begins")
    large = executor.submit(script, payload="200", memory_mib=100, **SHARED)
    assert executor.finished(large).reason == "out_of_memory"
    assert executor.finished(other).reason == "out_of_memory"


def test_main_must_be_async(executor: Executor) -> None:
    result = executor.run("def main():\n    print('runs')", **SHARED)
    assert result.reason == "bad_signature"
    assert result.last["message"] == (
        "line 1: `main` isn't async, and the agent's requests_per_process is 5. "
        "Define `async def main`, or set requests_per_process to 1"
    )
    assert result.lines == []


def test_an_import_that_fails_is_tried_again_in_another_process(executor: Executor, tmp_path: Path) -> None:
    script = f"""
        import os, pathlib
        count = pathlib.Path({str(tmp_path / "count")!r})
        count.write_text(str(os.getpid()) + " " + (count.read_text() if count.exists() else ""))
        if len(count.read_text().split()) == 1:
            import nowhere

        async def main():
            return len(set(count.read_text().split()))
    """
    assert executor.run(script, **SHARED).reason == "import_error"
    assert executor.run(script, **SHARED).value == 2


def test_a_suspended_execution_leaves_the_process_to_the_others(executor: Executor) -> None:
    script = """
        import asyncio, os

        async def main(request):
            if request.payload:
                await asyncio.sleep(2)
                return os.getpid()
            helper = asyncio.create_task(asyncio.sleep(1.5))
            helper.add_done_callback(lambda _: print("helper"))
            try:
                await request.sleep(3600)
            finally:
                print("finally")
    """
    sleeping = executor.submit(script, payload="0", limits={"suspend_after_seconds": 0.1}, **SHARED)
    other = executor.submit(script, payload="1", **SHARED)
    suspended = executor.finished(sleeping)
    assert suspended.last["type"] == "suspended"
    assert suspended.last["waits"] == [1]
    assert suspended.lines == []
    pid = executor.finished(other).value
    assert "finally" not in (executor.directory / "agent.log").read_text()
    # What it has left ends with the process, which another one replaces when it is idle.
    wait_until(lambda: not Path(f"/proc/{pid}").exists())
    assert executor.run(script, payload="1", **SHARED).value != pid


def test_steps_streams_stores_and_files_are_the_executions_own(executor: Executor) -> None:
    then = """
        n = request.payload

        async def double(n):
            await asyncio.sleep(0.02)
            return 2 * n

        # The plane has one job alone, whose steps are numbered.
        value = await request.step("double", double, n) if n == 1 else 2 * n
        request.emit({"n": n})
        request.progress(0.5, f"half of {n}")
        request.stores["main"][f"key{n}"] = n
        await asyncio.sleep(0.05)
        request.artifact(b"%d" % n, name="made.txt")
        return value + request.stores["main"][f"key{n}"]
    """
    names = submit(executor, waiting(3, then), 3)
    assert [executor.finished(name).value for name in names] == [0, 3, 6]
    paths = {path for path, _ in executor.plane.requests}
    for name in names:
        assert {f"/internal/v1/executions/{name}/{part}" for part in ("stream", "files")} <= paths
    assert {path for path in paths if path.endswith("/steps")} == {f"/internal/v1/executions/{names[1]}/steps"}


def test_an_async_generator_is_streamed(executor: Executor) -> None:
    script = """
        import asyncio

        async def main(request):
            for n in range(3):
                yield {"n": n, "of": request.payload}
                await asyncio.sleep(0.01)
    """
    names = submit(executor, script, 2)
    assert [executor.finished(name).value for name in names] == [None, None]


def test_an_exception_that_nobody_retrieves_is_logged_by_its_execution(executor: Executor) -> None:
    script = """
        import asyncio, gc

        async def fails():
            raise ValueError("nobody")

        async def main(request):
            if request.payload:
                task = asyncio.create_task(fails())
                await asyncio.sleep(0)
                del task
                gc.collect()
                await asyncio.sleep(0.05)
            else:
                await asyncio.sleep(0.1)
    """
    names = submit(executor, script, 2)
    quiet, loud = (executor.finished(name) for name in names)
    assert quiet.lines == []
    if sys.version_info >= (3, 12):
        assert "Task exception was never retrieved" in "\n".join(loud.lines)


def test_a_draft_has_a_process_of_its_own(executor: Executor) -> None:
    script = """
        import asyncio, os

        async def main():
            await asyncio.sleep(0.5)
            return os.getpid()
    """
    agents = executor.submit(script, **SHARED)
    draft = executor.submit(script, draft="import os\nasync def main():\n    return os.getpid()", **SHARED)
    pids = {executor.finished(agents).value, executor.finished(draft).value}
    assert len(pids) == 2
    assert executor.run(script, **SHARED).value in pids
    assert not list(executor.directory.glob("draft-*"))


def test_the_poll_says_what_runs_and_repeated_work_is_not_begun_twice(executor: Executor) -> None:
    script = """
        import asyncio
        count = 0

        async def main(request):
            global count
            count += 1
            await asyncio.sleep(0.5)
            return count
    """
    name = executor.submit(script, **SHARED)
    executor.plane.wait_for(lambda: any(poll.get("running") == [name] for _, poll in executor.plane.polls))
    executor.submit(script, execution_id=name, **SHARED)
    assert executor.finished(name).value == 1


def test_a_killed_runner_loses_all(executor: Executor) -> None:
    names = submit(executor, waiting(9), 3)
    executor.plane.wait_for(lambda: all(executor.plane.frames.get(name) for name in names))
    os.kill(executor.runner, signal.SIGKILL)
    for name in names:
        result = executor.finished(name)
        assert (result.last["state"], result.reason) == ("lost", "executor_lost")


def test_an_execution_that_is_gone_ends_and_the_others_go_on(executor: Executor) -> None:
    then = """
        print("waits")
        await asyncio.sleep(60 if request.payload == 0 else 1)
        return request.payload
    """
    names = submit(executor, waiting(2, then), 2)
    executor.logged(names[0], "waits")
    executor.plane.disown(names[0])
    assert executor.finished(names[1]).value == 1
    # Its place is free again.
    executor.plane.wait_for(lambda: executor.plane.polls[-1][1].get("running") == [])


def test_frames_are_kept_while_the_control_plane_is_away(executor: Executor) -> None:
    names = submit(executor, waiting(3, 'print("line"); await asyncio.sleep(0.3); return request.payload'), 3)
    executor.plane.wait_for(lambda: all(executor.plane.frames.get(name) for name in names))
    executor.plane.stop()
    time.sleep(0.6)
    executor.plane.start()
    for number, name in enumerate(names):
        result = executor.finished(name)
        assert (result.value, result.lines) == (number, ["line"])


def test_the_number_of_executions_is_not_limited_by_their_descriptors(executor: Executor) -> None:
    changes = {"agent": {"requests_per_process": 60}}
    names = submit(executor, waiting(60), 60, **changes)
    assert len({executor.finished(name).value for name in names}) == 1
