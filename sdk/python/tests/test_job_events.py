from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from support import TIME, Server, aio_client, job

import roost

PATH = "/executor-jobs/xjob_1"


def event(**fields: Any) -> dict[str, Any]:
    return {
        "id": "jevent_1",
        "name": "paid",
        "key": None,
        "data": {"amount": 20},
        "executor_job_id": "xjob_1",
        "received_at": TIME,
        "created_at": TIME,
        "expires_at": TIME,
        **fields,
    }


def test_an_event_for_a_job(server: Server) -> None:
    server.on("GET", PATH, job())
    server.on("POST", PATH + "/events", event())
    sent = server.client.executor_jobs.retrieve("xjob_1").send_event("paid", {"amount": 20})
    assert isinstance(sent, roost.JobEvent)
    assert (sent.id, sent.key, sent.data) == ("jevent_1", None, {"amount": 20})
    assert sent.received_at is not None
    (request,) = server.sent("POST", PATH + "/events")
    assert json.loads(request.content) == {"name": "paid", "data": {"amount": 20}}
    assert request.headers["Idempotency-Key"]


def test_an_event_with_a_key(server: Server) -> None:
    stored = event(key="order-1", executor_job_id=None, received_at=None, data=None)
    server.on("POST", "/events", stored)
    sent = roost.send_event("paid", key="order-1", idempotency_key="k", client=server.client)
    assert (sent.key, sent.executor_job_id, sent.received_at) == ("order-1", None, None)
    (request,) = server.sent("POST", "/events")
    assert json.loads(request.content) == {"name": "paid", "key": "order-1", "data": None}
    assert request.headers["Idempotency-Key"] == "k"


def test_the_events_of_a_job_also_for_asyncio(server: Server) -> None:
    server.on("GET", PATH, job())
    server.on("GET", PATH + "/events", {"data": [event()], "next_cursor": None})
    server.on("POST", "/events", event(key="order-1"))
    assert [e.id for e in server.client.executor_jobs.retrieve("xjob_1").events()] == ["jevent_1"]

    async def use() -> tuple[list[str], roost.JobEvent]:
        async with aio_client(server._handle, server.clock) as client:
            found = await client.executor_jobs.retrieve("xjob_1")
            return [e.id async for e in found.events()], await client.send_event("paid", key="k")

    ids, sent = asyncio.run(use())
    assert ids == ["jevent_1"]
    assert sent.key == "order-1"


def test_what_is_not_json_is_not_sent(server: Server) -> None:
    with pytest.raises(TypeError):
        server.client.send_event("paid", object(), key="k")
    assert not server.sent("POST", "/events")
