"""URLs of agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal

from ._values import parse_time, parse_time_or_none

__all__ = ["AgentUrl", "SignatureScheme", "UrlAuthentication", "UrlMethod"]

UrlMethod = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
UrlAuthentication = Literal["key", "signature", "public"]
SignatureScheme = Literal["standard_webhooks", "github", "stripe", "slack"]


@dataclass(frozen=True)
class AgentUrl:
    """The URL at which an agent can be called.

    `url` is the address, or only its path if the server doesn't know its own address. With the
    `mode` "wait", responses have the job's result, unless it takes longer than `wait_seconds`;
    with "accept", they have its id. With the `format` "json", the body is the payload and the
    return value the response; with "http", `request.http` is the whole request. `authentication`
    is "key", "signature" or "public". `signature_scheme` is `None` unless requests are signed.
    `requests_per_minute` is the limit on each replica, `None` for none. `secret` is only set
    after a change that has set or generated it. Until `previous_secret_until`, signatures with the
    secret before are valid as well, if the change has kept it.
    """

    agent_id: str
    url: str
    methods: Sequence[str]
    mode: str
    format: str
    authentication: str
    signature_scheme: str | None
    cors_origins: Sequence[str]
    requests_per_minute: int | None
    wait_seconds: int
    created_at: datetime
    updated_at: datetime
    secret: str | None = field(default=None, repr=False)
    previous_secret_until: datetime | None = None

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> AgentUrl:
        """Return the URL that is `data` in the API."""
        return cls(
            data["agent_id"],
            data["url"],
            data["methods"],
            data["mode"],
            data["format"],
            data["authentication"],
            data["signature_scheme"],
            data["cors_origins"],
            data["requests_per_minute"],
            data["wait_seconds"],
            parse_time(data["created_at"]),
            parse_time(data["updated_at"]),
            data.get("secret"),
            parse_time_or_none(data.get("previous_secret_until")),
        )
