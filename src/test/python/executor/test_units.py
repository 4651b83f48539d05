"""The parts that are pure: lines, records, spool, JSON."""

import os
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from executor import PACKAGE

sys.path.insert(0, str(PACKAGE.parent))

from roost_executor import processes  # noqa: E402
from roost_executor.runner import outcome  # noqa: E402
from roost_executor.runner.lines import LineSplitter, text_of  # noqa: E402
from roost_executor.runner.log import Log  # noqa: E402
from roost_executor.script import fork_safety, jsonvalue  # noqa: E402
from roost_executor.sidecar import spool  # noqa: E402
from roost_executor.wire.clock import time_text  # noqa: E402
from roost_executor.wire.control import Channel, Records, log_content_of  # noqa: E402


def split(data: bytes, limit: int, sizes: "list[int]") -> "list[tuple[bytes, bool]]":
    splitter = LineSplitter(limit)
    lines: list[tuple[bytes, bool]] = []
    while data:
        size = sizes.pop() if sizes else len(data)
        lines += splitter.feed(data[:size])
        data = data[size:]
    return lines + list(splitter.end())


def test_lines_do_not_depend_on_how_the_bytes_arrive() -> None:
    chance = random.Random(3)
    for _ in range(300):
        text = "".join(chance.choice("aé€😀\n") for _ in range(chance.randrange(60)))
        limit = chance.randrange(4, 20)
        whole = split(text.encode(), limit, [])
        parts = split(text.encode(), limit, [chance.randrange(1, 7) for _ in range(100)])
        assert whole == parts
        assert all(len(line) <= limit for line, _ in whole)
        joined = b"".join(line + (b"" if continued else b"\n") for line, continued in whole)
        assert joined.decode().rstrip("\n") == text.rstrip("\n")
        assert "\ufffd" not in "".join(text_of(line) for line, _ in whole)


def test_bytes_that_are_no_utf_8_are_cut_at_the_limit() -> None:
    assert [len(line) for line, _ in split(b"\x80" * 25, 10, [])] == [10, 10, 5]


def test_a_log_without_capacity_keeps_the_tail_alone() -> None:
    log = Log(100, 0, 10)
    for n in range(1000):
        log.feed("stdout", b"%03d\n" % n)
    log.finish()
    messages = [entry["message"] for entry in log.take()]
    assert messages == ["3,990 bytes of output were left out here: the log had reached its limit."] + [
        "7",
        "998",
        "999",
    ]


def test_records_of_several_processes_come_out_whole(monkeypatch: Any) -> None:
    reader, writer = os.pipe()
    channel = Channel(writer, lambda: None)
    data = b""
    sent = {}
    for process in (7, 8, 9):
        monkeypatch.setattr(os, "getpid", lambda process=process: process)
        sent[process] = chr(64 + process) * (process * 1000)
        channel.send_log("INFO", "root", 1.5, sent[process])
        data += os.read(reader, 1 << 16)
    records = Records(1 << 20)
    found = {}
    for start in range(0, len(data), 777):
        for process, record in records.feed(data[start : start + 777]):
            found[process] = log_content_of(record)
    assert found == {p: ("INFO", "root", 1.5, text.encode()) for p, text in sent.items()}


def test_a_record_over_the_limit_is_dropped() -> None:
    reader, writer = os.pipe()
    channel = Channel(writer, lambda: None)
    channel.send(b"R", "x" * 20_000)
    channel.send(b"E", None)
    kinds = [record[:1] for _, record in Records(10_000).feed(os.read(reader, 1 << 16))]
    assert kinds == [b"E"]


def test_a_spool_keeps_order_across_memory_and_disk(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(spool, "MEMORY_BYTES", 1000)
    monkeypatch.setattr(spool, "BATCH_BYTES", 300)
    chance = random.Random(5)
    frames = spool.Spool(str(tmp_path), "exec_1")
    added, delivered = 0, []
    while added < 2000 or frames:
        for _ in range(chance.randrange(30) if added < 2000 else 0):
            added += 1
            frames.append(added, b"%d %s\n" % (added, b"x" * chance.randrange(100)))
        if frames:
            last, lines = frames.batch()
            first = int(lines.split()[0])
            keep = chance.choice([last, (first + last) // 2, 0])
            frames.acknowledge(keep)
            delivered += [n for n in (int(line.split()[0]) for line in lines.splitlines()) if n <= keep]
    assert delivered == list(range(1, added + 1))
    frames.close()
    assert os.listdir(tmp_path / "spool") == []


def test_a_spool_without_a_disk_stays_in_memory(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(spool, "MEMORY_BYTES", 100)
    monkeypatch.setattr(spool, "LARGEST_MEMORY_BYTES", 1000)
    (tmp_path / "spool").write_text("in the way")
    frames = spool.Spool(str(tmp_path), "exec_1")
    for n in range(1, 101):
        frames.append(n, b"%d\n" % n * 10)
    assert frames.full and frames.batch()[0] == 100


@pytest.mark.parametrize(
    "value",
    [{"a": [1, 2.5, None, True, "é\ud800"]}, [], "x", 10**5000],
    ids=["object", "array", "string", "long"],
)
def test_json_text_is_that_of_json_dumps(value: object) -> None:
    assert jsonvalue.decode(jsonvalue.encode(value)) == value


def test_times_have_microseconds() -> None:
    assert time_text(1_700_000_000.25) == "2023-11-14T22:13:20.250000Z"
    assert time_text(1_700_000_001) == "2023-11-14T22:13:21.000000Z"


def test_a_process_that_the_kernel_killed_is_the_cause_of_what_the_script_raised() -> None:
    record = {"reason": "exception", "message": "CalledProcessError: …", "error": {"type": "CalledProcessError"}}
    killed = outcome.of_record(record, True, 256)
    assert killed["reason"] == "out_of_memory" and "256 MiB" in killed["message"]
    assert killed["message"].endswith("CalledProcessError: …") and killed["error"] == record["error"]
    assert outcome.of_record(record, False, 256)["reason"] == "exception"
    assert outcome.of_record({**record, "reason": "no_main"}, True, 256)["reason"] == "no_main"
    assert outcome.of_record({"value": "1"}, True, 256) == {"type": "returned", "value": "1"}


@pytest.mark.parametrize(
    "content", ["low 0\nhigh 0\nmax 7\noom 2\noom_kill 3\noom_group_kill 1\n", "oom_kill_disable 0\noom_kill 3\n"]
)
def test_both_kinds_of_control_groups_count_kills_of_the_kernel(tmp_path: Path, monkeypatch: Any, content: str) -> None:
    (tmp_path / "file").write_text(content)
    monkeypatch.setattr(outcome, "KILL_COUNTS", (str(tmp_path / "absent"), str(tmp_path / "file")))
    assert outcome.kernel_kills() == 3
    monkeypatch.setattr(outcome, "KILL_COUNTS", (str(tmp_path / "absent"),))
    assert outcome.kernel_kills() == 0


def test_the_walk_of_a_fork_bomb_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "children", lambda process: [2 * process, 2 * process + 1])
    assert len(processes.descendants(1, most=256)) > 256


def test_a_template_may_use_no_more_memory_than_the_agent_has() -> None:
    state = fork_safety.process_state(())
    assert fork_safety.why_unsafe(state, state, 4096) is None
    assert "needs more memory than the agent has" in str(fork_safety.why_unsafe(state, state, 1))
