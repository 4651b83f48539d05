from __future__ import annotations

import json
from typing import Any

import pytest
from support import TIME, Server

PATH = "/notification-channels"


def channel(**fields: Any) -> dict[str, Any]:
    return {
        "id": "channel_1",
        "name": "On-call",
        "kind": "slack",
        "recipients": [],
        "url": "https://hooks.example/...",
        "agents": [],
        "event_types": ["issue.opened"],
        "min_interval_seconds": 300,
        "time_zone": "UTC",
        "quiet_times": [],
        "state": "active",
        "next_message_at": None,
        "latest_message": message(error="the receiver responded with 500"),
        "created_at": TIME,
        "updated_at": TIME,
        **fields,
    }


def message(**fields: Any) -> dict[str, Any]:
    return {
        "id": "message_1",
        "channel_id": "channel_1",
        "test": False,
        "state": "failed",
        "title": "New issue in orders",
        "attempts": 1,
        "next_attempt_at": None,
        "created_at": TIME,
        "finished_at": TIME,
        "error": None,
        **fields,
    }


@pytest.fixture
def notified(server: Server) -> Server:
    server.on("GET", PATH, {"data": [channel()], "next_cursor": None})
    server.on("POST", PATH, channel())
    server.on("PATCH", f"{PATH}/channel_1", channel())
    server.on("DELETE", f"{PATH}/channel_1", None)
    server.on("POST", f"{PATH}/channel_1/test", message(test=True, state="succeeded"))
    messages = {"data": [message()], "next_cursor": None}
    server.on("GET", f"{PATH}/channel_1/messages", messages)
    return server


def test_channels_are_listed_with_their_latest_result(cli: Any, notified: Server) -> None:
    done = cli("notifications", "list", client=notified.client)
    assert done.code == 0
    assert "On-call" in done.out
    done = cli("notifications", "list", "--json", client=notified.client)
    assert [each["id"] for each in json.loads(done.out)] == ["channel_1"]


def test_a_channel_is_created(cli: Any, notified: Server) -> None:
    options = ("--email", "a@example.org", "--agent", "orders-*", "--quiet", "*@22:00-07:00")
    done = cli("notifications", "create", "Team", *options, client=notified.client)
    assert done.code == 0
    assert "Created channel_1." in done.err
    sent = json.loads(notified.requests[-1].content)
    assert (sent["kind"], sent["recipients"]) == ("email", ["a@example.org"])
    assert sent["agents"] == ["orders-*"]
    assert sent["quiet_times"][0]["from"] == "22:00"
    assert len(sent["quiet_times"][0]["days"]) == 7


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ((), "either --email or --slack"),
        (("--email", "a@b.c", "--slack", "https://x"), "either --email or --slack"),
        (("--slack", "https://x", "--quiet", "22:00"), "is not a quiet time"),
    ],
)
def test_mistakes_are_reported(
    cli: Any, notified: Server, options: tuple[str, ...], text: str
) -> None:
    done = cli("notifications", "create", "Team", *options, client=notified.client)
    assert done.code != 0
    assert text in done.err
    assert notified.requests == []


def test_a_channel_is_changed_and_deleted(cli: Any, notified: Server) -> None:
    done = cli("notifications", "update", "channel_1", client=notified.client)
    assert "nothing to change" in done.err
    options = ("--state", "disabled", "--slack", "https://x")
    cli("notifications", "update", "channel_1", *options, client=notified.client)
    sent = json.loads(notified.requests[-1].content)
    assert sent == {"state": "disabled", "url": "https://x"}
    done = cli("notifications", "delete", "channel_1", "--yes", client=notified.client)
    assert "Deleted channel_1." in done.err


def test_a_test_fails_if_it_does_not_arrive(cli: Any, notified: Server) -> None:
    done = cli("notifications", "test", "channel_1", client=notified.client)
    assert (done.code, done.err) == (0, "The test message was sent.\n")
    failed = message(test=True, error="could not connect")
    notified.on("POST", f"{PATH}/channel_1/test", failed)
    done = cli("notifications", "test", "channel_1", client=notified.client)
    assert done.code != 0
    assert "could not connect" in done.err


def test_messages_are_listed(cli: Any, notified: Server) -> None:
    done = cli("notifications", "messages", "channel_1", client=notified.client)
    assert "New issue in orders" in done.out
