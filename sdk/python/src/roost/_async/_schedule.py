"""Schedules: agents that run at the times of a cron expression."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .._changes import MissedRuns, Overlap, ScheduleChanges, schedule_body
from .._details import LastRun, SchedulePreview, last_run_of
from .._fields import Field, path_to
from .._states import ScheduleState
from .._values import NOT_GIVEN, NotGiven, dump_json, parse_time
from ._executor_job import ExecutorJob
from ._resource import Resource, default_client

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._client import Client
    from ._pages import Paged

__all__ = ["Schedule"]


class Schedule(Resource):
    """A cron expression on which an agent runs automatically.

    `state` is active or paused. `next_run_at` is `None` if there is no next run: paused or past
    `ends_at`. `last_run` is the latest run, `None` before the first. `description` is `cron` in
    words; `jitter` is in seconds. Times have a time zone.
    """

    __slots__ = ()
    _shown = ("id", "name", "cron", "state")
    _shown_in_notebooks = ("description", "time_zone", "next_run_at")
    _path = "/schedules"

    agent_id: Field[str] = Field()
    name: Field[str] = Field()
    cron: Field[str] = Field()
    time_zone: Field[str] = Field()
    payload: Field[Any] = Field()
    state: Field[ScheduleState] = Field()
    missed_runs: Field[str] = Field()
    missed_runs_limit: Field[int] = Field()
    overlap: Field[str] = Field()
    jitter: Field[float] = Field()
    starts_at: Field[datetime | None] = Field(parse_time)
    ends_at: Field[datetime | None] = Field(parse_time)
    next_run_at: Field[datetime | None] = Field(parse_time)
    last_run: Field[LastRun | None] = Field(last_run_of)
    description: Field[str] = Field()
    created_at: Field[datetime] = Field(parse_time)
    updated_at: Field[datetime] = Field(parse_time)

    @classmethod
    async def create(
        cls,
        *,
        agent_id: str,
        cron: str,
        name: str | None = None,
        time_zone: str | None = None,
        payload: Any | NotGiven = NOT_GIVEN,
        missed_runs: MissedRuns | None = None,
        missed_runs_limit: int | None = None,
        overlap: Overlap | None = None,
        jitter: float | None = None,
        starts_at: datetime | None = None,
        ends_at: datetime | None = None,
        client: Client | None = None,
    ) -> Schedule:
        """Create a Schedule: the agent runs with `payload` at the times of `cron` in `time_zone`.

        `time_zone` is an IANA name, UTC by default. `missed_runs` is the policy for runs missed
        while Roost was down: "skip", "run_once" (the default: the latest) or "run_all" (the latest
        `missed_runs_limit`). `overlap` is the policy while an earlier run hasn't ended: "allow"
        (the default), "skip" or "queue". `jitter` is the maximum random delay in seconds. Runs are
        limited to `starts_at` to `ends_at`, which must have a time zone.

        Raises `ValidationError` for an invalid expression, with advice, and `Conflict` if the agent
        has a Schedule of that `name`.
        """
        return await (client or default_client()).schedules.create(
            agent_id=agent_id,
            cron=cron,
            name=name,
            time_zone=time_zone,
            payload=payload,
            missed_runs=missed_runs,
            missed_runs_limit=missed_runs_limit,
            overlap=overlap,
            jitter=jitter,
            starts_at=starts_at,
            ends_at=ends_at,
        )

    @classmethod
    async def retrieve(cls, id: str, *, client: Client | None = None) -> Schedule:  # noqa: A002
        """Return the Schedule with that id."""
        return await (client or default_client()).schedules.retrieve(id)

    @classmethod
    def list(
        cls,
        *,
        agent_id: str | None = None,
        state: ScheduleState | None = None,
        name: str | None = None,
        limit: int | None = None,
        client: Client | None = None,
    ) -> Paged[Schedule]:
        """Return up to `limit` Schedules that match, newest first, fetched as they are needed."""
        return (client or default_client()).schedules.list(
            agent_id=agent_id, state=state, name=name, limit=limit
        )

    @classmethod
    async def preview(
        cls,
        cron: str,
        *,
        time_zone: str | None = None,
        count: int | None = None,
        after: datetime | None = None,
        client: Client | None = None,
    ) -> SchedulePreview:
        """Describe an expression, with its next `count` (1 to 100) times after `after`.

        The defaults are 5 and now. Raises `ValidationError` for an invalid expression.
        """
        return await (client or default_client()).schedules.preview(
            cron, time_zone=time_zone, count=count, after=after
        )

    async def update(self, **changes: Unpack[ScheduleChanges]) -> Schedule:
        """Change the given settings, in place; see `create`.

        If the times change, the next run is the first after now.
        """
        return await self._change(schedule_body(changes))

    async def pause(self) -> Schedule:
        """Pause the schedule, in place. Runs skipped by a pause are not missed runs."""
        return await self._change({"state": "paused"})

    async def resume(self) -> Schedule:
        """Resume the schedule, in place, with its next time from now."""
        return await self._change({"state": "active"})

    async def delete(self) -> None:
        """Delete the schedule. Its jobs are kept."""
        await self._client.schedules.delete(self.id)

    async def trigger(self) -> ExecutorJob:
        """Submit a job now, even if paused, and return it without waiting."""
        return await self._client.schedules.trigger(self.id)

    async def next(self, count: int | None = None) -> Sequence[datetime]:
        """Return the next `count` (1 to 100, 5 by default) run times."""
        return (await self._client.schedules.next(self.id, count)).next

    async def _change(self, body: Mapping[str, Any]) -> Schedule:
        transport = self._client._transport
        path = path_to(self._path, self.id)
        response = await transport.request("PATCH", path, body=dump_json(body, "changes"))
        self._data = transport.parse(response)
        return self
