"""The server's runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Runtime"]


@dataclass(frozen=True)
class Runtime:
    """Where builds and executors run (`kind` "local" or "kubernetes"), and with which Pythons.

    `default` is the version of agents without one. `data` is the whole response, including fields
    unknown to this version of the package.
    """

    kind: str | None
    python_versions: Sequence[str]
    default: str | None
    data: Mapping[str, Any] = field(repr=False)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Runtime:
        """Return the runtime that is `data` in the API."""
        versions = tuple(data.get("python_versions") or ())
        return cls(data.get("kind"), versions, data.get("default"), data)
