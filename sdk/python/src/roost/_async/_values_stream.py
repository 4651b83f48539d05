"""The values that scripts emit."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any, Callable

from .._details import Progress, progress_of
from .._errors import StreamRestarted
from .._values import parse_json
from ._concurrency import aclosing
from ._follow import follow

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["values"]


async def values(
    client: Client,
    path: str,
    on_restart: Callable[[int], None] | None,
    on_progress: Callable[[Progress], None] | None,
    on_end: Callable[[Any], None],
) -> AsyncGenerator[Any, None]:
    """Yield values as they are emitted, until the end; `on_end` receives the final data."""
    seen = (0, 0)
    async with aclosing(follow(client, path, None)) as events:
        async for event in events:
            if event.name == "value" and event.id is not None:
                attempt, _, number = event.id.partition("-")
                place = (int(attempt), int(number))
                if place > seen:
                    seen = place
                    yield parse_json(event.data.encode())
            elif event.name == "restart":
                attempt_number: int = parse_json(event.data.encode())["attempt"]
                if on_restart is None:
                    raise StreamRestarted.at(attempt_number)
                on_restart(attempt_number)
            elif event.name == "progress" and on_progress is not None:
                on_progress(progress_of(parse_json(event.data.encode())))
            elif event.name == "end":
                on_end(parse_json(event.data.encode()))
