"""ExecutorJobs: requests to run an agent once, and waiting for them."""

from __future__ import annotations

import builtins
from collections.abc import AsyncGenerator, Awaitable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Literal, cast, overload

from .._actions import ActionResults, ExecutorJobAction
from .._agent_text import not_text
from .._details import Progress
from .._errors import APITimeout, ExecutionFailed
from .._fields import Field, path_to
from .._job_events import JobEvent
from .._log_entry import Log, LogEntry
from .._params import given, without_none
from .._states import ExecutorJobState, WaitingOn
from .._steps import Step
from .._values import dump_json, parse_time
from . import _logs, _waiting
from ._concurrency import aclosing, stream
from ._execution import Execution
from ._file import File, JobFile
from ._job_events import send
from ._pages import Paged
from ._resource import Resource, default_client
from ._stream import Stream
from ._values_stream import values

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["ENDED", "ExecutorJob", "ExecutorJobs"]

ENDED = ("succeeded", "failed", "cancelled")
"""The final states."""


_WAITING_ON = {
    "build": "waiting for the build",
    "executor": "waiting for an executor",
    "capacity": "waiting for capacity",
    "concurrency": "waiting for its concurrency limit",
    "retry_delay": "waiting to retry",
    "storage": "waiting for storage",
    "timer": "suspended",
    "call": "suspended until jobs that it has called have ended",
    "event": "suspended until an event comes",
    "approval": "suspended until somebody decides",
}


