from __future__ import annotations

import json
from typing import Any

from support import TIME, Server, job

EVENT = {
    "id": "jevent_1",
    "name": "paid",
    "key": None,
    "data": {"n": 1},
    "executor_job_id": "xjob_1",
    "received_at": TIME,
    "created_at": TIME,
    "expires_at": TIME,
}


def test_an_event_for_a_job(cli: Any, server: Server) -> None:
    server.on("GET", "/executor-jobs/xjob_1", job())
    server.on("POST", "/executor-jobs/xjob_1/events", EVENT)
    done = cli("send", "paid", "--job", "xjob_1", "--data", '{"n": 1}', client=server.client)
    assert done.code == 0
    assert "xjob_1 has received jevent_1." in done.out + done.err
    (request,) = server.sent("POST", "/executor-jobs/xjob_1/events")
    assert json.loads(request.content) == {"name": "paid", "data": {"n": 1}}


def test_an_event_with_a_key(cli: Any, server: Server) -> None:
    stored = {**EVENT, "key": "order-1", "executor_job_id": None, "received_at": None}
    server.on("POST", "/events", stored)
    done = cli("send", "paid", "--key", "order-1", client=server.client)
    assert "jevent_1 is stored: no script waits for it yet." in done.out + done.err
    done = cli("send", "paid", "--key", "order-1", "--json", client=server.client)
    assert json.loads(done.out)["key"] == "order-1"


def test_mistakes(cli: Any, server: Server) -> None:
    for more in ((), ("--job", "xjob_1", "--key", "k")):
        done = cli("send", "paid", *more, client=server.client)
        assert done.code == 2
        assert "Give either --job or --key." in done.err
    done = cli("send", "paid", "--key", "k", "--data", "{", client=server.client)
    assert done.code == 2
    assert "--data is not JSON" in done.err
