from __future__ import annotations

from typing import Any

import httpx
import pytest
from support import Server, problem


@pytest.mark.parametrize(
    ("status", "code", "exit_code"),
    [
        (401, "unauthenticated", 3),
        (403, "forbidden", 3),
        (404, "not_found", 4),
        (409, "conflict", 5),
        (413, "too_large", 5),
        (422, "validation_failed", 5),
        (429, "queue_full", 5),
        (500, "internal", 6),
        (503, "unavailable", 6),
    ],
)
def test_what_the_server_refuses_has_an_exit_code(
    cli: Any, server: Server, status: int, code: str, exit_code: int
) -> None:
    server.on("GET", "/keys", problem(status, code, "That is why."))
    done = cli("keys", "list", client=server.client)
    assert (done.code, done.out) == (exit_code, "")
    assert done.err.startswith("Error: That is why.")
    assert code not in done.err  # is for programs


def test_every_mistake_of_a_request_is_reported_once(cli: Any, server: Server) -> None:
    errors = [
        {"pointer": "/name", "line": None, "code": "x", "detail": "The name is taken."},
        {"pointer": "/role", "line": None, "code": "x", "detail": "No such role."},
    ]
    answer = problem(422, "validation_failed", "2 errors; the first: The name…", errors)
    server.on("POST", "/keys", answer)
    done = cli("keys", "create", "ci", "--role", "read", client=server.client)
    assert "  name: The name is taken.\n  role: No such role.\n" in done.err
    server.on("POST", "/keys", problem(422, "validation_failed", "One: …", errors[:1]))
    done = cli("keys", "create", "ci", "--role", "read", client=server.client)
    assert done.err == "Error: name: The name is taken.\n"


def test_a_server_that_is_not_there_is_named(cli: Any, server: Server) -> None:
    server.on("GET", "/keys", httpx.ConnectError("Connection refused"))
    done = cli("keys", "list", client=server.client)
    assert done.code == 6
    assert "Can't reach Roost at http://roost.test:8080" in done.err
    assert "ROOST_URL" in done.err
    assert "roost.base_url" not in done.err


def test_a_request_without_an_answer_is_a_time_out(cli: Any, server: Server) -> None:
    server.on("GET", "/keys", httpx.ReadTimeout("slow"))
    assert cli("keys", "list", client=server.client).code == 124


def test_without_a_key_it_says_how_to_get_one(cli: Any) -> None:
    done = cli("keys", "list")
    assert done.code == 3
    assert "You are not signed in" in done.err
    assert "`roost login`" in done.err
    assert "api_key=" not in done.err


def test_ctrl_c_is_130(cli: Any, server: Server) -> None:
    def interrupt(request: object) -> None:
        raise KeyboardInterrupt

    server.on("GET", "/keys", interrupt)
    assert cli("keys", "list", client=server.client).code == 130


def test_a_file_that_is_not_there_is_named(cli: Any, server: Server) -> None:
    done = cli("deploy", "nowhere.py", client=server.client)
    assert done.code == 2
    assert "nowhere.py: No such file" in done.err
