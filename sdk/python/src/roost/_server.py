"""The server's settings and login links."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ._values import parse_time

__all__ = ["LoginLink", "ServerSetting"]


@dataclass(frozen=True)
class LoginLink:
    """A URL that signs a browser in to the dashboard, once, until `expires_at`."""

    url: str = field(repr=False)
    expires_at: datetime

    @classmethod
    def of(cls, data: Mapping[str, Any], base_url: str) -> LoginLink:
        """Return the link that is `data` in the API of that server, with its whole URL."""
        url = data["url"]
        return cls(base_url + url if url.startswith("/") else url, parse_time(data["expires_at"]))


@dataclass(frozen=True)
class ServerSetting:
    """A setting of the server, with its environment variable.

    `set` is false if the value is the `default`. The value of a secret is "(set)".
    """

    name: str
    environment: str
    value: str | None
    default: str | None
    description: str
    set: bool

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> ServerSetting:
        """Return the setting that is `data` in the API."""
        return cls(
            data["name"],
            data["environment"],
            data["value"],
            data["default"],
            data["description"],
            data["set"],
        )
