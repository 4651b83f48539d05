"""The script contract: what a script gets, and what comes of what it does."""

import json
import re
from typing import Any, Callable

import pytest
from executor import Executor

Make = Callable[..., Executor]


def test_main_gets_the_request_and_the_store(executor: Executor) -> None:
    result = executor.run(
        """
        def main(request, store):
            return {
                "payload": request.payload, "agent": request.agent_id, "execution": request.execution_id,
                "job": request.executor_job_id, "scheduled": request.scheduled, "attempt": request.attempt,
                "deadline": request.deadline.utcoffset().total_seconds(),
                "time": request.scheduled_time.isoformat(), "stores": list(request.stores),
                "first": request.stores["main"] is store, "repr": repr(request)[:30],
            }
        """,
        payload='{"a": [1, null]}',
        scheduled_time="2026-11-21T18:12:41.5Z",
        attempt=3,
    )
    assert result.value == {
        "payload": {"a": [1, None]},
        "agent": "agent_contract",
        "execution": "exec_1",
        "job": "xjob_contract",
        "scheduled": True,
        "attempt": 3,
        "deadline": 0.0,
        "time": "2026-11-21T18:12:41.500000+00:00",
        "stores": ["main"],
        "first": True,
        "repr": "Request(payload={'a': [1, None",
    }


def test_a_job_without_payload_schedule_or_store(executor: Executor) -> None:
    result = executor.run(
        """
        def main(request, store):
            return [request.payload, request.scheduled, request.scheduled_time, store, dict(request.stores)]
        """,
        stores=[],
    )
    assert result.value == [None, False, None, None, {}]


def test_a_draft_runs_instead_of_the_script_and_leaves_nothing_behind(make_executor: Make) -> None:
    saved = """
        import os

        def main(request):
            return ["saved", __file__.split(os.sep)[-2:], os.listdir(os.path.dirname(os.path.dirname(__file__)))]
    """
    draft = "import fractions\n\ndef main(request):\n    return ['draft', __file__[-14:], request.payload]\n"
    executor = make_executor()
    names = {"draft": draft, "agent": {"preload": {"modules": None}}}
    assert executor.run(saved, payload="1", **names).value == ["draft", "draft/agent.py", 1]
    for _ in range(3):  # by forks of the runner and of the template
        value = executor.run(saved).value
        assert value[:2] == ["saved", ["script", "agent.py"]]
        assert "draft" not in value[2]
    assert executor.run(saved, payload="2", draft=draft).value == ["draft", "draft/agent.py", 2]
    failed = executor.run(saved, draft="def main(request):\n    return 1 / 0\n")
    assert failed.last["error"]["line"] == 2
    assert failed.last["error"]["traceback"].count("agent.py") == 1
    assert executor.run(saved, draft="def main(:\n").reason == "syntax_error"
    assert executor.run(saved).value[0] == "saved"
    learnt = [module for report in executor.plane.preloaded for module in report["modules"]]
    assert "fractions" not in learnt


def test_a_request_is_read_only(executor: Executor) -> None:
    result = executor.run("def main(request):\n    request.payload = 1\n")
    assert result.last["error"]["type"] == "AttributeError"
    assert "read-only" in result.last["message"]


@pytest.mark.parametrize(
    "definition",
    [
        "def main(): return 'ok'",
        "def main(request): return 'ok' if request.execution_id else ''",
        "def main(request, db): return 'ok' if db is not None else ''",
        "def main(request, store, extra=1, *, flag=False): return 'ok'",
        "def main(*arguments): return 'ok' if len(arguments) == 2 else ''",
        "def main(request, **others): return 'ok'",
        "async def main(request): return 'ok'",
        "main = lambda request: 'ok'",
        "import functools\nmain = functools.partial(lambda a, request: 'ok', 1)",
        "class Main:\n    def __call__(self, request): return 'ok'\nmain = Main()",
        "import functools\ndef d(f):\n    @functools.wraps(f)\n    def g(*a): return f(*a)\n    return g\n"
        "@d\ndef main(request): return 'ok'",
    ],
)
def test_a_signature_that_will_do(executor: Executor, definition: str) -> None:
    assert executor.run(definition + "\n").value == "ok"


def test_an_async_main_may_await(executor: Executor) -> None:
    result = executor.run(
        """
        import asyncio

        async def main(request):
            return await asyncio.gather(*(asyncio.sleep(0.01, n) for n in range(3)))
        """
    )
    assert result.value == [0, 1, 2]


def test_the_traceback_of_an_async_main_begins_in_the_script(executor: Executor) -> None:
    result = executor.run("async def main():\n    raise ValueError('x')\n")
    assert result.last["error"]["traceback"].splitlines()[1] == '  File "agent.py", line 2, in main'
    assert "asyncio" not in result.last["error"]["traceback"]


@pytest.mark.parametrize(
    "text",
    [
        "1.10",
        "-0.0",
        "123456789012345678901234567890",
        '"\\u0000\\ud800é"',
        '{"b": 1, "a": [true, false, null]}',
        "1" * 5000,
    ],
)
def test_a_payload_comes_back_as_json_makes_it(executor: Executor, text: str) -> None:
    result = executor.run("def main(request): return request.payload\n", payload=text)
    expected = text if len(text) > 4300 else json.dumps(json.loads(text))
    assert result.last["value"] == expected


