"""Submission of jobs, one or a batch."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable

from .._fields import path_to
from .._submissions import SubmittedBatch, checked_key
from .._values import NOT_GIVEN, dump_json
from . import _waiting
from ._concurrency import iterate
from ._executor_job import ExecutorJob
from ._stream import Items

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["cancel_batch", "chunks", "submit", "submit_batch"]


async def submit(
    client: Client,
    agent_id: str,
    payload: Any,
    idempotency_key: str | None,
    given: Mapping[str, Any],
    hold: float = 0.0,
) -> ExecutorJob:
    """Create an ExecutorJob; the server delays the response up to `hold` seconds for its end."""
    transport = client._transport
    body = dump_json(given, "options")
    if payload is not NOT_GIVEN:
        rest = b"," + body[1:] if given else b"}"
        body = b'{"payload":' + dump_json(payload, "payload") + rest
    response = await transport.request(
        "POST",
        path_to("/agents", agent_id) + ("/execute-draft" if "script" in given else "/execute"),
        params=_waiting.held(hold),
        body=body,
        headers={"Idempotency-Key": checked_key(idempotency_key)},
        repeatable=True,  # by its key
        read_timeout=hold + transport.timeout,
    )
    return ExecutorJob(client, transport.parse(response))


async def submit_batch(
    client: Client,
    agent_id: str,
    payloads: Sequence[bytes],
    idempotency_key: str,
    given: Mapping[str, Any],
    *,
    deadline: float | None = None,
) -> SubmittedBatch:
    """Create the ExecutorJobs for these JSON texts, atomically.

    No retry starts after `deadline`, a time of the clock.
    """
    transport = client._transport
    rest = b"," + dump_json(given, "options")[1:] if given else b"}"
    response = await transport.request(
        "POST",
        path_to("/agents", agent_id) + "/execute-batch",
        body=b'{"payloads":[' + b",".join(payloads) + b"]" + rest,
        headers={"Idempotency-Key": idempotency_key},
        repeatable=True,  # by its key
        deadline=deadline,
    )
    answer = transport.parse(response)
    return SubmittedBatch(
        answer["batch_id"],
        answer["executor_job_ids"],
        int(answer["last_event_id"]),
        response.status_code == 200,
    )


async def cancel_batch(client: Client, batch_id: str, *, running: bool) -> None:
    """Cancel the queued ExecutorJobs of a batch, and the running ones with `running`."""
    body = dump_json({"batch_id": batch_id, "running": running}, "batch")
    await client._transport.request("POST", "/executor-jobs/cancel", body=body, repeatable=True)


async def chunks(
    payloads: Items[Any],
    most: int,
    most_bytes: int,
    cut: Callable[[], bool] = lambda: False,
) -> AsyncGenerator[list[bytes], None]:
    """Yield the payloads' JSON texts, in chunks within the limits.

    `cut()` ends a chunk early. A text that exceeds the limit is a chunk of its own.
    """
    chunk: list[bytes] = []
    size = 0
    number = 0
    async for payload in iterate(payloads):
        number += 1
        text = dump_json(payload, f"payload {number}")
        if chunk and size + len(text) > most_bytes:
            yield chunk
            chunk, size = [], 0
        chunk.append(text)
        size += len(text) + 1
        if len(chunk) == most or cut():
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk
