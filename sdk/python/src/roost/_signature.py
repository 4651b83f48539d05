"""Webhook signatures according to Standard Webhooks: version 1, HMAC with SHA-256."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from ._errors import SignatureError
from ._values import parse_json

__all__ = ["TOLERANCE_SECONDS", "verify"]

TOLERANCE_SECONDS = 300.0
_PREFIX = "whsec_"
_VERSION = "v1,"


def verify(
    body: bytes | str,
    headers: Mapping[str, str],
    secrets: str | Sequence[str],
    tolerance: float,
) -> dict[str, Any]:
    """Return the event in the body, or raise `SignatureError` if no secret signed it."""
    import hmac

    content = body.encode() if isinstance(body, str) else bytes(body)
    keys = [_key(each) for each in ([secrets] if isinstance(secrets, str) else secrets)]
    if not keys:
        raise ValueError("give at least one secret")
    lower = {name.lower(): value for name, value in headers.items()}
    id_, timestamp, signatures = (_header(lower, name) for name in ("id", "timestamp", "signature"))
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) < 16):
        raise SignatureError("webhook-timestamp is not a number of seconds")
    if abs(time.time() - int(timestamp)) > tolerance:
        raise SignatureError(f"webhook-timestamp differs from now by more than {tolerance:g} s")
    signed = f"{id_}.{timestamp}.".encode() + content
    given = [each[len(_VERSION) :] for each in signatures.split() if each.startswith(_VERSION)]
    matches = False
    for key in keys:
        expected = _signature(key, signed)
        for each in given:  # all, for constant time
            matches |= hmac.compare_digest(expected, each.encode())
    if not matches:
        raise SignatureError("no signature in webhook-signature matches a secret")
    event: dict[str, Any] = parse_json(content)
    return event


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(f"webhook-{name}")
    if not value:
        raise SignatureError(f"the header webhook-{name} is missing")
    return value


def _key(secret: str) -> bytes:
    import base64

    try:
        key = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except ValueError:
        key = b""
    if not key:
        raise ValueError("a webhook's secret must be whsec_ and base64") from None
    return key


def _signature(key: bytes, signed: bytes) -> bytes:
    import base64
    import hashlib
    import hmac

    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
