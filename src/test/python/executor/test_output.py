"""Logs: in order, bounded, complete."""

import pytest
from executor import Executor

MEBIBYTE = 1024 * 1024


def test_all_output_paths_keep_the_order(executor: Executor) -> None:
    result = executor.run(
        """
        import logging, os, subprocess, sys

        def main():
            for n in range(20):
                print("out", n)
                print("err", n, file=sys.stderr)
                logging.getLogger("app").info("log %d", n)
                subprocess.run(["sh", "-c", f"echo sub {n}"])
                os.system(f"echo system {n} >&2")
                sys.stdout.write("partial")
                subprocess.run(["sh", "-c", "echo ' line'"])
        """
    )
    expected = []
    for n in range(20):
        expected += [f"out {n}", f"err {n}", f"log {n}", f"sub {n}", f"system {n}", "partial line"]
    assert result.lines == expected
    assert [e["stream"] for e in result.entries[:5]] == [
        "stdout",
        "stderr",
        "logging",
        "stdout",
        "stderr",
    ]


def test_a_record_with_an_impossible_time_or_name_breaks_nothing(executor: Executor) -> None:
    result = executor.run(
        """
        import logging

        def main():
            logging.addLevelName(35, "RATHER\\nBAD")
            for when in (1e15, -6e10, float("inf")):
                record = logging.LogRecord("new\\nline", 35, "agent.py", 1, "at %s", (when,), None)
                record.created = when
                logging.getLogger().handle(record)
            print("done")
            return 1
        """
    )
    assert result.last["type"] == "returned"
    assert result.lines[-1] == "done"
    assert all(entry["time"].startswith("2") for entry in result.entries)


def test_a_logging_entry_keeps_level_logger_and_exception(executor: Executor) -> None:
    result = executor.run(
        """
        import logging

        def main():
            logging.debug("not shown")
            logging.info("")
            try:
                1 / 0
            except ZeroDivisionError:
                logging.getLogger("a.b").exception("it failed\\nbadly \\ud800")
        """
    )
    assert [(e["level"], e["logger"], e["stream"]) for e in result.entries][:2] == [
        ("INFO", "root", "logging"),
        ("ERROR", "a.b", "logging"),
    ]
    assert result.lines[0] == "" and result.lines[1] == "it failed"
    assert result.lines[2].startswith("badly ") and "\ud800" not in result.lines[2]
    assert result.lines[3].startswith("Traceback") and "ZeroDivisionError" in result.lines[-1]


@pytest.mark.parametrize(
    ("code", "entries"),
    [
        ("logging.basicConfig(level=logging.DEBUG, stream=None); logging.debug('a')", ["DEBUG root a"]),
        (
            "logging.basicConfig(level='WARNING', format='%(name)s: %(message)s!')\n"
            "    logging.getLogger('app').info('a'); logging.getLogger('app').warning('b')",
            ["WARNING app app: b!"],
        ),
        ("logging.basicConfig(level='DEBUG', force=True); logging.debug('a')", ["DEBUG root a"]),
        ("logging.getLogger().setLevel('DEBUG'); logging.getLogger('app').debug('a')", ["DEBUG app a"]),
        # As in any process: the first call of this kind configures, and later ones change nothing.
        ("logging.info('a'); logging.basicConfig(level='DEBUG'); logging.debug('b')", ["INFO root a"]),
        ("logging.getLogger('app').error('a'); print(logging.root.handlers)", ["ERROR app a", "[]"]),
        (
            "logging.basicConfig(level='DEBUG', stream=sys.stdout, format='%(message)s!'); logging.debug('a')",
            ["a!"],
        ),
        (
            "logging.basicConfig(filename='log'); logging.error('a'); print(open('log').read(), end='')",
            ["ERROR:root:a"],
        ),
        (
            "with contextlib.redirect_stderr(io.StringIO()) as text: logging.error('a')\n    print(text.getvalue(), end='')",
            ["ERROR:root:a"],
        ),
        (
            "logging.basicConfig(); logging.root.handlers[0].setStream(sys.stdout); logging.error('a')",
            ["a"],
        ),
    ],
)
def test_a_script_may_set_up_logging_itself(executor: Executor, code: str, entries: "list[str]") -> None:
    result = executor.run(f"import contextlib, io, logging, sys\ndef main():\n    {code}\n")
    assert result.value is None
    shown = [(e["level"], e["logger"], e["message"]) for e in result.entries]
    assert [" ".join(part for part in entry if part) for entry in shown] == entries


def test_a_line_of_100_mb_comes_in_parts(executor: Executor) -> None:
    result = executor.run(
        """
        def main():
            print("€" * 35_000_000)
            print("next")
        """,
        memory_mib=1024,
        limits={"log_bytes": 200 * MEBIBYTE},
    )
    assert result.value is None and result.lines[-1] == "next"
    parts = result.entries[:-1]
    assert all(e["continued"] for e in parts[:-1]) and not parts[-1]["continued"]
    assert sum(len(e["message"]) for e in parts) == 35_000_000
    assert {c for e in parts for c in e["message"]} == {"€"}


STORM = """
    import sys

    def main():
        sys.stdout.buffer.write(b"first\\n")
        line = b"x" * 99 + b"\\n"
        for _ in range({mebibytes}):
            sys.stdout.buffer.write(line * 10_486)
        print("last")
        return 1
    """