class ExecutorJob(Resource):
    """A job that runs an agent once, with a payload.

    `state` is queued, running, suspended, succeeded, failed or cancelled. While it is queued,
    `waiting_on` is build, executor, capacity, concurrency, storage or retry_delay;
    `next_attempt_at` is the time of the retry. While it is suspended, its script waits without a
    process: `waiting_on` is call, event, approval, or timer (`resume_at`). `parent_id` is the job
    that has called it. `attempts` counts the Executions; the latest is `execution`. Jobs of a batch
    have a `batch_id`, jobs of a schedule a `schedule_id` and their `scheduled_time`. A `draft` runs
    an unsaved script, which `draft_script()` returns.
    """

    __slots__ = ()
    _shown = ("id", "state", "reason")
    _shown_in_notebooks = ("message", "waiting_on", "attempts", "created_at", "finished_at")
    _path = "/executor-jobs"

    agent_id: Field[str] = Field()
    agent_revision: Field[int] = Field()
    draft: Field[bool] = Field()
    schedule_id: Field[str | None] = Field()
    scheduled_time: Field[datetime | None] = Field(parse_time)
    payload: Field[Any] = Field()
    state: Field[ExecutorJobState] = Field()
    reason: Field[str | None] = Field()
    message: Field[str | None] = Field()
    waiting_on: Field[WaitingOn | None] = Field()
    attempts: Field[int] = Field()
    priority: Field[int] = Field()
    concurrency_key: Field[str | None] = Field()
    batch_id: Field[str | None] = Field()
    parent_id: Field[str | None] = Field()
    next_attempt_at: Field[datetime | None] = Field(parse_time)
    resume_at: Field[datetime | None] = Field(parse_time)
    created_at: Field[datetime] = Field(parse_time)
    finished_at: Field[datetime | None] = Field(parse_time)

    @classmethod
    async def retrieve(cls, id: str, *, client: Client | None = None) -> ExecutorJob:  # noqa: A002
        """Return the ExecutorJob with that id."""
        return await (client or default_client()).executor_jobs.retrieve(id)

    @classmethod
    def list(
        cls,
        *,
        agent_id: str | None = None,
        schedule_id: str | None = None,
        batch_id: str | None = None,
        parent_id: str | None = None,
        tag: str | Sequence[str] | None = None,
        state: ExecutorJobState | Sequence[ExecutorJobState] | None = None,
        reason: str | None = None,
        draft: bool | None = None,
        limit: int | None = None,
        client: Client | None = None,
    ) -> Paged[ExecutorJob]:
        """Return up to `limit` ExecutorJobs that match, newest first, fetched as needed.

        `state` is one or several. `draft=True` selects drafts, `draft=False` leaves them out.
        """
        return (client or default_client()).executor_jobs.list(
            agent_id=agent_id,
            schedule_id=schedule_id,
            batch_id=batch_id,
            parent_id=parent_id,
            tag=tag,
            state=state,
            reason=reason,
            draft=draft,
            limit=limit,
        )

    @property
    def execution(self) -> Execution | None:
        """The latest Execution; `None` before the first."""
        data = self._data.get("execution")
        return None if data is None else Execution(self._bound, data)

    @property
    def ended(self) -> bool:
        """Whether the state is final."""
        return self.state in ENDED or self.finished_at is not None

    async def wait(self, timeout: float | None = None, *, check: bool = False) -> Execution:
        """Wait until the job has ended and return its last Execution, successful or not.

        Raises `APITimeout` after `timeout` seconds (the job keeps running), `ExecutionFailed` if it
        ended without an Execution or, with `check=True`, without success.
        """
        return await self._outcome(self._deadline(timeout), timeout, check)

    async def cancel(self) -> ExecutorJob:
        """Cancel the job. No effect if it has ended; a running script gets time to clean up."""
        transport = self._client._transport
        path = path_to(self._path, self.id) + "/cancel"
        self._data = transport.parse(await transport.request("POST", path, repeatable=True))
        return self

    async def draft_script(self) -> str:
        """Return the script that a `draft` runs. Raises `NotFound` for any other job."""
        answer = await self._client._transport.get(path_to(self._path, self.id) + "/draft")
        script: str = answer["script"]
        return script

    def files(self) -> Paged[JobFile]:
        """Return the files submitted with its payload, and its artifacts; fetched as needed."""

        def of(data: Mapping[str, Any]) -> JobFile:
            return JobFile(data["kind"], data["name"], File(self._client, data["file"]))

        return Paged(self._client, path_to(self._path, self.id) + "/files", {}, of)

    def steps(self) -> Paged[Step]:
        """Return the durable steps of its script, in the order in which they ended.

        These are its calls of `request.step` and its waits, in all of its Executions; fetched as
        needed.
        """
        return Paged(self._client, path_to(self._path, self.id) + "/steps", {}, Step.of)

    async def send_event(
        self, name: str, data: Any = None, *, idempotency_key: str | None = None
    ) -> JobEvent:
        """Send an event to its script; `request.wait_for_event(name)` there returns `data`.

        If the script doesn't wait for it now, it is stored for the next wait that does. One wait
        receives each event. Raises `Conflict` if the job has ended.
        """
        path = path_to(self._path, self.id) + "/events"
        return await send(self._client, path, idempotency_key, {"name": name, "data": data})

    def events(self) -> Paged[JobEvent]:
        """Return the events that were sent to it, and those with a key that it has received."""
        return Paged(self._client, path_to(self._path, self.id) + "/events", {}, JobEvent.of)

    @overload
    def logs(self, follow: Literal[False] = ...) -> Awaitable[builtins.list[LogEntry]]: ...

    @overload
    def logs(self, follow: Literal[True]) -> Stream[LogEntry]: ...

    def logs(self, follow: bool = False) -> Awaitable[builtins.list[LogEntry]] | Stream[LogEntry]:
        """Return the log entries of all its Executions, the oldest attempt's first.

        As a list; or, with `follow=True`, as an iterator that yields entries as they are written,
        including later attempts, and stops when the job has ended.
        """
        if follow:
            return stream(self._follow())
        return self._read()

    async def _read(self) -> builtins.list[LogEntry]:
        executions = await self._executions()
        return Log([entry for execution in executions for entry in await execution.logs()])

    async def _follow(self) -> AsyncGenerator[LogEntry, None]:
        seen: set[str] = set()
        poller = _waiting.Poller(self)
        while True:
            ended = self.ended  # read before the list, so that no attempt is missed
            fresh = [
                execution for execution in await self._executions() if execution.id not in seen
            ]
            for execution in fresh:
                seen.add(execution.id)
                entries = _logs.follow(self._client, execution._log_path(), 0, execution._become)
                async with aclosing(entries):
                    async for entry in entries:
                        yield entry
            if ended:
                return
            await poller.poll_slower(unchanged=not fresh)

    async def _executions(self) -> builtins.list[Execution]:
        listed = self._client.executions.list(executor_job_id=self.id)
        found = [execution async for execution in listed]
        found.reverse()
        return found

    def stream(
        self,
        *,
        on_restart: Callable[[int], None] | None = None,
        on_progress: Callable[[Progress], None] | None = None,
    ) -> Stream[Any]:
        """Yield the values that its script emits, as they come, until the job has ended.

        The values of the latest attempt, from the first one on; after a disconnect, without gaps
        or duplicates. This object is then up to date: `execution.return_value` is what `main`
        returned. When the job is retried meanwhile, its values begin again: `on_restart` is called
        with the number of the attempt; without it, `StreamRestarted` is raised. `on_progress`
        is called with what the script says about its progress.
        """
        return stream(self._values(on_restart, on_progress))

    def _values(
        self,
        on_restart: Callable[[int], None] | None,
        on_progress: Callable[[Progress], None] | None,
    ) -> AsyncGenerator[Any, None]:
        path = path_to(self._path, self.id) + "/stream"
        return values(self._client, path, on_restart, on_progress, self._become)

    def _progress(self) -> str:
        waiting = (
            _WAITING_ON.get(self.waiting_on or "")
            if self.state in ("queued", "suspended")
            else None
        )
        progress = self.execution and self.execution.progress
        said = f" · {progress}" if self.state == "running" and progress is not None else ""
        return f"{self.id} {waiting or self.state}{said}"

    def _deadline(self, timeout: float | None) -> float | None:
        return None if timeout is None else self._client._transport.clock.monotonic() + timeout

    async def _outcome(
        self, deadline: float | None, timeout: float | None, check: bool
    ) -> Execution:
        if not self.ended:
            try:
                advice = ": call wait() again, or cancel()"
                await _waiting.until_ended(self, deadline, timeout, advice)
            except APITimeout as expired:
                expired.job = cast("Any", self)
                raise
        execution = self.execution
        succeeded = execution is not None and execution.state == self.state == "succeeded"
        if execution is not None and (succeeded or not check):
            return execution
        raise _failure(self, execution)


