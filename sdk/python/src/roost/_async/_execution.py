"""Executions: single attempts to run an agent."""

from __future__ import annotations

import builtins
from collections.abc import Awaitable, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

from .._details import (
    ErrorInfo,
    Progress,
    Timings,
    Usage,
    error_of,
    progress_of,
    timings_of,
    usage_of,
)
from .._fields import Field, path_to
from .._log_entry import LogEntry
from .._params import given
from .._sorts import ExecutionSort
from .._states import ExecutionState
from .._values import parse_time
from . import _logs
from ._concurrency import stream
from ._pages import Paged
from ._resource import Resource, default_client
from ._stream import Stream

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["Execution", "Executions"]

_ENDED = frozenset({"succeeded", "failed", "timed_out", "cancelled", "lost"})


class Execution(Resource):
    """One attempt at an ExecutorJob.

    `state` is running, succeeded, failed, timed_out, cancelled or lost. A failed execution has a
    `reason`, a code, and a `message`, a sentence; `error` is the script's exception, if any.
    `return_value` is the return value of `main`, decoded from JSON. A `draft` ran an
    unsaved script.
    """

    __slots__ = ()
    _shown = ("id", "state", "reason")
    _shown_in_notebooks = (
        "message",
        "return_value",
        "error",
        "started_at",
        "finished_at",
    )
    _path = "/executions"

    executor_job_id: Field[str] = Field()
    agent_id: Field[str] = Field()
    agent_revision: Field[int] = Field()
    draft: Field[bool] = Field()
    build_id: Field[str | None] = Field()
    attempt: Field[int] = Field()
    state: Field[ExecutionState] = Field()
    reason: Field[str | None] = Field()
    message: Field[str | None] = Field()
    error: Field[ErrorInfo | None] = Field(error_of)
    return_value: Field[Any] = Field()
    started_at: Field[datetime | None] = Field(parse_time)
    finished_at: Field[datetime | None] = Field(parse_time)
    cold_start: Field[bool | None] = Field()
    timings: Field[Timings | None] = Field(timings_of)
    usage: Field[Usage | None] = Field(usage_of)
    log_entries: Field[int] = Field()
    logs_truncated: Field[bool] = Field()
    progress: Field[Progress | None] = Field(progress_of)

    @classmethod
    async def retrieve(cls, id: str, *, client: Client | None = None) -> Execution:  # noqa: A002
        """Return the Execution with that id."""
        return await (client or default_client()).executions.retrieve(id)

    @classmethod
    def list(
        cls,
        *,
        agent_id: str | None = None,
        executor_job_id: str | None = None,
        schedule_id: str | None = None,
        issue_id: str | None = None,
        tag: str | Sequence[str] | None = None,
        state: ExecutionState | Sequence[ExecutionState] | None = None,
        reason: str | None = None,
        draft: bool | None = None,
        started_after: datetime | None = None,
        started_before: datetime | None = None,
        sort: ExecutionSort | None = None,
        limit: int | None = None,
        client: Client | None = None,
    ) -> Paged[Execution]:
        """Return up to `limit` Executions that match, newest first, fetched as they are needed.

        `state` is one or several; times must have a time zone. `draft=True` selects drafts,
        `draft=False` leaves them out.
        """
        return (client or default_client()).executions.list(
            agent_id=agent_id,
            executor_job_id=executor_job_id,
            schedule_id=schedule_id,
            issue_id=issue_id,
            tag=tag,
            state=state,
            reason=reason,
            draft=draft,
            started_after=started_after,
            started_before=started_before,
            sort=sort,
            limit=limit,
        )

    @property
    def ended(self) -> bool:
        """Whether the state is final."""
        return self.state in _ENDED or self.finished_at is not None

    @overload
    def logs(
        self,
        follow: Literal[False] = ...,
        *,
        after_seq: int | None = ...,
        level: str | None = ...,
        contains: str | None = ...,
    ) -> Awaitable[builtins.list[LogEntry]]: ...

    @overload
    def logs(self, follow: Literal[True], *, after_seq: int | None = ...) -> Stream[LogEntry]: ...

    def logs(
        self,
        follow: bool = False,
        *,
        after_seq: int | None = None,
        level: str | None = None,
        contains: str | None = None,
    ) -> Awaitable[builtins.list[LogEntry]] | Stream[LogEntry]:
        """Return the log's entries after `after_seq`.

        As a list, filtered by `level` and by the text `contains`; or, with `follow=True`, as an
        iterator that yields entries as they are written and stops when the execution has ended.
        This object is then up to date.
        """
        path = self._log_path()
        if not follow:
            return _logs.read(self._client, path, after_seq, level, contains)
        if level is not None or contains is not None:
            raise ValueError("level and contains can't be used with follow=True")
        return stream(_logs.follow(self._client, path, after_seq or 0, self._become))

    async def text_logs(self) -> str:
        """Return the current log as plain text, as `kubectl logs` shows it."""
        return await _logs.read_text(self._client, self._log_path())

    def _log_path(self) -> str:
        return path_to(self._path, self.id) + "/logs"


class Executions:
    """`client.executions`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def retrieve(self, id: str) -> Execution:  # noqa: A002
        """Return the Execution with that id."""
        return Execution(
            self._client, await self._client._transport.get(path_to("/executions", id))
        )

    def list(
        self,
        *,
        agent_id: str | None = None,
        executor_job_id: str | None = None,
        schedule_id: str | None = None,
        issue_id: str | None = None,
        tag: str | Sequence[str] | None = None,
        state: ExecutionState | Sequence[ExecutionState] | None = None,
        reason: str | None = None,
        draft: bool | None = None,
        started_after: datetime | None = None,
        started_before: datetime | None = None,
        sort: ExecutionSort | None = None,
        limit: int | None = None,
    ) -> Paged[Execution]:
        """Return up to `limit` Executions that match, newest first, fetched as they are needed.

        `tag` is of the agents, and also finds tags below it; of several tags, an agent must have
        all. With `sort` "duration" or "-duration", the list has the newest 10,000 that have ended.
        """
        params = given(
            agent_id=agent_id,
            executor_job_id=executor_job_id,
            schedule_id=schedule_id,
            issue_id=issue_id,
            tag=tag,
            state=state,
            reason=reason,
            draft=draft,
            started_after=started_after,
            started_before=started_before,
            sort=sort,
        )
        return Paged(
            self._client, "/executions", params, partial(Execution, self._client), limit=limit
        )
