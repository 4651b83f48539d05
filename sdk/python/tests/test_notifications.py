from __future__ import annotations

import json
from typing import Any

import pytest
from support import TIME, Server

import roost

CHANNEL = "/notification-channels/channel_1"


def message(**fields: Any) -> dict[str, Any]:
    return {
        "id": "message_1",
        "channel_id": "channel_1",
        "test": True,
        "state": "succeeded",
        "title": "Test",
        "attempts": 1,
        "next_attempt_at": None,
        "created_at": TIME,
        "finished_at": TIME,
        "error": None,
        **fields,
    }


def channel(**fields: Any) -> dict[str, Any]:
    return {
        "id": "channel_1",
        "name": "On-call",
        "kind": "slack",
        "recipients": [],
        "url": "https://hooks.example/\u2026",
        "agents": [],
        "event_types": ["issue.opened"],
        "min_interval_seconds": 300,
        "time_zone": "UTC",
        "quiet_times": [{"days": ["mon"], "from": "22:00", "to": "07:00"}],
        "state": "active",
        "next_message_at": None,
        "latest_message": message(),
        "created_at": TIME,
        "updated_at": TIME,
        **fields,
    }


def test_a_channel_is_created(server: Server) -> None:
    server.on("POST", "/notification-channels", channel())
    made = roost.NotificationChannel.create(
        "On-call",
        slack_url="https://hooks.example/secret",
        quiet_times=[roost.QuietTime(["mon"], "22:00", "07:00")],
        client=server.client,
    )
    assert json.loads(server.requests[0].content) == {
        "name": "On-call",
        "kind": "slack",
        "url": "https://hooks.example/secret",
        "quiet_times": [{"days": ["mon"], "from": "22:00", "to": "07:00"}],
    }
    assert made.quiet_times == (roost.QuietTime(["mon"], "22:00", "07:00"),)
    assert made.latest_message is not None
    assert made.latest_message.state == "succeeded"
    assert "hooks" not in repr(made)


def test_a_channel_is_for_mail_or_slack(server: Server) -> None:
    channels = server.client.notification_channels
    with pytest.raises(TypeError, match="either recipients or slack_url"):
        channels.create("On-call")
    with pytest.raises(TypeError, match="lists"):
        channels.create("On-call", recipients="a@example.org")
    assert server.requests == []


def test_a_channel_is_changed_tested_and_deleted(server: Server) -> None:
    server.on("GET", CHANNEL, channel())
    server.on("PATCH", CHANNEL, channel(state="disabled"))
    server.on("POST", f"{CHANNEL}/test", message(state="failed", error="refused"))
    listed = {"data": [message()], "next_cursor": None}
    server.on("GET", f"{CHANNEL}/messages", listed)
    server.on("DELETE", CHANNEL, None)
    found = roost.NotificationChannel.retrieve("channel_1", client=server.client)
    found.update(state="disabled", quiet_times=[])
    assert found.state == "disabled"
    assert json.loads(server.requests[1].content) == {"state": "disabled", "quiet_times": []}
    sent = found.test()
    assert (sent.state, sent.error) == ("failed", "refused")
    assert [each.id for each in found.messages()] == ["message_1"]
    found.delete()
    assert server.requests[-1].method == "DELETE"
