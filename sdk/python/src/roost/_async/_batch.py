"""Batches: jobs submitted together."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._errors import RoostError
from .._submissions import MAX_BATCH, MAX_KEY_CHARACTERS, SubmittedBatch, checked_key
from ._executor_job import ExecutorJob
from ._map import collect
from ._resource import default_client
from ._stream import Items, Stream
from ._submit import cancel_batch, chunks, submit_batch

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["Batch", "execute_batch"]

# The server's limit is 80 MB.
_MAX_BATCH_BYTES = 64 << 20


class Batch:
    """The jobs submitted by `Agent.execute_batch`.

    `ids` are the ids of the ExecutorJobs, in the order of the payloads. `batch_ids` are for
    `ExecutorJob.list(batch_id=…)`; more than one if the payloads needed several requests.
    Iterating yields the return values, as `results()` does.
    """

    __slots__ = ("_batches", "_client", "agent_id", "batch_ids", "ids")

    def __init__(
        self, client: Client | None, agent_id: str, batches: Sequence[SubmittedBatch]
    ) -> None:
        self.agent_id: str = agent_id
        self.ids: Sequence[str] = [job_id for batch in batches for job_id in batch.job_ids]
        self.batch_ids: Sequence[str] = [batch.id for batch in batches]
        self._client = client
        self._batches = batches

    def results(
        self,
        *,
        ordered: bool = True,
        return_exceptions: bool = False,
        timeout: float | None = None,
    ) -> Stream[Any]:
        """Yield the return values, in the order of the payloads or of completion.

        The parameters are those of `Agent.map`. Can be called again; stopping early cancels
        nothing.
        """
        return collect(
            self._bound(),
            self.agent_id,
            self._batches,
            ordered=ordered,
            return_exceptions=return_exceptions,
            timeout=timeout,
        )

    async def jobs(self) -> AsyncGenerator[ExecutorJob, None]:
        """Return the current ExecutorJobs, in the order of the payloads."""
        jobs = self._bound().executor_jobs
        for batch in self._batches:
            found = [job async for job in jobs.list(batch_id=batch.id)]
            for job in reversed(found):
                yield job

    async def cancel(self) -> None:
        """Cancel all jobs that have not ended."""
        client = self._bound()
        for batch_id in reversed(self.batch_ids):
            await cancel_batch(client, batch_id, running=True)

    def _bound(self) -> Client:
        return self._client if self._client is not None else default_client()

    def __aiter__(self) -> AsyncIterator[Any]:
        return self.results()

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.Batch of {len(self.ids):,} executions of {self.agent_id}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (None, self.agent_id, self._batches)


async def execute_batch(
    client: Client,
    agent_id: str,
    payloads: Items[Any],
    idempotency_key: str | None,
    given: Mapping[str, Any],
) -> Batch:
    """Submit a job for each payload, in as many requests as needed."""
    key = checked_key(idempotency_key)
    batches: list[SubmittedBatch] = []
    async for chunk in chunks(payloads, MAX_BATCH, _MAX_BATCH_BYTES):
        number = len(batches) + 1
        part_key = key if number == 1 else f"{key}/{number}"
        if len(part_key) > MAX_KEY_CHARACTERS:
            raise ValueError(f"idempotency_key is too long for a suffix for part {number}")
        try:
            batches.append(await submit_batch(client, agent_id, chunk, part_key, given))
        except RoostError as error:
            if batches:
                count = sum(len(batch.job_ids) for batch in batches)
                error.args = (
                    f"{error}\nthe first {count:,} payloads were submitted; the same call with "
                    f"idempotency_key={key!r} submits the rest",
                )
            raise
    return Batch(client, agent_id, batches)
