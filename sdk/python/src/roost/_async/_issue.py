"""Issues: failures of one cause."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from .._fields import Field, known_fields, path_to
from .._issues import Culprit, IssueHour, IssueRevision, Replay
from .._params import given, without_none
from .._states import IssueState
from .._submissions import checked_key
from .._values import dump_json, format_time, parse_time
from ._execution import Execution
from ._pages import Paged
from ._resource import Resource, default_client

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["Issue", "Issues"]

_PATH = "/issues"


class Issue(Resource):
    """Failures of an agent with one cause: reason, exception, function and message.

    `state` is open, resolved or muted; `regressed` is true if it is open again after it was
    resolved. `count` failures, of the revisions from `first_revision`, which introduced it, to
    `last_revision`. `culprit` is where the script failed. `hours` and `revisions` are `None` in
    lists; `refresh()` retrieves them.
    """

    __slots__ = ()
    _shown = ("id", "state", "title")
    _shown_in_notebooks = ("count", "first_seen_at", "last_seen_at", "culprit")
    _path = _PATH

    agent_id: Field[str] = Field()
    state: Field[IssueState] = Field()
    regressed: Field[bool] = Field()
    title: Field[str] = Field()
    reason: Field[str] = Field()
    exception_type: Field[str | None] = Field()
    culprit: Field[Culprit | None] = Field(partial(known_fields, Culprit))
    count: Field[int] = Field()
    first_seen_at: Field[datetime] = Field(parse_time)
    last_seen_at: Field[datetime] = Field(parse_time)
    first_revision: Field[int] = Field()
    last_revision: Field[int] = Field()
    last_execution_id: Field[str] = Field()
    resolved_at: Field[datetime | None] = Field(parse_time)

    @classmethod
    async def retrieve(cls, id: str, *, client: Client | None = None) -> Issue:  # noqa: A002
        """Return the issue with that id."""
        return await (client or default_client()).issues.retrieve(id)

    @classmethod
    def list(
        cls,
        *,
        state: IssueState | Sequence[IssueState] | None = None,
        agent_id: str | None = None,
        reason: str | None = None,
        execution_id: str | None = None,
        limit: int | None = None,
        client: Client | None = None,
    ) -> Paged[Issue]:
        """Return up to `limit` issues, newest first, fetched as needed.

        `state` is one or several; `execution_id` finds the issue of a failed Execution.
        """
        return (client or default_client()).issues.list(
            state=state, agent_id=agent_id, reason=reason, execution_id=execution_id, limit=limit
        )

    @property
    def hours(self) -> builtins.list[IssueHour] | None:
        """The failures per hour of the last 14 days, oldest first; `None` in lists."""
        hours = self._data.get("hours")
        return None if hours is None else [IssueHour.of(hour) for hour in hours]

    @property
    def revisions(self) -> builtins.list[IssueRevision] | None:
        """The affected revisions of the agent, newest first; `None` in lists."""
        revisions = self._data.get("revisions")
        return None if revisions is None else [IssueRevision.of(each) for each in revisions]

    def executions(self, *, limit: int | None = None) -> Paged[Execution]:
        """Return up to `limit` failed Executions of the issue, newest first, fetched as needed."""
        return self._client.executions.list(issue_id=self.id, limit=limit)

    async def resolve(self) -> Issue:
        """Resolve the issue, in place.

        A later failure opens it again if its Execution began afterwards, with the agent's running
        revision or a later one.
        """
        return await self._change("resolve")

    async def mute(self) -> Issue:
        """Mute the issue, in place: it raises no events until it is reopened."""
        return await self._change("mute")

    async def reopen(self) -> Issue:
        """Reopen the issue, in place."""
        return await self._change("reopen")

    async def replay(
        self,
        executor_job_ids: Sequence[str] | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        include_succeeded: bool = False,
        limit: int | None = None,
        preview: bool = False,
        idempotency_key: str | None = None,
    ) -> Replay:
        """Run the affected jobs again with the agent's running revision; see `Issues.replay`."""
        return await self._client.issues.replay(
            self.id,
            executor_job_ids,
            since=since,
            until=until,
            include_succeeded=include_succeeded,
            limit=limit,
            preview=preview,
            idempotency_key=idempotency_key,
        )

    async def _change(self, verb: str) -> Issue:
        transport = self._client._transport
        path = f"{path_to(_PATH, self.id)}/{verb}"
        # Idempotent: the second request changes nothing.
        self._data = transport.parse(await transport.request("POST", path, repeatable=True))
        return self


class Issues:
    """`client.issues`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def retrieve(self, id: str) -> Issue:  # noqa: A002
        """Return the issue with that id."""
        return Issue(self._client, await self._client._transport.get(path_to(_PATH, id)))

    def list(
        self,
        *,
        state: IssueState | Sequence[IssueState] | None = None,
        agent_id: str | None = None,
        reason: str | None = None,
        execution_id: str | None = None,
        limit: int | None = None,
    ) -> Paged[Issue]:
        """Return up to `limit` issues, newest first, fetched as needed."""
        params = given(state=state, agent_id=agent_id, reason=reason, execution_id=execution_id)
        return Paged(self._client, _PATH, params, partial(Issue, self._client), limit=limit)

    async def resolve(self, id: str) -> Issue:  # noqa: A002
        """Resolve the issue with that id; see `Issue.resolve`."""
        return await Issue(self._client, {"id": id}).resolve()

    async def mute(self, id: str) -> Issue:  # noqa: A002
        """Mute the issue with that id; see `Issue.mute`."""
        return await Issue(self._client, {"id": id}).mute()

    async def reopen(self, id: str) -> Issue:  # noqa: A002
        """Reopen the issue with that id."""
        return await Issue(self._client, {"id": id}).reopen()

    async def replay(
        self,
        id: str,  # noqa: A002
        executor_job_ids: Sequence[str] | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        include_succeeded: bool = False,
        limit: int | None = None,
        preview: bool = False,
        idempotency_key: str | None = None,
    ) -> Replay:
        """Run an issue's jobs again, oldest first, with the agent's running revision.

        `executor_job_ids` are some of its jobs; `None` for all. `since` and `until` are times of
        the failures. Jobs that have succeeded since are left out without `include_succeeded`, and
        so are jobs that are queued or running again. At most `limit` jobs, 1000 by default, per
        call; `preview=True` submits nothing. Times must have a time zone.
        """
        if isinstance(executor_job_ids, str):
            raise TypeError("executor_job_ids must be a list, not one string")
        body: dict[str, Any] = without_none(
            executor_job_ids=None if executor_job_ids is None else [*executor_job_ids],
            since=None if since is None else format_time("since", since),
            until=None if until is None else format_time("until", until),
            include_succeeded=include_succeeded or None,
            limit=limit,
            preview=preview or None,
        )
        transport = self._client._transport
        response = await transport.request(
            "POST",
            path_to(_PATH, id) + "/replay",
            body=dump_json(body, "replay"),
            headers={"Idempotency-Key": checked_key(idempotency_key)},
            repeatable=True,  # by its key
        )
        return Replay.of(transport.parse(response))
