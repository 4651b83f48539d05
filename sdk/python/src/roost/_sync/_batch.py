# Made by generate.py from src/roost/_async/_batch.py; change that.
"""Batches: many executions that are ordered at once."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .._errors import RoostError
from .._ordered import BATCH_MOST, KEY_MOST_CHARACTERS, Ordered, checked_key
from ._executor_job import ExecutorJob
from ._map import collect
from ._orders import cancel_batch, chunks, submit_batch
from ._resource import default_client

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["Batch", "execute_batch"]

# The server takes 80 MB.
_BATCH_MOST_BYTES = 64 << 20


class Batch:
    """The executions that `Agent.execute_batch` has ordered.

    `ids` are those of the ExecutorJobs, in the order of the payloads. `batch_ids` are what
    `ExecutorJob.list(batch_id=…)` takes; more than one when there were more payloads than go into
    a request. Iterating yields the return values, as `results()` does.
    """

    __slots__ = ("_batches", "_client", "agent_id", "batch_ids", "ids")

    def __init__(self, client: Client | None, agent_id: str, batches: Sequence[Ordered]) -> None:
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
    ) -> Generator[Any, None, None]:
        """Yield what the executions return: in the order of the payloads, or as they end.

        The parameters are those of `Agent.map`. It can be called again; to stop early cancels
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

    def jobs(self) -> Generator[ExecutorJob, None, None]:
        """Return the ExecutorJobs as they are now, in the order of the payloads."""
        jobs = self._bound().executor_jobs
        for batch in self._batches:
            found = [job for job in jobs.list(batch_id=batch.id)]
            for job in reversed(found):
                yield job

    def cancel(self) -> None:
        """Ask for the end of all that have not ended."""
        client = self._bound()
        for batch_id in reversed(self.batch_ids):
            cancel_batch(client, batch_id, running=True)

    def _bound(self) -> Client:
        return self._client if self._client is not None else default_client()

    def __iter__(self) -> Iterator[Any]:
        return self.results()

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.Batch of {len(self.ids):,} executions of {self.agent_id}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (None, self.agent_id, self._batches)


def execute_batch(
    client: Client,
    agent_id: str,
    payloads: Iterable[Any],
    idempotency_key: str | None,
    given: Mapping[str, Any],
) -> Batch:
    """Order an execution for each payload, in as many requests as it takes."""
    key = checked_key(idempotency_key)
    batches: list[Ordered] = []
    for chunk in chunks(payloads, BATCH_MOST, _BATCH_MOST_BYTES):
        number = len(batches) + 1
        part_key = key if number == 1 else f"{key}/{number}"
        if len(part_key) > KEY_MOST_CHARACTERS:
            raise ValueError(f"idempotency_key is too long to be told from that of part {number}")
        try:
            batches.append(submit_batch(client, agent_id, chunk, part_key, given))
        except RoostError as error:
            if batches:
                count = sum(len(batch.job_ids) for batch in batches)
                error.args = (
                    f"{error}\nthe first {count:,} payloads are ordered; the same call with "
                    f"idempotency_key={key!r} orders the rest",
                )
            raise
    return Batch(client, agent_id, batches)
