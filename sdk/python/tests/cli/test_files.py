from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from support import Server, agent, execution, job, stream


def file(**fields: Any) -> dict[str, Any]:
    return {
        "id": "file_1",
        "name": "totals.csv",
        "content_type": "text/csv",
        "state": "stored",
        "size_bytes": 3,
        "sha256": hashlib.sha256(b"abc").hexdigest(),
        "created_at": "2026-11-02T09:00:00Z",
        **fields,
    }


def listed(server: Server, *found: dict[str, Any]) -> None:
    server.on("GET", "/executor-jobs/xjob_1", job(id="xjob_1"))
    server.on("GET", "/executor-jobs/xjob_1/files", {"data": found, "next_cursor": None})


MADE = {"kind": "artifact", "name": "totals.csv", "file": file()}
GIVEN = {"kind": "input", "name": "orders", "file": file(id="file_2", name="orders.csv")}


def test_the_files_of_a_job_are_listed(cli: Any, server: Server) -> None:
    listed(server, GIVEN, MADE)
    done = cli("files", "xjob_1", client=server.client)
    assert done.code == 0
    assert [line.split() for line in done.out.splitlines()][1:] == [
        ["input", "orders", "orders.csv", "text/csv", "3", "B", "file_2"],
        ["artifact", "totals.csv", "totals.csv", "text/csv", "3", "B", "file_1"],
    ]


def test_a_job_without_files(cli: Any, server: Server) -> None:
    listed(server)
    assert "xjob_1 has no files." in cli("files", "xjob_1", client=server.client).err


def test_artifacts_are_downloaded(cli: Any, server: Server, tmp_path: Path) -> None:
    listed(server, GIVEN, MADE)
    server.on("GET", "/files/file_1/content", stream("abc"))
    place = tmp_path / "results"
    done = cli("files", "xjob_1", "--download", str(place), client=server.client)
    assert (done.code, done.out) == (0, f"{place / 'totals.csv'}\n")
    assert (place / "totals.csv").read_bytes() == b"abc"


def test_a_name_that_a_job_has_not(cli: Any, server: Server) -> None:
    listed(server, MADE)
    done = cli("files", "xjob_1", "--name", "x", client=server.client)
    assert done.code == 2
    assert "xjob_1 has no file with the name 'x'" in done.err


def test_files_are_sent_with_a_payload(cli: Any, server: Server, tmp_path: Path) -> None:
    path = tmp_path / "orders.csv"
    path.write_bytes(b"abc")
    server.on("GET", "/agents", {"data": [agent(id="agent_1", name="totals")], "next_cursor": None})
    server.on("POST", "/files", file())
    server.on("PUT", "/files/file_1/parts/0", file())
    server.on("POST", "/files/file_1/complete", file())
    server.on("POST", "/agents/agent_1/execute", job(id="xjob_1", execution=execution()))
    done = cli("execute", "totals", "--file", f"orders={path}", "--no-wait", client=server.client)
    assert (done.code, done.out) == (0, "xjob_1\n")
    sent = json.loads(server.sent("POST", "/agents/agent_1/execute")[0].content)
    assert sent == {"files": {"orders": "file_1"}}


def test_what_is_no_file(cli: Any, server: Server) -> None:
    for text, message in (("orders", "expected NAME=PATH"), ("a=/missing", "there is no file")):
        done = cli("execute", "totals", "--file", text, client=server.client)
        assert done.code == 2
        assert message in done.err
