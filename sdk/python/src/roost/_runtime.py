"""What the server runs agents with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Runtime"]


@dataclass(frozen=True)
class Runtime:
    """Where builds and executors run (`kind` "local" or "kubernetes"), and with which Pythons.

    `default` is the version of an agent that doesn't ask for one. `data` is all that the server
    said, so also what this version of the package has no name for.
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
