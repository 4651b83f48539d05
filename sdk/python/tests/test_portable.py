from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from store_server import Broken, StoreServer
from support import problem

import roost


def fill(stored: StoreServer, count: int) -> bytes:
    for n in range(count):
        stored.put(f"k/{n:03}", f'{{"n": {n}, "text": "{"x" * 10}"}}')
    return b"".join(stored.lines())


def breaking(stored: StoreServer, *, after: int) -> None:
    """Make each answer to an export end after that many bytes, if it is longer."""

    def before(request: httpx.Request) -> httpx.Response | None:
        if not request.url.path.endswith("/export"):
            return None
        content = stored._answer(request).content
        if len(content) <= after:
            return None
        return httpx.Response(
            200, stream=Broken(content[: after // 2], content[after // 2 : after])
        )

    stored.before = before


def test_an_export_is_what_the_server_sent(stored: StoreServer, tmp_path: Path) -> None:
    stored.put("a", "1.10")
    everything = fill(stored, 3)
    path = tmp_path / "people.ndjson"
    path.write_bytes(b"what was there before")
    assert stored.store.export(path) == 4
    assert path.read_bytes() == everything == b"".join(stored.lines())
    assert stored.requests[0].headers["Accept"] == "application/x-ndjson"
    target = io.BytesIO()
    assert stored.store.export(target, prefix="k/") == 3
    assert not target.closed
    assert target.getvalue() == b"".join(stored.lines("k/"))


def test_an_export_continues_after_a_broken_connection(stored: StoreServer) -> None:
    for key in ('"\\', "\0", "😀", "ü%2F", "a/../b"):
        stored.put(key, "1")
    everything = fill(stored, 100)
    breaking(stored, after=500)
    target = io.BytesIO()
    assert stored.store.export(target) == 105
    assert target.getvalue() == everything
    assert len(stored.requests) > 10
    assert set(stored.clock.slept) == {0.5}


def test_an_export_that_gets_nowhere_gives_up(stored: StoreServer) -> None:
    fill(stored, 10)
    breaking(stored, after=30)  # less than a line
    target = io.BytesIO()
    with pytest.raises(roost.APIConnectionError, match="was lost"):
        stored.store.export(target)
    assert target.getvalue() == b""
    assert len(stored.requests) == 9


def test_an_export_that_ends_within_a_line_is_not_complete(stored: StoreServer) -> None:
    fill(stored, 2)
    stored.before = lambda request: httpx.Response(200, content=b'{"key":"k/0')
    with pytest.raises(roost.APIConnectionError, match="within a line"):
        stored.store.export(io.BytesIO())


def test_an_export_waits_for_a_server_that_is_busy(stored: StoreServer) -> None:
    everything = fill(stored, 2)
    answers = [problem(503, "unavailable"), problem(429, "rate_limited"), None]
    stored.before = lambda request: answers.pop(0)
    target = io.BytesIO()
    stored.store.export(target)
    assert target.getvalue() == everything
    stored.before = lambda request: problem(403, "forbidden", "no")
    with pytest.raises(roost.PermissionDenied):
        stored.store.export(target)


@pytest.mark.parametrize("cut", [0, 1, 30, 400, 1000])
def test_an_export_is_resumed_after_the_last_complete_line(
    stored: StoreServer, tmp_path: Path, cut: int
) -> None:
    everything = fill(stored, 20)
    path = tmp_path / "people.ndjson"
    path.write_bytes(everything[:cut])
    complete = everything[:cut].count(b"\n")
    assert stored.store.export(str(path), "k/", resume=True) == 20 - complete
    assert path.read_bytes() == everything
    assert ("after" in stored.requests[0].url.params) == (complete > 0)
    assert stored.store.export(path, resume=True) == 0
    assert path.read_bytes() == everything


def test_resuming_makes_a_file_that_is_not_there(stored: StoreServer, tmp_path: Path) -> None:
    everything = fill(stored, 2)
    path = tmp_path / "people.ndjson"
    assert stored.store.export(path, resume=True) == 2
    assert path.read_bytes() == everything


@pytest.mark.parametrize("content", [b"a,b,c\n1,2,3\n", b"no line", b'{"id": 1}\n'])
def test_resuming_leaves_another_file_alone(
    stored: StoreServer, tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"not .*export"):
        stored.store.export(path, resume=True)
    assert path.read_bytes() == content
    assert stored.requests == []


def test_resuming_needs_a_path_and_the_same_prefix(stored: StoreServer, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="iter_export"):
        stored.store.export(io.BytesIO(), resume=True)
    path = tmp_path / "people.ndjson"
    path.write_bytes(fill(stored, 1))
    with pytest.raises(ValueError, match="another prefix"):
        stored.store.export(path, prefix="u/", resume=True)


def test_an_import_stores_what_an_export_wrote(stored: StoreServer, tmp_path: Path) -> None:
    everything = fill(stored, 20)
    values = stored.values()
    path = tmp_path / "people.ndjson"
    stored.store.export(path)
    stored.entries.clear()
    assert stored.store.import_(path) == 20
    assert stored.values() == values
    assert stored.store.import_(io.BytesIO(everything.rstrip(b"\n"))) == 20
    assert stored.store.import_(io.BytesIO()) == 0
    assert {each.headers["Content-Type"] for each in stored.sent("POST", "/import")} == {
        "application/x-ndjson"
    }


def large_lines(count: int) -> list[bytes]:
    return [json.dumps({"key": f"{n}", "value": "x" * (1 << 20)}).encode() for n in range(count)]


def test_an_import_is_sent_in_parts_that_are_sent_again(stored: StoreServer) -> None:
    stored.lost = 2
    assert stored.store.import_(io.BytesIO(b"\n".join(large_lines(8)))) == 8
    parts = [request.content for request in stored.sent("POST", "/import")]
    assert [part.count(b"\n") for part in parts] == [3, 3, 3, 3, 1]
    assert parts[0] == parts[1] == parts[2]
    assert all(part.endswith(b"\n") for part in parts[:4])
    assert sorted(stored.entries) == [f"{n}" for n in range(8)]


def test_a_mistake_is_reported_with_the_line_of_the_whole_file(stored: StoreServer) -> None:
    small = b'{"key":"s","value":1}'
    lines = [*large_lines(4), *[small] * 1500, b"nonsense", small]
    with pytest.raises(roost.ValidationError) as raised:
        stored.store.import_(io.BytesIO(b"\n".join(lines)))
    [error] = raised.value.errors
    assert error.line == 1505
    assert raised.value.detail == (
        "line 1505: not JSON; the 1003 lines before line 1004 are stored."
    )
    assert str(raised.value).startswith("line 1505: not JSON; the 1003 lines")
    assert "line 1505: not JSON" in str(raised.value).splitlines()[1]


@pytest.mark.parametrize(
    ("detail", "shifted"),
    [
        (
            "line 2: $ the 5 lines before line 6 are stored. Nothing is stored.",
            "line 5: $ the 5 lines before line 6 are stored. The 3 lines before line 4 are stored.",
        ),
        (
            "line 2: wrong. Line 1 is stored, nothing after it.",
            "line 5: wrong. The 4 lines before line 5 are stored, nothing after it.",
        ),
        ("line 2: wrong", "line 5: wrong (The 3 lines before line 4 are stored.)"),
        (
            "line 1: the batch up to line 7: the store is full. Nothing is stored.",
            "line 4: the batch up to line 10: the store is full. "
            "The 3 lines before line 4 are stored.",
        ),
    ],
)
def test_what_is_stored_is_reported_for_the_whole_file(
    stored: StoreServer, detail: str, shifted: str
) -> None:
    def before(request: httpx.Request) -> httpx.Response | None:
        return None if b'"0"' in request.content else problem(413, "store_full", detail)

    stored.before = before
    with pytest.raises(roost.TooLarge) as raised:
        stored.store.import_(io.BytesIO(b"\n".join(large_lines(5))))
    assert raised.value.detail == shifted


def test_a_line_that_no_entry_is_long_enough_for_is_a_mistake(
    stored: StoreServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("roost._ndjson._MAX_LINE_BYTES", 100)
    monkeypatch.setattr("roost._ndjson._PART_BYTES", 50)
    with pytest.raises(roost.ValidationError, match="line 2: longer than 100 bytes"):
        stored.store.import_(io.BytesIO(b'{"key":"a","value":1}\n' + b"x" * 101))


def test_an_import_that_stops_says_how_far_it_came(stored: StoreServer) -> None:
    parts = 0

    def before(request: httpx.Request) -> httpx.Response | None:
        nonlocal parts
        parts += 1
        return problem(503, "unavailable", "away") if parts > 1 else None

    stored.before = before
    with pytest.raises(roost.Unavailable, match="the 3 lines before line 4 are stored"):
        stored.store.import_(io.BytesIO(b"\n".join(large_lines(5))))


class Endless(io.RawIOBase):
    """Takes everything and keeps nothing."""

    size = 0

    def write(self, data: object) -> int:
        assert isinstance(data, bytes)
        self.size += len(data)
        return len(data)


def test_memory_does_not_grow_with_the_store(stored: StoreServer) -> None:
    line = b'{"key":"k","value":"%s","expires_at":null}\n' % (b"x" * 1000)
    block, count = line * 60, 800  # 48 MB

    class Large(httpx.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            return (block for _ in range(count))

    class File(io.BytesIO):
        left = 60 * count

        def readline(self, size: int | None = -1) -> bytes:
            self.left -= 1
            return line if self.left >= 0 else b""

    answer = b'{"imported":1,"expired":0}'
    stored.before = lambda request: (
        httpx.Response(200, stream=Large())
        if request.method == "GET"
        else httpx.Response(200, content=answer)
    )
    tracemalloc.start()
    try:
        target = Endless()
        assert stored.store.export(target) == 60 * count  # type: ignore[arg-type]
        assert target.size == count * len(block)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
        stored.requests = Forgetful()
        assert stored.store.import_(File()) == 12
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


class Forgetful(list[httpx.Request]):
    def append(self, request: httpx.Request) -> None:
        pass


def test_an_import_requires_bytes(stored: StoreServer) -> None:
    with pytest.raises(TypeError, match="'rb'"):
        stored.store.import_(io.StringIO("{}"))  # type: ignore[arg-type]
