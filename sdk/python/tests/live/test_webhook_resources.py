from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any, Callable

import pytest

import roost

MakeAgent = Callable[..., roost.Agent]
TIMEOUT = 180.0


class Receiver(BaseHTTPRequestHandler):
    got: Queue[tuple[dict[str, str], bytes]]
    status: list[int]  # of the next answers; the last one for ever

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.status.pop(0) if len(self.status) > 1 else self.status[0]
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()
        self.got.put(({name.lower(): value for name, value in self.headers.items()}, body))

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


@pytest.fixture
def receiver() -> Iterator[type[Receiver]]:
    handler = type("RecordingReceiver", (Receiver,), {"got": Queue(), "status": [204]})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        handler.url = f"http://127.0.0.1:{server.server_port}/hook"  # type: ignore[attr-defined]
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield handler
        server.shutdown()
        thread.join()


@pytest.fixture
def agent(make_agent: MakeAgent) -> roost.Agent:
    return make_agent(script="def main():\n    return 1\n", store_ids=[])


@pytest.fixture
def hook(
    client: roost.Client, receiver: Any, unique: str, agent: roost.Agent
) -> Iterator[roost.Webhook]:
    """A webhook of one agent: events of other tests may be delivered at the same time."""
    try:
        made = client.webhooks.create(
            receiver.url,
            description=unique,
            event_types=["executor_job.succeeded"],
            agent_id=agent.id,
        )
    except roost.ValidationError as error:
        if "allowed-networks" not in str(error):
            raise
        pytest.skip("needs roost.webhooks.allowed-networks=127.0.0.0/8")
    yield made
    made.delete()


def is_signed(secret: str, headers: dict[str, str], body: bytes) -> bool:
    """Whether a request is signed with that secret, as Standard Webhooks says."""
    key = base64.b64decode(secret[len("whsec_") :])
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    return f"v1,{expected}" in headers["webhook-signature"].split()


def test_a_test_arrives_signed(hook: roost.Webhook, receiver: Any) -> None:
    assert hook.secret is not None
    secret = hook.secret
    delivery = hook.test()
    assert (delivery.state, delivery.status, delivery.event_type) == (
        "succeeded",
        204,
        "webhook.test",
    )
    headers, body = receiver.got.get(timeout=TIMEOUT)
    assert headers["webhook-id"] == delivery.id
    assert is_signed(secret, headers, body)
    assert json.loads(body)["type"] == "dev.roost.webhook.test"

    renewed = hook.rotate_secret()
    assert renewed not in (secret, repr(hook))
    hook.test()
    headers, body = receiver.got.get(timeout=TIMEOUT)
    assert is_signed(secret, headers, body)
    assert is_signed(renewed, headers, body)
    assert hook.refresh().secret is None


def test_what_happens_is_reported_once(
    hook: roost.Webhook, receiver: Any, agent: roost.Agent
) -> None:
    jobs = [agent.execute(timeout=TIMEOUT, check=True).executor_job_id for _ in range(3)]
    delivered = [json.loads(receiver.got.get(timeout=TIMEOUT)[1]) for _ in jobs]
    assert sorted(event["subject"] for event in delivered) == jobs  # in order for each subject only
    assert {event["type"] for event in delivered} == {"dev.roost.executor_job.succeeded"}
    deliveries = list(hook.deliveries(event_type="executor_job.succeeded"))
    assert [delivery.subject for delivery in deliveries] == jobs[::-1]
    whole = hook.delivery(deliveries[0].id)
    assert whole.request in delivered


def test_a_failed_attempt_is_reported_and_repeated(
    hook: roost.Webhook, receiver: Any, agent: roost.Agent
) -> None:
    receiver.status[:] = [500, 204]
    agent.execute(timeout=TIMEOUT)
    receiver.got.get(timeout=TIMEOUT)
    receiver.got.get(timeout=TIMEOUT)
    [delivery] = hook.deliveries(event_type="executor_job.succeeded")
    give_up = time.monotonic() + TIMEOUT
    while delivery.refresh().state == "pending":
        assert time.monotonic() < give_up
    assert delivery.attempts == 2
    assert delivery.attempts_log is not None
    assert [attempt.status for attempt in delivery.attempts_log] == [500, 204]
    delivery.replay()
    headers, _ = receiver.got.get(timeout=TIMEOUT)
    assert headers["webhook-id"] == delivery.id


def test_what_was_missed_is_sent_later(
    hook: roost.Webhook, receiver: Any, client: roost.Client, agent: roost.Agent
) -> None:
    hook.update(state="disabled")
    events = client.events(types="executor_job.succeeded", agent_id=agent.id)
    agent.execute(timeout=TIMEOUT)
    missed = next(events)
    events.close()
    hook.update(state="active")
    assert hook.replay(after=int(missed.id) - 1) == 1
    _, body = receiver.got.get(timeout=TIMEOUT)
    assert json.loads(body)["id"] == missed.id


def test_addresses_that_are_not_public_are_refused(client: roost.Client) -> None:
    with pytest.raises(roost.ValidationError) as raised:
        client.webhooks.create("http://169.254.169.254/latest/meta-data")
    assert raised.value.errors[0].pointer == "/url"
