"""Options, idempotency keys and results of submissions."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, NamedTuple

__all__ = ["MAX_BATCH", "MAX_KEY_CHARACTERS", "SubmittedBatch", "checked_key", "options"]

MAX_BATCH = 1000
MAX_KEY_CHARACTERS = 255


class SubmittedBatch(NamedTuple):
    """The ExecutorJobs of one batch, in the order of their payloads.

    `last_event_id` is a position of the event log before all of their events. `repeated` is true
    if an earlier request has created them.
    """

    id: str
    job_ids: Sequence[str]
    last_event_id: int
    repeated: bool


def options(
    priority: int | None,
    concurrency_key: str | None,
    draft: str | None = None,
    files: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the given options; a draft is the `script`, `files` are ids by name."""
    given = {
        "script": draft,
        "priority": priority,
        "concurrency_key": concurrency_key,
        "files": files,
    }
    return {name: value for name, value in given.items() if value is not None}


def checked_key(key: str | None) -> str:
    """Return the Idempotency-Key if it is valid, or a new one for `None`."""
    if key is None:
        return str(uuid.uuid4())
    if not 1 <= len(key) <= MAX_KEY_CHARACTERS or not (key.isascii() and key.isprintable()):
        raise ValueError("idempotency_key must be 1 to 255 printable ASCII characters")
    return key
