from __future__ import annotations

import pickle

import httpx
import pytest
from support import URL, Server, problem

import roost


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, "malformed_json", roost.ValidationError),
        (401, "unauthenticated", roost.AuthenticationError),
        (403, "forbidden", roost.PermissionDenied),
        (404, "not_found", roost.NotFound),
        (405, "method_not_allowed", roost.RoostError),
        (409, "conflict", roost.Conflict),
        (409, "of_the_future", roost.Conflict),
        (412, "precondition_failed", roost.PreconditionFailed),
        (413, "too_large", roost.TooLarge),
        (418, "of_the_future", roost.RoostError),
        (422, "validation_failed", roost.ValidationError),
        (422, "idempotency_key_reused", roost.ValidationError),
        (429, "queue_full", roost.RateLimited),
        (500, "internal", roost.ServerError),
        (503, "unavailable", roost.Unavailable),
        (501, "of_the_future", roost.ServerError),
        (418, "conflict", roost.Conflict),  # the code comes first
    ],
)
def test_each_problem_has_its_class(
    server: Server, status: int, code: str, kind: type[roost.RoostError]
) -> None:
    client = server.client
    client._transport._max_retries = 0
    server.on("GET", "/runtime", problem(status, code, "what to do"))
    with pytest.raises(roost.RoostError) as raised:
        client.runtime()
    error = raised.value
    assert type(error) is kind
    assert (error.code, error.status, error.detail, error.request_id) == (
        code,
        status,
        "what to do",
        "req_1",
    )
    assert "what to do" in str(error)


def test_a_validation_error_shows_every_problem(server: Server) -> None:
    errors = [
        {
            "pointer": "/requirements",
            "line": 3,
            "code": "unpinned",
            "detail": "write Jinja2==3.1.4",
        },
        {"pointer": "/memory", "code": "out_of_range", "detail": "at least 16", "new": True},
    ]
    server.on("POST", "/agents", problem(422, "validation_failed", "2 mistakes", errors))
    with pytest.raises(roost.ValidationError) as raised:
        server.client.agents.create(script="def main(): ...", requirements="Jinja2")
    assert raised.value.errors == (
        roost.FieldError("/requirements", 3, "unpinned", "write Jinja2==3.1.4"),
        roost.FieldError("/memory", None, "out_of_range", "at least 16"),
    )
    assert str(raised.value).splitlines() == [
        "2 mistakes (422 validation_failed)",
        "  requirements, line 3: write Jinja2==3.1.4",
        "  memory: at least 16",
    ]


def test_a_refused_connection_says_what_to_do(server: Server) -> None:
    server.on("GET", "/runtime", httpx.ConnectError("[Errno 111] Connection refused"))
    with pytest.raises(roost.APIConnectionError) as raised:
        server.client.runtime()
    for part in (URL, "Connection refused", "Is it running", "ROOST_URL"):
        assert part in str(raised.value)
    assert isinstance(raised.value, ConnectionError)


def test_silence_is_a_timeout(server: Server) -> None:
    server.on("GET", "/runtime", httpx.ReadTimeout("slow"))
    with pytest.raises(roost.APITimeout, match="within 30 s") as raised:
        server.client.runtime()
    assert isinstance(raised.value, TimeoutError)


def test_a_wrong_key_names_its_source(server: Server) -> None:
    server.on("GET", "/runtime", problem(401, "unauthenticated", "no such key"))
    with pytest.raises(roost.AuthenticationError, match="came from api_key="):
        server.client.runtime()


def test_the_page_of_a_proxy_is_an_error_too(server: Server) -> None:
    page = httpx.Response(502, html="<h1>Bad\n gateway</h1>", headers={"X-Request-Id": "r7"})
    server.on("GET", "/runtime", page)
    with pytest.raises(roost.Unavailable, match="Bad gateway") as raised:
        server.client.runtime()
    assert raised.value.request_id == "r7"


def test_another_server_is_recognised(server: Server) -> None:
    server.on("GET", "/runtime", httpx.Response(200, html="<h1>Welcome</h1>"))
    with pytest.raises(roost.ServerError, match="not JSON"):
        server.client.runtime()


def test_a_redirect_says_where_to(server: Server) -> None:
    elsewhere = httpx.Response(308, headers={"Location": "https://roost.example/v1/runtime"})
    server.on("GET", "/runtime", elsewhere)
    with pytest.raises(roost.RoostError, match=r"https://roost\.example"):
        server.client.runtime()


def test_errors_can_be_pickled(server: Server) -> None:
    error = roost.BuildFailed("no such version", code="requirement_not_found")
    error.builder_job = roost.BuilderJob(server.client, {"id": "bjob_1", "state": "failed"})
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.code) == ("no such version", "requirement_not_found")
    assert copy.builder_job == error.builder_job


def test_the_docstring_of_the_tree_names_every_error() -> None:
    from roost import _errors

    for name in _errors.__all__:
        if name != "FieldError":
            assert name in (_errors.__doc__ or "")
            assert getattr(roost, name).__module__ == "roost"