def _failure(job: ExecutorJob, execution: Execution | None) -> ExecutionFailed:
    if execution is None:
        text = f"{job.id} ended as {job.state} without an execution"
        source: ExecutorJob | Execution = job
    else:
        text = f"{execution.id} ended as {execution.state}"
        source = job if execution.state == "succeeded" else execution
    text += f" ({source.reason})" if source.reason else ""
    text += f": {source.message}" if source.message else ""
    if execution is not None and execution.error is not None and execution.error.traceback:
        text += f"\n\n{execution.error.traceback.rstrip()}"
    failure = ExecutionFailed(text, code=source.reason, detail=source.message)
    failure.job, failure.execution = cast("Any", job), cast("Any", execution)
    return failure


class ExecutorJobs:
    """`client.executor_jobs`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def retrieve(self, id: str) -> ExecutorJob:  # noqa: A002
        """Return the ExecutorJob with that id."""
        path = path_to("/executor-jobs", id)
        return ExecutorJob(self._client, await self._client._transport.get(path))

    def list(
        self,
        *,
        agent_id: str | None = None,
        schedule_id: str | None = None,
        batch_id: str | None = None,
        parent_id: str | None = None,
        tag: str | Sequence[str] | None = None,
        state: ExecutorJobState | Sequence[ExecutorJobState] | None = None,
        reason: str | None = None,
        draft: bool | None = None,
        limit: int | None = None,
    ) -> Paged[ExecutorJob]:
        """Return up to `limit` ExecutorJobs that match, newest first, fetched as needed."""
        params = given(
            agent_id=agent_id,
            schedule_id=schedule_id,
            batch_id=batch_id,
            parent_id=parent_id,
            tag=tag,
            state=state,
            reason=reason,
            draft=draft,
        )
        return Paged(
            self._client, "/executor-jobs", params, partial(ExecutorJob, self._client), limit=limit
        )

    async def act(
        self, action: ExecutorJobAction, ids: Sequence[str], *, dry_run: bool = False
    ) -> ActionResults:
        """Cancel each of up to 200 jobs, or run each again with its payload.

        "cancel" leaves jobs that have ended unchanged, "run_again" those that haven't. With
        `dry_run`, nothing is changed, and the results say what would be. An error of one job is
        part of its result and doesn't keep the others from it.
        """
        body = without_none(
            action=action, executor_job_ids=not_text("ids", ids), dry_run=dry_run or None
        )
        transport = self._client._transport
        response = await transport.request(
            "POST",
            "/executor-jobs/actions",
            body=dump_json(body, "action"),
            repeatable=dry_run or action == "cancel",
        )
        return ActionResults.of(transport.parse(response))
