"""Deliveries of webhooks against the verification that receivers use, not against Roost's own."""

from __future__ import annotations

import base64
import json
import os
import queue
import re
import threading
from collections.abc import Iterator
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Callable

import httpx
import pytest
from standardwebhooks import Webhook, WebhookVerificationError

import roost

MakeAgent = Callable[..., roost.Agent]
TIMEOUT = 180.0
DELIVERY_SECONDS = 60.0

ATTRIBUTE_NAME = re.compile(r"[a-z0-9]{1,20}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


class Receiver:
    """Takes deliveries on loopback and keeps them as they came."""

    def __init__(self) -> None:
        self.deliveries: queue.Queue[tuple[dict[str, str], bytes]] = queue.Queue()
        deliveries = self.deliveries

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                deliveries.put((dict(self.headers.items()), body))
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def take(self) -> tuple[dict[str, str], bytes]:
        return self.deliveries.get(timeout=DELIVERY_SECONDS)

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()


@pytest.fixture
def api(client: roost.Client) -> Iterator[httpx.Client]:
    key = os.environ["ROOST_TEST_API_KEY"]
    headers = {"Authorization": f"Bearer {key}"}
    with httpx.Client(base_url=client.base_url, headers=headers, timeout=60) as api:
        yield api


@pytest.fixture
def make_webhook(api: httpx.Client) -> Iterator[Callable[..., dict[str, Any]]]:
    made: list[str] = []

    def make(url: str, **settings: object) -> dict[str, Any]:
        answer = api.post("/v1/webhooks", json={"url": url, **settings})
        if answer.status_code == 422 and "allowed-networks" in answer.text:
            pytest.skip("the server doesn't let webhooks reach 127.0.0.0/8")
        assert answer.status_code == 201, answer.text
        webhook: dict[str, Any] = answer.json()
        made.append(webhook["id"])
        return webhook

    yield make
    for webhook_id in made:
        api.delete(f"/v1/webhooks/{webhook_id}")


def check_cloud_event(headers: dict[str, str], body: bytes) -> dict[str, Any]:
    """The rules of CloudEvents 1.0, its JSON format and its sequence extension."""
    assert headers["Content-Type"] == "application/cloudevents+json"
    event: dict[str, Any] = json.loads(body.decode("utf-8"))
    assert event["specversion"] == "1.0"
    for name in ("id", "source", "type", "subject", "sequence"):
        assert isinstance(event[name], str), name
        assert event[name], name
    assert re.fullmatch(r"urn:roost:[0-9a-f-]{36}", event["source"])
    assert event["type"].startswith("dev.roost.")
    assert TIME.fullmatch(event["time"])
    assert event["datacontenttype"] == "application/json"
    assert isinstance(event["data"], dict)
    assert all(ATTRIBUTE_NAME.fullmatch(name) for name in event)
    assert int(event["sequence"]) == int(event["id"])
    return event


def test_every_delivery_of_an_execution_is_verified_and_in_order(
    make_agent: MakeAgent, make_webhook: Callable[..., dict[str, Any]], receiver: Receiver
) -> None:
    agent = make_agent(script="def main(request):\n    return 1\n", store_ids=[])
    webhook = make_webhook(
        receiver.url, agent_id=agent.id, event_types=["execution.*", "executor_job.*"]
    )
    verifier = Webhook(webhook["secret"])
    execution = agent.execute(timeout=TIMEOUT, check=True)
    events: list[dict[str, Any]] = []
    while not events or not {"execution.succeeded", "executor_job.succeeded"} <= {
        event["type"][len("dev.roost.") :] for event in events
    }:
        headers, body = receiver.take()
        assert verifier.verify(body, headers) == json.loads(body)
        events.append(check_cloud_event(headers, body))
    of_execution = [event for event in events if event["subject"] == execution.id]
    assert [event["type"] for event in of_execution] == [
        "dev.roost.execution.running",
        "dev.roost.execution.succeeded",
    ]
    assert of_execution[0]["sequence"] < of_execution[1]["sequence"]
    assert of_execution[1]["data"]["state"] == "succeeded"
    assert {event["source"] for event in events} == {events[0]["source"]}


def test_what_was_changed_on_the_way_is_not_verified(
    api: httpx.Client, make_webhook: Callable[..., dict[str, Any]], receiver: Receiver
) -> None:
    webhook = make_webhook(receiver.url, event_types=["schedule.skipped"])
    answer = api.post(f"/v1/webhooks/{webhook['id']}/test")
    assert answer.status_code == 200, answer.text
    assert (answer.json()["state"], answer.json()["status"]) == ("succeeded", 204)
    headers, body = receiver.take()
    verifier = Webhook(webhook["secret"])
    assert verifier.verify(body, headers)["type"] == "dev.roost.webhook.test"
    with pytest.raises(WebhookVerificationError):
        verifier.verify(body + b" ", headers)
    with pytest.raises(WebhookVerificationError):
        verifier.verify(body, {**headers, "webhook-id": "dlv_other"})
    with pytest.raises(WebhookVerificationError):
        Webhook("whsec_" + base64.b64encode(b"x" * 32).decode()).verify(body, headers)


def test_after_a_rotation_both_secrets_verify(
    api: httpx.Client, make_webhook: Callable[..., dict[str, Any]], receiver: Receiver
) -> None:
    given = "whsec_" + base64.b64encode(os.urandom(24)).decode()
    webhook = make_webhook(receiver.url, event_types=["schedule.skipped"], secret=given)
    path = f"/v1/webhooks/{webhook['id']}"
    fresh = api.patch(path, json={"rotate_secret": True}).json()["secret"]
    assert api.post(path + "/test").json()["state"] == "succeeded"
    headers, body = receiver.take()
    for secret in (given, fresh):
        Webhook(secret).verify(body, headers)
    sent = datetime.fromtimestamp(int(headers["webhook-timestamp"]), tz=timezone.utc)
    assert abs((datetime.now(tz=timezone.utc) - sent).total_seconds()) < 300
