"""Files that jobs read and make."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from support import Server, job, problem, stream

import roost

PART = 4 * 1024 * 1024


def file(content: bytes = b"", **fields: Any) -> dict[str, Any]:
    return {
        "id": "file_1",
        "name": "data.csv",
        "content_type": "text/csv",
        "state": "stored",
        "size_bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "created_at": "2026-11-02T09:00:00Z",
        **fields,
    }


def uploads(server: Server, content: bytes, **fields: Any) -> None:
    server.on("POST", "/files", file(state="uploading", sha256=None, **fields))
    for part in range(-(-len(content) // PART)):
        server.on("PUT", f"/files/file_1/parts/{part}", file(state="uploading"))
    server.on("POST", "/files/file_1/complete", file(content, **fields))


def test_a_path_is_uploaded_in_parts(server: Server, tmp_path: Path) -> None:
    content = bytes(range(256)) * (PART // 256) + b"rest"
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    uploads(server, content)
    stored = server.client.files.upload(path)
    assert (stored.id, stored.size_bytes, stored.state) == ("file_1", len(content), "stored")
    made, first, second, complete = server.requests
    assert json.loads(made.content) == {"name": "data.csv", "content_type": "text/csv"}
    assert first.content + second.content == content
    assert len(first.content) == PART
    digest = hashlib.sha256(content).hexdigest()
    assert json.loads(complete.content) == {"size_bytes": len(content), "sha256": digest}


def test_bytes_need_a_name(server: Server) -> None:
    with pytest.raises(TypeError, match="bytes need a name"):
        roost.File.upload(b"x", client=server.client)
    assert server.requests == []


def test_a_part_is_sent_again(server: Server) -> None:
    server.on("POST", "/files", file())
    unavailable = problem(503, "unavailable", "away")
    server.on("PUT", "/files/file_1/parts/0", unavailable, file())
    server.on("POST", "/files/file_1/complete", file(b"x"))
    assert roost.File.upload(b"x", name="n", client=server.client).size_bytes == 1
    assert [request.content for request in server.sent("PUT", "/files/file_1/parts/0")] == [
        b"x"
    ] * 2


def test_files_are_submitted_with_the_payload(server: Server) -> None:
    agent = roost.Agent(server.client, {"id": "agent_1"})
    uploads(server, b"x")
    server.on("POST", "/agents/agent_1/execute", job(id="xjob_1"))
    earlier = roost.File(server.client, file(id="file_0"))
    agent.execute({"n": 1}, files={"new": b"x", "old": earlier})
    submitted = json.loads(server.sent("POST", "/agents/agent_1/execute")[0].content)
    assert submitted == {"payload": {"n": 1}, "files": {"new": "file_1", "old": "file_0"}}
    assert json.loads(server.requests[0].content) == {"name": "new"}


def test_a_job_lists_its_files(server: Server) -> None:
    run = roost.ExecutorJob(server.client, job(id="xjob_1"))
    listed = [{"kind": "artifact", "name": "data.csv", "file": file(b"x")}]
    server.on("GET", "/executor-jobs/xjob_1/files", {"data": listed, "next_cursor": None})
    (only,) = run.files()
    assert (only.kind, only.name, only.file.id) == ("artifact", "data.csv", "file_1")


def test_a_download_goes_on_after_a_cut(server: Server, tmp_path: Path) -> None:
    content = b"0123456789"
    server.on(
        "GET",
        "/files/file_1/content",
        stream("01234", httpx.ReadError("reset")),
        stream("56789"),
    )
    path = roost.File(server.client, file(content)).download(tmp_path)
    assert path == tmp_path / "data.csv"
    assert path.read_bytes() == content
    assert [request.headers.get("Range") for request in server.requests] == [None, "bytes=5-"]
    assert list(tmp_path.iterdir()) == [path]


def test_other_bytes_are_not_taken_for_the_file(server: Server, tmp_path: Path) -> None:
    server.on("GET", "/files/file_1/content", stream("xx"))
    with pytest.raises(roost.RoostError, match="digest"):
        roost.File(server.client, file(b"ab")).download(tmp_path / "new.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_download_that_never_ends_is_given_up(server: Server) -> None:
    server.on("GET", "/files/file_1/content", *[stream("") for _ in range(20)])
    with pytest.raises(roost.APIConnectionError, match="keeps ending"):
        roost.File(server.client, file(b"ab")).read()


def test_an_empty_file_needs_no_request(server: Server) -> None:
    assert roost.File(server.client, file(b"")).read() == b""
    assert server.requests == []


def test_a_name_chooses_no_directory(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    server.on("GET", "/files/file_1/content", stream("x"))
    path = roost.File(server.client, file(b"x", name="../../x.csv")).download()
    assert path.resolve() == tmp_path / "x.csv"


def test_a_link_has_the_whole_url(server: Server) -> None:
    link = {"url": "/v1/file-links/file_1?expires=1", "expires_at": "2026-11-02T09:00:00Z"}
    server.on("POST", "/files/file_1/links", link)
    found = roost.File(server.client, file(b"x")).link(expires_in=60)
    assert found.url == f"{server.client.base_url}/v1/file-links/file_1?expires=1"
    assert json.loads(server.requests[0].content) == {"expires_in": 60}
    assert "expires=1" not in repr(found)


def test_a_file_without_a_digest_is_downloaded(server: Server) -> None:
    server.on("GET", "/files/file_1/content", stream("ab"))
    assert roost.File(server.client, file(b"ab", sha256=None)).read() == b"ab"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", "text/csv"),
        ("a.csv.gz", None),
        ("A.PARQUET", "application/vnd.apache.parquet"),
        ("a", None),
    ],
)
def test_the_media_type_is_guessed_from_the_name(
    server: Server, name: str, expected: str | None
) -> None:
    uploads(server, b"x")
    server.client.files.upload(b"x", name=name)
    assert json.loads(server.requests[0].content).get("content_type") == expected