def test_a_payload_and_a_value_of_many_mebibytes(executor: Executor) -> None:
    result = executor.run(
        "def main(request): return request.payload * 4\n",
        payload=json.dumps("é" * 600_000),
        memory_mib=1024,
    )
    assert result.value == "é" * 2_400_000


def test_a_payload_that_python_cannot_read_fails_plainly(executor: Executor) -> None:
    depth = 200_000
    result = executor.run("def main(request): return 1\n", payload="[" * depth + "]" * depth)
    assert result.reason == "exception" and "payload" in result.last["message"]


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("{'items': [0, {'when': datetime.date(2026, 1, 1)}]}", "$.items[1].when is a date"),
        ("float('nan')", "$ is NaN"),
        ("[1, float('-inf')]", "$[1] is -Infinity"),
        ("request.payload", "$ is Infinity"),
        ("[(n for n in 'ab')]", "$[0] is a generator"),
        ("{'a b': {1, 2}}", '$["a b"] is a set'),
        ("b'x'", "$ is a bytes"),
        ("{'a': {(1, 2): 3}}", "$.a has a key that is a tuple: (1, 2)"),
        ("request", "$ is a Request"),
        ("cycle()", "$.self[0] refers to itself"),
        ("deep()", "nested too deeply"),
    ],
)
def test_a_value_that_is_not_json(executor: Executor, expression: str, message: str) -> None:
    result = executor.run(
        f"""
        import datetime

        def cycle():
            value = {{}}
            value["self"] = [value]
            return value

        def deep():
            value = []
            for _ in range(150_000):
                value = [value]
            return value

        def main(request):
            return {expression}
        """,
        payload="1e400",
    )
    assert result.reason == "not_json"
    assert result.last["message"].startswith("return value: $") and message in result.last["message"]


def test_keys_that_json_turns_into_text_are_taken(executor: Executor) -> None:
    assert executor.run("def main(): return {1: 'a', None: 2, True: 3, 1.5: 4}\n").last["value"] == (
        '{"1": 3, "null": 2, "1.5": 4}'
    )


def test_a_value_over_the_limit_names_both_sizes(executor: Executor) -> None:
    result = executor.run("def main(): return 'x' * 2000\n", limits={"return_value_bytes": 1000})
    assert result.reason == "return_value_too_large"
    assert "2,002" in result.last["message"] and "1,000" in result.last["message"]


def test_an_exception_carries_type_message_traceback_and_place(executor: Executor) -> None:
    result = executor.run(
        """
        class Trouble(Exception):
            pass

        def helper():
            raise Trouble("half\\nand half") from KeyError("k")

        def main():
            print("before", end="")
            helper()
        """
    )
    error = result.last["error"]
    assert (result.reason, error["type"], error["message"]) == (
        "exception",
        "agent.Trouble",
        "half\nand half",
    )
    assert error["line"] == 6 and error["column"] in (5, None)
    assert "roost_executor" not in error["traceback"] and "^" not in error["traceback"]
    assert error["traceback"].startswith("KeyError: 'k'\n\nThe above exception")
    assert "\n".join(e["message"] for e in result.entries if e["stream"] == "stderr") == error["traceback"]


def test_an_exception_that_cannot_be_shown(executor: Executor) -> None:
    result = executor.run(
        """
        class Bad(Exception):
            def __str__(self):
                raise RuntimeError("no")
            __repr__ = __str__

        def main():
            raise Bad()
        """
    )
    assert result.reason == "exception" and result.last["error"]["type"] == "agent.Bad"


def test_a_huge_message_is_bounded(executor: Executor) -> None:
    result = executor.run("def main(): raise ValueError('x' * 10_000_000 + '\\ud800\\0')\n")
    assert len(result.last["error"]["message"]) < 70_000
    assert len(json.dumps(result.last)) < 200_000


def test_a_recursion_without_end(executor: Executor) -> None:
    result = executor.run("def main(): return main()\n")
    assert result.last["error"]["type"] == "RecursionError"


def test_a_keyboard_interrupt_is_an_exception(executor: Executor) -> None:
    assert executor.run("def main(): raise KeyboardInterrupt\n").last["error"]["type"] == "KeyboardInterrupt"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("sys.exit('boom')", "the script called sys.exit('boom')"),
        ("os._exit(4)", "ended with status 4"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "killed by signal 11 (SIGSEGV)"),
        ("os.abort()", "killed by signal 6 (SIGABRT)"),
        ("os.kill(os.getpid(), signal.SIGTERM)", "killed by signal 15 (SIGTERM)"),
        ("os.kill(os.getpid(), 9)", "killed by signal 9 (SIGKILL)"),
    ],
)
def test_a_script_that_ends_itself(executor: Executor, code: str, message: str) -> None:
    result = executor.run(f"import os, signal, sys\ndef main():\n    print('said')\n    {code}\n")
    assert result.reason == "exited" and message in result.last["message"]
    assert result.lines[0] == "said"


