# Made by generate.py from src/roost/_async/_agent.py; change that.
"""Agents: a script and its settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, cast

from .. import _script
from .._errors import BuildFailed
from .._fields import Field, path_to
from .._history import Activity, AgentRevision, BuildFailure, env_vars_of
from .._rollouts import Outdated
from .._values import dump_json, parse_time
from . import _waiting
from ._agent_runs import AgentRuns
from ._agent_settings import encoded
from ._build import BuilderJob
from ._data_store import DataStore
from ._resource import default_client

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._agent_settings import AgentChanges
    from ._client import Client
    from ._pages import Paged
    from ._rollout import Rollout

__all__ = ["Agent"]


class Agent(AgentRuns):
    """A script and its settings.

    `requirements` is text with one specifier a line. The server hides the values of `env_vars`
    from keys that may not write agents. `timeout`, `retry_delay` and `keep_warm` are in seconds,
    `memory` in MiB, `cpu` in cores. `never_retry` are reasons after which no further attempt is
    made, whatever `max_attempts` says. `profile` is the kind of pod, `None` the default; `egress`
    is "all", "none" or text with a destination a line.

    `revision` grows with every change of what runs. A revision runs when its build has succeeded:
    `running_revision` is the newest such one, `None` before the first build; `building_revision`
    is still to be built, and `build_failure` says why the newest could not be. `build_id` is that
    of the last successful build, `None` before the first; `outdated` says how what it runs on
    differs from what would be built now, `None` when it does not. `activity` is there when it
    was asked for with `include_activity=True`.
    """

    __slots__ = ()
    _shown = ("id", "name", "revision")
    _shown_in_notebooks = ("python_version", "build_id", "updated_at")
    _path = "/agents"

    name: Field[str] = Field()
    script: Field[str] = Field()
    requirements: Field[str] = Field()
    env_vars: Field[Mapping[str, str] | None] = Field(env_vars_of)
    python_version: Field[str] = Field()
    store_ids: Field[Sequence[str]] = Field()
    timeout: Field[float] = Field()
    memory: Field[int] = Field()
    cpu: Field[float] = Field()
    max_concurrency: Field[int] = Field()
    max_attempts: Field[int] = Field()
    retry_delay: Field[float] = Field()
    never_retry: Field[Sequence[str]] = Field()
    keep_warm: Field[float] = Field()
    isolation: Field[str] = Field()
    profile: Field[str | None] = Field()
    egress: Field[str] = Field()
    revision: Field[int] = Field()
    running_revision: Field[int | None] = Field()
    building_revision: Field[int | None] = Field()
    build_failure: Field[BuildFailure | None] = Field(BuildFailure.of)
    build_id: Field[str | None] = Field()
    latest_builder_job_id: Field[str] = Field()
    outdated: Field[Outdated | None] = Field(Outdated.of)
    created_at: Field[datetime] = Field(parse_time)
    updated_at: Field[datetime] = Field(parse_time)
    activity: Field[Activity | None] = Field(Activity.of)

    @classmethod
    def create(
        cls,
        *,
        script: str,
        name: str | None = None,
        requirements: str | Sequence[str] | None = None,
        env_vars: str | Mapping[str, str] | None = None,
        python_version: str | None = None,
        stores: Sequence[str | DataStore] | None = None,
        store_ids: Sequence[str] | None = None,
        timeout: float | None = None,
        memory: int | None = None,
        cpu: float | None = None,
        max_concurrency: int | None = None,
        max_attempts: int | None = None,
        retry_delay: float | None = None,
        never_retry: Sequence[str] | None = None,
        keep_warm: float | None = None,
        isolation: Literal["process", "pod"] | None = None,
        profile: str | None = None,
        egress: str | Sequence[str] | None = None,
        client: Client | None = None,
    ) -> Agent:
        """Make an agent; Roost begins to build its dependencies at once.

        `script` is its text. `requirements` is a list of `name==version`, or text with one a line;
        `env_vars` a mapping, or text with a `KEY=VALUE` a line. `stores` are DataStores, or names
        of DataStores, which are made when missing; `store_ids` are ids; with neither, the agent
        gets a store of its own, with an empty list none. `timeout`, `retry_delay` and `keep_warm`
        are in seconds, `memory` in MiB, `cpu` in cores. `never_retry` are reasons, such as
        "exception", after which no further attempt is made. `profile` is a kind of pod that the
        server offers. `egress` is what the script may connect to: "all", "none", or a list of
        `address:port` and `block:port`. What is left out is the server's default.

        Raises `ScriptError` for a script that can't run, `ValidationError` for settings that the
        server doesn't accept, with every reason.
        """
        return (client or default_client()).agents.create(
            script=script,
            name=name,
            requirements=requirements,
            env_vars=env_vars,
            python_version=python_version,
            stores=stores,
            store_ids=store_ids,
            timeout=timeout,
            memory=memory,
            cpu=cpu,
            max_concurrency=max_concurrency,
            max_attempts=max_attempts,
            retry_delay=retry_delay,
            never_retry=never_retry,
            keep_warm=keep_warm,
            isolation=isolation,
            profile=profile,
            egress=egress,
        )

    @classmethod
    def retrieve(
        cls,
        id: str | None = None,  # noqa: A002
        *,
        name: str | None = None,
        include_activity: bool = False,
        client: Client | None = None,
    ) -> Agent:
        """Return the agent with that id or that name."""
        agents = (client or default_client()).agents
        return agents.retrieve(id, name=name, include_activity=include_activity)

    @classmethod
    def list(
        cls,
        *,
        name: str | None = None,
        q: str | None = None,
        limit: int | None = None,
        include_activity: bool = False,
        client: Client | None = None,
    ) -> Paged[Agent]:
        """Return up to `limit` agents, newest first, fetched as they are needed.

        `name` is a whole name; `q` a part of what is looked for. With `include_activity` each has
        its `activity`: what it is doing, and has done last.
        """
        agents = (client or default_client()).agents
        return agents.list(name=name, q=q, limit=limit, include_activity=include_activity)

    def update(self, **changes: Unpack[AgentChanges]) -> Agent:
        """Change what is given, in place; see `create` for the settings.

        A change of the script, the requirements, the variables or the Python version makes the
        next revision; one of the requirements or the Python version also makes a BuilderJob. What
        is executed runs the revision before until that is built: see `wait_until_built`.
        """
        transport = self._client._transport
        with encoded(self._client, changes) as body:
            if "script" in body:
                doubt = _script.check(body["script"])
                if doubt is not None and _script.can_judge(
                    body.get("python_version") or self.python_version
                ):
                    raise doubt
            response = transport.request(
                "PATCH", path_to(self._path, self.id), body=dump_json(body, "changes")
            )
        self._data = transport.parse(response)
        return self

    def delete(self) -> None:
        """Delete it, with its schedules. Its DataStores and the history of its runs stay."""
        self._client._transport.request("DELETE", path_to(self._path, self.id))

    def revisions(self, *, limit: int | None = None) -> Paged[AgentRevision]:
        """Return up to `limit` revisions, newest first: what it ran with after each change."""
        return self._client.agents.revisions(self.id, limit=limit)

    def revision_at(self, revision: int) -> AgentRevision:
        """Return what it ran with in that revision. Raises `NotFound` when there was none."""
        return self._client.agents.revision_at(self.id, revision)

    def roll_back(self, revision: int) -> Agent:
        """Make it run again, in place, what it ran in that revision, as a new one.

        Its script, requirements, variables and Python version become those of then; everything
        else stays. When that changes nothing, there is no new revision.
        """
        transport = self._client._transport
        path = path_to(self._path, self.id) + "/roll-back"
        body = dump_json({"revision": revision}, "roll-back")
        # Doing it twice is the same as doing it once: the second time nothing changes.
        self._data = transport.parse(transport.request("POST", path, body=body, repeatable=True))
        return self

    def rebuild(self) -> Rollout:
        """Build its dependencies again, on the current base; return the rollout at once.

        Packages that its requirements need without naming a version may be newer then. The agent
        uses the new Build once it is made, and keeps the one it has if it can't be made. Raises
        `Conflict` while it is being built.
        """
        return self._client.rollouts.rebuild(self.id)

    def wait_until_built(self, timeout: float | None = None) -> Agent:
        """Wait until its newest revision is built, and so runs; return it, refreshed.

        Raises `BuildFailed` with the installer's explanation, `APITimeout` after `timeout` seconds.
        When it fails, `running_revision` runs on. Not needed for a new agent: `execute` waits for
        its first build.
        """
        client, clock = self._client, self._client._transport.clock
        deadline = None if timeout is None else clock.monotonic() + timeout
        while True:
            job = client.builder_jobs.retrieve(self.latest_builder_job_id)
            _waiting.until_ended(job, deadline, timeout)
            if (self.refresh()).latest_builder_job_id != job.id:
                continue  # the agent was changed meanwhile
            if job.state == "succeeded":
                return self
            raise _build_failed(job)


def _build_failed(job: BuilderJob) -> BuildFailed:
    message = job.message or f"{job.id} ended as {job.state}"
    failure = BuildFailed(message, code=job.reason, detail=job.message)
    failure.builder_job = cast("Any", job)
    return failure
