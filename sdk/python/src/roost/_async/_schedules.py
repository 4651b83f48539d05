"""The Schedules of a client."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from .._changes import MissedRuns, Overlap, schedule_body
from .._details import SchedulePreview
from .._fields import path_to
from .._params import given, without_none
from .._states import ScheduleState
from .._values import NOT_GIVEN, NotGiven, dump_json
from ._executor_job import ExecutorJob
from ._pages import Paged
from ._schedule import Schedule

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._changes import ScheduleChanges
    from ._client import Client

__all__ = ["Schedules"]

_PATH = "/schedules"


class Schedules:
    """`client.schedules`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def create(
        self,
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
    ) -> Schedule:
        """Create a Schedule; see `Schedule.create`."""
        settings = without_none(
            agent_id=agent_id,
            cron=cron,
            name=name,
            time_zone=time_zone,
            missed_runs=missed_runs,
            missed_runs_limit=missed_runs_limit,
            overlap=overlap,
            jitter=jitter,
            starts_at=starts_at,
            ends_at=ends_at,
        )
        if payload is not NOT_GIVEN:
            settings["payload"] = payload
        transport = self._client._transport
        body = dump_json(schedule_body(settings), "schedule")
        return Schedule(
            self._client, transport.parse(await transport.request("POST", _PATH, body=body))
        )

    async def retrieve(self, id: str) -> Schedule:  # noqa: A002
        """Return the Schedule with that id."""
        return Schedule(self._client, await self._client._transport.get(path_to(_PATH, id)))

    def list(
        self,
        *,
        agent_id: str | None = None,
        state: ScheduleState | None = None,
        name: str | None = None,
        limit: int | None = None,
    ) -> Paged[Schedule]:
        """Return up to `limit` Schedules that match, newest first, fetched as they are needed."""
        params = given(agent_id=agent_id, state=state, name=name)
        return Paged(self._client, _PATH, params, partial(Schedule, self._client), limit=limit)

    async def update(self, id: str, **changes: Unpack[ScheduleChanges]) -> Schedule:  # noqa: A002
        """Change settings of the Schedule with that id; see `Schedule.update`."""
        return await Schedule(self._client, {"id": id}).update(**changes)

    async def pause(self, id: str) -> Schedule:  # noqa: A002
        """Pause the Schedule with that id."""
        return await Schedule(self._client, {"id": id}).pause()

    async def resume(self, id: str) -> Schedule:  # noqa: A002
        """Resume the Schedule with that id."""
        return await Schedule(self._client, {"id": id}).resume()

    async def delete(self, id: str) -> None:  # noqa: A002
        """Delete the Schedule with that id. Its jobs are kept."""
        await self._client._transport.request("DELETE", path_to(_PATH, id))

    async def trigger(self, id: str) -> ExecutorJob:  # noqa: A002
        """Submit a job of the Schedule with that id now; see `Schedule.trigger`."""
        transport = self._client._transport
        response = await transport.request("POST", path_to(_PATH, id) + "/trigger")
        return ExecutorJob(self._client, transport.parse(response))

    async def next(self, id: str, count: int | None = None) -> SchedulePreview:  # noqa: A002
        """Return the next `count` times and the description of the Schedule with that id."""
        path = path_to(_PATH, id) + "/next"
        return SchedulePreview.of(await self._client._transport.get(path, given(count=count)))

    async def preview(
        self,
        cron: str,
        *,
        time_zone: str | None = None,
        count: int | None = None,
        after: datetime | None = None,
    ) -> SchedulePreview:
        """Describe an expression; see `Schedule.preview`."""
        body = schedule_body(without_none(cron=cron, time_zone=time_zone, count=count, after=after))
        transport = self._client._transport
        response = await transport.request(
            "POST", _PATH + "/preview", body=dump_json(body, "preview"), repeatable=True
        )
        return SchedulePreview.of(transport.parse(response))