def test_a_wrong_signature_says_where_and_why(executor: Executor) -> None:
    result = executor.run("x = 1\n\ndef main(a, b, c, *, d): pass\n")
    assert result.reason == "bad_signature" and result.types == ["failed"]
    assert (result.last["error"]["line"], result.last["error"]["column"]) == (3, 1)
    assert "(c too)" in result.last["message"] and "(d)" in result.last["message"]


def test_a_missing_main_suggests_a_near_name(executor: Executor) -> None:
    result = executor.run("def Main(request): pass\n")
    assert result.reason == "no_main" and "`Main`" in result.last["message"]


def test_a_main_that_is_no_function(executor: Executor) -> None:
    result = executor.run("main = 3\n")
    assert result.reason == "no_main" and "int" in result.last["message"]


def test_an_exception_at_import_has_no_started_frame(executor: Executor) -> None:
    result = executor.run("print('importing')\n1 / 0\ndef main(): pass\n")
    assert result.reason == "exception" and "started" not in result.types
    assert result.last["error"]["line"] == 2 and result.lines[0] == "importing"


@pytest.mark.parametrize("text", ["x = '\0'\n", "(" * 300 + ")" * 300, "\ud800", "def main(:\n"])
def test_a_script_that_cannot_be_compiled(executor: Executor, text: str) -> None:
    result = executor.run(text)
    assert result.reason == "syntax_error" and result.types[-1] == "failed"


def test_environment_variables_are_set_before_the_import(executor: Executor) -> None:
    result = executor.run(
        """
        import os, time
        AT_IMPORT = os.environ["GREETING"]

        def main():
            return [AT_IMPORT, time.tzname[0], sorted(k for k in os.environ if k.startswith("ROOST"))]
        """,
        agent={"env_vars": {"GREETING": "hé=llo", "TZ": "Asia/Tokyo"}},
    )
    assert result.value == ["hé=llo", "JST", []]


def test_each_execution_has_a_fresh_process_and_directory(executor: Executor) -> None:
    script = """
        import os
        seen = []

        def main():
            seen.append(1)
            found = os.listdir(".")
            os.makedirs("a/b")
            open("a/b/c", "w").close()
            os.chmod("a", 0o000)
            return [len(seen), found, os.getcwd()]
        """
    first, second = executor.run(script), executor.run(script)
    assert first.value[:2] == second.value[:2] == [1, []]
    assert first.value[2] != second.value[2]
    executor.run(script)  # by now the directories of the others are gone
    assert not any(p.name in ("exec_1", "exec_2") for p in (executor.directory / "work").iterdir())


def test_the_script_is_a_module_in_a_file(executor: Executor) -> None:
    result = executor.run(
        """
        import dataclasses, inspect, os, pickle, sys

        @dataclasses.dataclass
        class Point:
            x: "int"

        def main():
            copy = pickle.loads(pickle.dumps(Point(3)))
            return [copy == Point(3), __name__, os.path.basename(__file__), sys.modules["agent"].Point is Point,
                    inspect.getsource(main).split("(")[0], sys.stdin.read()]
        """
    )
    assert result.value == [True, "agent", "agent.py", True, "def main", ""]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing_works(executor: Executor, method: str) -> None:
    result = executor.run(
        f"""
        import multiprocessing

        def double(n):
            print("child", n)
            return 2 * n

        def main():
            pool = multiprocessing.get_context("{method}").Pool(2)
            result = pool.map(double, [1, 2, 3])
            pool.close()
            pool.join()
            return result
        """
    )
    assert result.value == [2, 4, 6]
    assert sorted(line for line in result.lines if line.startswith("child")) == [
        "child 1",
        "child 2",
        "child 3",
    ]


def test_exit_handlers_run_and_what_was_left_running_does_not_hold_them_up(
    executor: Executor,
) -> None:
    result = executor.run(
        """
        import atexit, multiprocessing, threading, time

        def main():
            atexit.register(print, "goodbye")
            multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,)).start()
            threading.Thread(target=time.sleep, args=(600,)).start()
            return 1
        """
    )
    assert result.value == 1 and result.lines == ["goodbye"]


def test_the_agent_arrives_once(executor: Executor) -> None:
    first = executor.run("import os\ndef main(): return os.environ['A']\n", agent={"env_vars": {"A": "x"}})
    second = executor.run("this is not sent again")
    assert first.value == second.value == "x"


def test_usage_includes_what_the_script_started(executor: Executor) -> None:
    result = executor.run(
        """
        import subprocess, sys

        def main():
            subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 0.5: pass"])
        """
    )
    usage: dict[str, Any] = result.last["usage"]
    assert usage["cpu_seconds"] >= 0.5 and usage["max_memory_bytes"] > 4_000_000


def test_a_missing_module_says_what_to_add(executor: Executor) -> None:
    result = executor.run("import skimage.io\ndef main(): pass\n")
    assert result.reason == "import_error"
    assert re.search("scikit-image.*requirements", result.last["message"])
