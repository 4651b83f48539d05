"""Signatures of webhooks; the first is the example of the Standard Webhooks specification."""

from __future__ import annotations

import base64
import hashlib
import hmac
import time

import pytest

import roost
from roost import aio

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_" + base64.b64encode(b"another secret, 24 bytes").decode()
ID = "msg_p5jXN8AQM9LWM0D4loKWxJek"
BODY = b'{"test": 2432232314}'


def headers(
    secrets: tuple[str, ...] = (SECRET,), seconds: int = 1614265330, body: bytes = BODY
) -> dict[str, str]:
    signed = f"{ID}.{seconds}.".encode() + body
    values = [
        hmac.new(base64.b64decode(each[6:]), signed, hashlib.sha256).digest() for each in secrets
    ]
    signatures = " ".join("v1," + base64.b64encode(each).decode() for each in values)
    return {
        "Webhook-Id": ID,
        "webhook-timestamp": str(seconds),
        "Webhook-Signature": signatures,
    }


@pytest.fixture(autouse=True)
def _then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", lambda: 1614265330.0)


def test_the_example_of_the_specification_verifies() -> None:
    found = headers()
    assert found["Webhook-Signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    for kind in (roost.Webhook, aio.Webhook):
        assert kind.verify(BODY, found, SECRET) == {"test": 2432232314}
        assert kind.verify(BODY.decode(), found, SECRET) == {"test": 2432232314}


def test_one_of_several_secrets_and_signatures_suffices() -> None:
    assert roost.Webhook.verify(BODY, headers((OTHER, SECRET)), SECRET)
    assert roost.Webhook.verify(BODY, headers(), [OTHER, SECRET])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"Webhook-Id": "msg_2"}, "no signature"),
        ({"Webhook-Signature": "v1,AAAA v1a,g0hM9SsE ü"}, "no signature"),
        ({"Webhook-Signature": "v1,ü"}, "no signature"),
        ({"Webhook-Signature": ""}, "webhook-signature is missing"),
        ({"webhook-timestamp": "1614265331"}, "no signature"),
        ({"webhook-timestamp": "now"}, "not a number"),
        ({"webhook-timestamp": "1614264000"}, "more than 300 s"),
        ({"webhook-timestamp": "1614266000"}, "more than 300 s"),
    ],
)
def test_any_other_request_is_refused(changed: dict[str, str], message: str) -> None:
    with pytest.raises(roost.SignatureError, match=message):
        roost.Webhook.verify(BODY, {**headers(), **changed}, SECRET)


def test_another_body_or_secret_is_refused() -> None:
    with pytest.raises(roost.SignatureError):
        roost.Webhook.verify(BODY + b" ", headers(), SECRET)
    with pytest.raises(roost.SignatureError):
        roost.Webhook.verify(BODY, headers(), OTHER)


@pytest.mark.parametrize("secret", ["", "whsec_", "whsec_?", []])
def test_a_secret_that_cannot_be_one_is_an_error_of_the_caller(secret: str) -> None:
    with pytest.raises(ValueError, match="secret"):
        roost.Webhook.verify(BODY, headers(), secret)


def test_an_old_request_is_accepted_with_more_tolerance() -> None:
    assert roost.Webhook.verify(BODY, headers(seconds=1614261330), SECRET, tolerance=5000)