def check_storm(executor: Executor, mebibytes: int) -> None:
    result = executor.run(STORM.format(mebibytes=mebibytes))
    assert result.value == 1 and result.last["logs_truncated"]
    assert result.lines[0] == "first" and result.lines[-1] == "last"
    (note,) = [n for n, e in enumerate(result.entries) if e["stream"] == "system"]
    kept = sum(len(line) + 1 for line in result.lines[:note])
    tail = sum(len(line) + 1 for line in result.lines[note + 1 :])
    assert 32 * MEBIBYTE - 200 < kept <= 32 * MEBIBYTE + 1
    assert MEBIBYTE - 200 < tail <= MEBIBYTE + 1
    left_out = mebibytes * 1_048_600 + len("first\nlast\n") - 33 * MEBIBYTE
    assert result.lines[note].startswith(f"{left_out:,} bytes")
    peak = max(memory_peak(process) for process in (executor.runner, executor.process.pid))
    assert peak < 150 * MEBIBYTE


def memory_peak(process: int) -> int:
    with open(f"/proc/{process}/status") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("VmHWM"))


def test_200_mb_of_output_cost_neither_memory_nor_the_result(executor: Executor) -> None:
    check_storm(executor, 200)


@pytest.mark.slow
def test_1_gb_of_output_costs_neither_memory_nor_the_result(executor: Executor) -> None:
    check_storm(executor, 1024)


def test_output_just_under_the_limit_and_its_tail_is_complete(executor: Executor) -> None:
    result = executor.run(
        """
        def main():
            for n in range(150):
                print(f"{n:09}")
        """,
        limits={"log_bytes": 1000, "log_tail_bytes": 500},
    )
    assert result.lines == [f"{n:09}" for n in range(150)] and not result.last["logs_truncated"]


def test_binary_output_becomes_text(executor: Executor) -> None:
    result = executor.run(
        """
        import os, sys

        def main():
            sys.stdout.buffer.write(bytes(range(256)) * 1000)
            os.write(2, b"\\0 \\xff")
        """
    )
    assert result.value is None
    assert not any("\0" in line for line in result.lines)
    assert "\ufffd \ufffd" in result.lines


@pytest.mark.parametrize(
    "closing",
    [
        "sys.stdout.close()",
        "os.close(1); os.close(2)",
        "sys.stdout = sys.stderr = None",
        "os.dup2(os.open('file', os.O_RDWR | os.O_CREAT), 1); print('x'); os.write(1, b'x' * 100)",
        "os.set_blocking(1, False)",
        "logging.warning('x'); logging.shutdown(); logging.root.handlers[0].close(); logging.lastResort.close()",
    ],
)
def test_a_closed_output_does_not_cost_the_result(executor: Executor, closing: str) -> None:
    result = executor.run(f"import logging, os, sys\ndef main():\n    {closing}\n    return 1\n")
    assert result.value == 1


def test_print_never_fails_for_its_text(executor: Executor) -> None:
    result = executor.run("def main(): print('\\ud800é')\n", agent={"env_vars": {"LANG": "C"}})
    assert result.lines == ["\\ud800é"]


def test_lines_arrive_while_the_script_runs(executor: Executor) -> None:
    name = executor.submit(
        """
        import os, time

        def main():
            print("working")
            while not os.path.exists("go"):
                time.sleep(0.01)
        """
    )
    executor.logged(name, "working")
    (executor.directory / "work" / name / "go").touch()
    assert executor.finished(name).value is None


def test_logs_of_forked_processes_are_not_mixed_up(executor: Executor) -> None:
    result = executor.run(
        """
        import logging, multiprocessing

        def work(n):
            for _ in range(50):
                logging.info(str(n) * 10_000)

        def main():
            context = multiprocessing.get_context("fork")
            processes = [context.Process(target=work, args=(n,)) for n in range(4)]
            for process in processes:
                process.start()
            for process in processes:
                process.join()
        """
    )
    assert sorted(set(result.lines)) == [str(n) * 10_000 for n in range(4)]
    assert len(result.lines) == 200


def test_the_second_way_home_has_the_same_lines_and_frames(executor: Executor) -> None:
    import json

    result = executor.run(
        "import logging\ndef main():\n    print('hello')\n    logging.warning('careful')\n    return 5\n"
    )
    printed = (executor.directory / "agent.log").read_text().splitlines()
    first, second = result.entries
    assert printed == [
        f"[{first['time']} exec_1/1 stdout] hello",
        f"[{second['time']} exec_1/2 logging WARNING root] careful",
    ]
    frames = [json.loads(line) for line in executor.output.read_text().splitlines()]
    # A return value that has arrived is not printed; test_outages.py has those that have not.
    kept = [frame for frame in result.frames if frame["type"] not in ("log", "returned")]
    assert [each for each in frames if each["frame"]["type"] != "returned"] == [
        {"execution_id": "exec_1", "frame": frame} for frame in kept
    ]


def test_c_code_that_buffers_is_heard(executor: Executor) -> None:
    result = executor.run(
        """
        import ctypes

        def main():
            ctypes.CDLL(None).printf(b"from C")
        """
    )
    assert result.lines == ["from C"]
