from __future__ import annotations

import json
from typing import Any

import httpx
import pytest
from support import TIME, Server

import roost

SECRET = "whsec_aHVzaC1odXNo"
HOOK = "/webhooks/hook_1"


def webhook(**fields: Any) -> dict[str, Any]:
    return {
        "id": "hook_1",
        "url": "https://hooks.example/T0/hush-hush",
        "description": "",
        "event_types": ["*"],
        "agent_id": None,
        "state": "active",
        "message": None,
        "created_at": TIME,
        "updated_at": TIME,
        **fields,
    }


def delivery(**fields: Any) -> dict[str, Any]:
    return {
        "id": "dlv_1",
        "webhook_id": "hook_1",
        "event_id": "17",
        "event_type": "execution.failed",
        "subject": "exec_1",
        "state": "failed",
        "attempts": 2,
        "next_attempt_at": None,
        "created_at": TIME,
        "finished_at": TIME,
        "status": 500,
        "message": "The receiver answered 500.",
        **fields,
    }


def test_the_secret_is_there_once_and_never_shown(server: Server) -> None:
    server.on("POST", "/webhooks", webhook(secret=SECRET))
    server.on("GET", HOOK, webhook())
    made = roost.Webhook.create(
        "https://hooks.example/T0/hush-hush",
        event_types=["execution.failed"],
        agent_id="agent_1",
        client=server.client,
    )
    assert made.secret == SECRET
    assert repr(made) == "<roost.Webhook id='hook_1' state='active'>"
    assert json.loads(server.requests[0].content) == {
        "url": "https://hooks.example/T0/hush-hush",
        "event_types": ["execution.failed"],
        "agent_id": "agent_1",
    }
    assert made.refresh().secret is None


def test_types_are_a_list(server: Server) -> None:
    with pytest.raises(TypeError, match="list"):
        server.client.webhooks.create("https://x.example", event_types="execution.failed")


def test_changes_are_made_in_place(server: Server) -> None:
    server.on("PATCH", HOOK, webhook(state="active"))
    hook = roost.Webhook(server.client, webhook(state="disabled", message="It is gone."))
    hook.update(state="active", event_types=["*"], agent_id=None)
    assert (hook.state, hook.message) == ("active", None)
    server.client.webhooks.update("hook_1", url="https://other.example")
    assert [json.loads(request.content) for request in server.requests] == [
        {"state": "active", "event_types": ["*"], "agent_id": None},
        {"url": "https://other.example"},
    ]


def test_a_new_secret_is_requested_once(server: Server) -> None:
    server.on("PATCH", HOOK, webhook(secret=SECRET), httpx.ReadError("reset"))
    hook = roost.Webhook(server.client, webhook())
    assert hook.rotate_secret() == SECRET
    assert json.loads(server.requests[0].content) == {"rotate_secret": True}
    with pytest.raises(roost.APIConnectionError):
        server.client.webhooks.rotate_secret("hook_1")
    assert len(server.requests) == 2


def test_list_retrieve_and_delete(server: Server) -> None:
    server.on("GET", "/webhooks", {"data": [webhook()], "next_cursor": None})
    server.on("GET", HOOK, webhook())
    server.on("DELETE", HOOK, httpx.Response(204))
    [found] = roost.Webhook.list(client=server.client)
    assert roost.Webhook.retrieve("hook_1", client=server.client) == found
    found.delete()


def test_a_test_is_one_request(server: Server) -> None:
    server.on("POST", HOOK + "/test", delivery(state="succeeded"), httpx.ReadError("reset"))
    hook = roost.Webhook(server.client, webhook())
    assert hook.test().state == "succeeded"
    with pytest.raises(roost.APIConnectionError):
        server.client.webhooks.test("hook_1")
    assert len(server.requests) == 2


def test_deliveries_show_the_result_of_each_attempt(server: Server) -> None:
    attempts = [
        {"attempt": 1, "started_at": TIME, "duration": 10.0, "status": None, "message": "Time out"},
        {
            "attempt": 2,
            "started_at": TIME,
            "duration": 0.1,
            "status": 500,
            "message": "x",
            "new": 1,
        },
    ]
    whole = delivery(attempts_log=attempts, request={"id": "17"})
    server.on("GET", HOOK + "/deliveries", {"data": [delivery()], "next_cursor": None})
    server.on("GET", HOOK + "/deliveries/dlv_1", whole)
    hook = roost.Webhook(server.client, webhook())
    [found] = hook.deliveries(state="failed", event_type="execution.failed")
    assert dict(server.requests[0].url.params) == {
        "state": "failed",
        "event_type": "execution.failed",
    }
    assert (found.status, found.attempts_log) == (500, None)
    assert repr(found) == (
        "<roost.Delivery id='dlv_1' event_type='execution.failed' state='failed' attempts=2>"
    )
    found.refresh()
    assert found.attempts_log is not None
    assert [(each.attempt, each.status) for each in found.attempts_log] == [(1, None), (2, 500)]
    assert found.attempts_log[0].started_at.utcoffset() is not None
    assert found.request == {"id": "17"}
    assert hook.delivery("dlv_1") == found


def test_replays(server: Server) -> None:
    server.on(
        "POST", HOOK + "/deliveries/dlv_1/replay", httpx.ReadError("x"), delivery(state="pending")
    )
    server.on("POST", HOOK + "/replay", {"deliveries": 3})
    found = roost.Delivery(server.client, delivery())
    assert found.replay().state == "pending"
    assert roost.Webhook(server.client, webhook()).replay(after=17) == 3
    assert json.loads(server.requests[-1].content) == {"after": "17"}
