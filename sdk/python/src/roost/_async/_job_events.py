"""Sending events to scripts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._job_events import JobEvent
from .._submissions import checked_key
from .._values import dump_json
from ._resource import default_client

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["send", "send_event"]


async def send(
    client: Client, path: str, idempotency_key: str | None, fields: dict[str, Any]
) -> JobEvent:
    """Send an event to the resource at `path`."""
    transport = client._transport
    response = await transport.request(
        "POST",
        path,
        body=dump_json(fields, "data"),
        headers={"Idempotency-Key": checked_key(idempotency_key)},
        repeatable=True,  # by its key
    )
    return JobEvent.of(transport.parse(response))


async def send_event(
    name: str,
    data: Any = None,
    *,
    key: str,
    idempotency_key: str | None = None,
    client: Client | None = None,
) -> JobEvent:
    """Send an event to the script that waits for this name and key, in whichever job.

    Of several, the one that began to wait first receives it, and `request.wait_for_event` returns
    `data`. If none waits, the event is stored for the next one that does. `executor_job_id` of the
    result is the job that has received it.
    """
    fields = {"name": name, "key": key, "data": data}
    return await send(client or default_client(), "/events", idempotency_key, fields)
