"""What belongs to an order: its options, its key, and what came of it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

__all__ = ["BATCH_MOST", "KEY_MOST_CHARACTERS", "Ordered", "checked_key", "options"]

BATCH_MOST = 1000
KEY_MOST_CHARACTERS = 255


class Ordered(NamedTuple):
    """The ExecutorJobs of one batch, in the order of their payloads.

    `last_event_id` is a position of the log before all of their events. `repeated` says that an
    earlier request has made them.
    """

    id: str
    job_ids: Sequence[str]
    last_event_id: int
    repeated: bool


def options(priority: int | None, concurrency_key: str | None) -> dict[str, Any]:
    """Return what of an order was given."""
    given = {"priority": priority, "concurrency_key": concurrency_key}
    return {name: value for name, value in given.items() if value is not None}


def checked_key(key: str | None) -> str:
    """Return that Idempotency-Key if it can be one, or a new one for `None`."""
    if key is None:
        return str(uuid.uuid4())
    if not 1 <= len(key) <= KEY_MOST_CHARACTERS or not (key.isascii() and key.isprintable()):
        raise ValueError("idempotency_key must be 1 to 255 printable ASCII characters")
    return key
