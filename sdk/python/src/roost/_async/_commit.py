"""The atomic write to a DataStore."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .._errors import (
    APIConnectionError,
    APITimeout,
    Conflict,
    ServerError,
    TooLarge,
    Unavailable,
    ValidationError,
)
from .._ranges import Range
from .._writes import Write, Written, conflict_message, named, transaction_body

if TYPE_CHECKING:
    from ._transport import Transport

__all__ = ["commit"]


async def commit(
    transport: Transport,
    store_path: str,
    reads: Mapping[str, int],
    ranges: Sequence[Range],
    writes: Mapping[str, Write],
) -> dict[str, Written]:
    """Apply all writes if no read entry has changed; return their results.

    Retried after a lost response, with an idempotency key. Raises `Conflict`, whose message names
    what has changed.
    """
    try:
        response = await transport.request(
            "POST",
            store_path + "/transactions",
            body=transaction_body(reads, ranges, writes),
            headers={"Idempotency-Key": uuid.uuid4().hex},
            repeatable=True,
        )
    except Conflict as error:
        error.args = (conflict_message(error, list(reads), ranges),)
        raise
    except (TooLarge, ValidationError) as error:
        error.args = (f"{error}{named(error, list(writes))}",)
        raise
    except (APIConnectionError, APITimeout, ServerError, Unavailable) as error:
        error.args = (f"{error}\nthe transaction may have been applied",)
        raise
    answer = transport.parse(response)
    return dict(zip(writes, map(Written, answer["versions"], answer["sums"])))
