from __future__ import annotations

from typing import Any

import httpx
import pytest
from support import Server, agent, job, problem

import roost

RUNTIME = {"kind": "local", "python_versions": ["3.13"], "default": "3.13"}


@pytest.mark.parametrize(
    "trouble",
    [
        httpx.ConnectError("refused"),
        httpx.ReadError("reset"),
        httpx.RemoteProtocolError("Server disconnected without sending a response."),
        httpx.ReadTimeout("slow"),
        problem(429, "rate_limited"),
        problem(502, "x"),
        problem(503, "unavailable"),
        problem(504, "x"),
    ],
)
def test_what_may_pass_is_tried_again(server: Server, trouble: Any) -> None:
    server.on("GET", "/runtime", trouble, trouble, RUNTIME)
    assert server.client.runtime().default == "3.13"
    assert server.clock.slept == [0.5, 1.0]


def test_it_gives_up_after_four_retries(server: Server) -> None:
    server.on("GET", "/runtime", problem(503, "unavailable", "the database is away"))
    with pytest.raises(roost.Unavailable, match="the database is away"):
        server.client.runtime()
    assert len(server.requests) == 5
    assert server.clock.slept == [0.5, 1.0, 2.0, 4.0]


def test_retry_after_is_kept_to(server: Server) -> None:
    busy = problem(429, "rate_limited", headers={"Retry-After": "7"})
    server.on("GET", "/runtime", busy, RUNTIME)
    server.client.runtime()
    assert server.clock.slept == [7.5]


def test_retry_after_may_be_a_date(server: Server) -> None:
    headers = {
        "Date": "Mon, 02 Nov 2026 09:00:00 GMT",
        "Retry-After": "Mon, 02 Nov 2026 09:00:03 GMT",
    }
    server.on("GET", "/runtime", problem(503, "unavailable", headers=headers), RUNTIME)
    server.client.runtime()
    assert server.clock.slept == [3.5]


def test_a_long_retry_after_is_the_callers_business(server: Server) -> None:
    server.on("GET", "/runtime", problem(429, "rate_limited", headers={"Retry-After": "3600"}))
    with pytest.raises(roost.RateLimited) as raised:
        server.client.runtime()
    assert raised.value.retry_after == 3600
    assert server.clock.slept == []


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 500])
def test_what_will_not_pass_is_not_tried_again(server: Server, status: int) -> None:
    server.on("GET", "/runtime", problem(status, "x"))
    with pytest.raises(roost.RoostError):
        server.client.runtime()
    assert len(server.requests) == 1


def test_making_an_agent_is_not_repeated(server: Server) -> None:
    for trouble in (httpx.ReadError("reset"), problem(503, "unavailable")):
        server.on("POST", "/agents", trouble, agent())
        with pytest.raises(roost.RoostError):
            server.client.agents.create(script="def main(): ...")
    assert len(server.sent("POST", "/agents")) == 2


def test_making_an_agent_is_repeated_when_there_was_no_connection(server: Server) -> None:
    server.on("POST", "/agents", httpx.ConnectError("refused"), agent())
    assert server.client.agents.create(script="def main(): ...").id == "agent_1"


def test_execute_is_repeated_with_the_same_key(server: Server) -> None:
    trouble = httpx.ReadError("reset")
    server.on("POST", "/agents/agent_1/execute", trouble, trouble, job())
    greeter = roost.Agent(server.client, agent())
    greeter.execute()
    greeter.execute()
    keys = [request.headers["Idempotency-Key"] for request in server.requests]
    assert len(set(keys[:3])) == 1
    assert keys[3] != keys[0]


def test_a_delete_whose_answer_was_lost_has_succeeded(server: Server) -> None:
    server.on("DELETE", "/agents/agent_1", httpx.ReadError("reset"), problem(404, "not_found"))
    server.client.agents.delete("agent_1")


def test_a_delete_of_what_never_was_has_not(server: Server) -> None:
    refused = httpx.ConnectError("refused")
    server.on("DELETE", "/agents/agent_1", refused, problem(404, "not_found"))
    with pytest.raises(roost.NotFound):
        server.client.agents.delete("agent_1")


def test_a_conditional_write_is_not_repeated(server: Server) -> None:
    store = roost.DataStore(server.client, {"id": "store_1"})
    written = httpx.Response(204, headers={"ETag": '"4"'})
    server.on("PUT", "/datastore/store_1/entries/k", httpx.ReadError("reset"), written)
    with pytest.raises(roost.APIConnectionError):
        store.set("k", 1, if_match=3)
    assert store.set("k", 1) == 4


def test_a_certificate_that_is_not_trusted_is_not_tried_again(server: Server) -> None:
    error = httpx.ConnectError("[SSL: CERTIFICATE_VERIFY_FAILED] unable to get local issuer")
    server.on("GET", "/runtime", error)
    with pytest.raises(roost.APIConnectionError, match="SSL_CERT_FILE"):
        server.client.runtime()
    assert len(server.requests) == 1
