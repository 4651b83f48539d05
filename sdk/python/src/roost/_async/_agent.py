"""Agents: a script and its settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, cast

from .. import _script
from .._agent_text import Schema
from .._agent_url import AgentUrl, SignatureScheme, UrlAuthentication, UrlMethod
from .._errors import BuildFailed
from .._fields import Field, path_to
from .._history import Activity, AgentRevision, BuildFailure, Preloaded, env_vars_of
from .._params import given, without_none
from .._performance import AgentPerformance
from .._rollouts import Outdated
from .._saved_payloads import SavedPayload
from .._values import dump_json, parse_time
from . import _waiting
from ._agent_runs import AgentRuns
from ._agent_settings import encoded
from ._build import BuilderJob
from ._data_store import DataStore
from ._resource import default_client

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._sorts import AgentSort
    from ._agent_settings import AgentChanges
    from ._bundle import Bundle
    from ._client import Client
    from ._pages import Paged
    from ._rollout import Rollout

__all__ = ["Agent"]


class Agent(AgentRuns):
    """A script and its settings.

    `bundle_id` is the Bundle with the files of its project, `script_path` the path of the script in
    it; both are `None` if the agent is a single script. `requirements` is text with one specifier
    per line. The server hides the values of `env_vars` from keys that may not write agents.
    `timeout`, `retry_delay` and `keep_warm` are in seconds, `memory` in MiB, `cpu` in cores.
    `concurrency_key_scope` is "execution" if a job has its concurrency key while it has an
    execution, "job" if it keeps the key until it ends. `never_retry` are reasons that are never
    retried, whatever `max_attempts`. `profile` is the kind of pod, `None` the default; `egress` is
    "all", "none" or text with one destination per line. `preload` is "auto" if executors import
    modules in advance, else "off". `input_schema` is the JSON Schema that payloads must match,
    `output_schema` that of the return value; both may be `None`. Then `hinted_input_schema` and
    `hinted_output_schema` apply, which an execution of the revision has made of the type hints of
    `main`, or `None`. `tags` are labels in lower case,
    sorted; slashes separate levels. `tool_name` is the name under which language models are offered
    the agent as a tool, `None` if they aren't; `tool_description` says what the tool does, and may
    be `None`.

    `revision` increases with every change of the code, the dependencies or the variables. A
    revision runs once its build has succeeded: `running_revision` is the newest such revision,
    `None` before the first build; `building_revision` is being built; `build_failure` says why the
    newest build failed. `build_id` is the last successful Build, `None` before the first;
    `outdated` says how it differs from a Build created now, `None` if it doesn't. `activity` is
    only set with `include_activity=True`. `preloaded` says what executors import in advance; it is
    `None` while that isn't known, and in lists: `refresh` reads it.
    """

    __slots__ = ()
    _shown = ("id", "name", "revision")
    _shown_in_notebooks = ("python_version", "build_id", "updated_at")
    _path = "/agents"

    name: Field[str] = Field()
    script: Field[str] = Field()
    bundle_id: Field[str | None] = Field()
    script_path: Field[str | None] = Field()
    requirements: Field[str] = Field()
    env_vars: Field[Mapping[str, str] | None] = Field(env_vars_of)
    python_version: Field[str] = Field()
    store_ids: Field[Sequence[str]] = Field()
    timeout: Field[float] = Field()
    memory: Field[int] = Field()
    cpu: Field[float] = Field()
    max_concurrency: Field[int] = Field()
    concurrency_key_scope: Field[str] = Field()
    max_attempts: Field[int] = Field()
    retry_delay: Field[float] = Field()
    never_retry: Field[Sequence[str]] = Field()
    keep_warm: Field[float] = Field()
    isolation: Field[str] = Field()
    requests_per_process: Field[int] = Field()
    profile: Field[str | None] = Field()
    egress: Field[str] = Field()
    preload: Field[str] = Field()
    input_schema: Field[Mapping[str, Any] | None] = Field()
    output_schema: Field[Mapping[str, Any] | None] = Field()
    hinted_input_schema: Field[Mapping[str, Any] | None] = Field()
    hinted_output_schema: Field[Mapping[str, Any] | None] = Field()
    tags: Field[Sequence[str]] = Field()
    tool_name: Field[str | None] = Field()
    tool_description: Field[str | None] = Field()
    revision: Field[int] = Field()
    running_revision: Field[int | None] = Field()
    building_revision: Field[int | None] = Field()
    build_failure: Field[BuildFailure | None] = Field(BuildFailure.of)
    build_id: Field[str | None] = Field()
    latest_builder_job_id: Field[str] = Field()
    outdated: Field[Outdated | None] = Field(Outdated.of)
    preloaded: Field[Preloaded | None] = Field(Preloaded.of)
    created_at: Field[datetime] = Field(parse_time)
    updated_at: Field[datetime] = Field(parse_time)
    activity: Field[Activity | None] = Field(Activity.of)

    @classmethod
    async def create(
        cls,
        *,
        script: str | None = None,
        bundle: Bundle | str | None = None,
        script_path: str | None = None,
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
        concurrency_key_scope: Literal["execution", "job"] | None = None,
        max_attempts: int | None = None,
        retry_delay: float | None = None,
        never_retry: Sequence[str] | None = None,
        keep_warm: float | None = None,
        isolation: Literal["process", "pod"] | None = None,
        requests_per_process: int | None = None,
        profile: str | None = None,
        egress: str | Sequence[str] | None = None,
        preload: Literal["auto", "off"] | None = None,
        input_schema: Schema | None = None,
        output_schema: Schema | None = None,
        tags: Sequence[str] | None = None,
        tool_name: str | None = None,
        tool_description: str | None = None,
        client: Client | None = None,
    ) -> Agent:
        """Create an agent; Roost starts building its dependencies.

        `script` is its text. An agent that is a project has a `bundle` instead, a Bundle or its id,
        and the `script_path` of a script in it. `requirements` is a list of `name==version`, or
        text with one per line; `env_vars` a mapping, or text with one `KEY=VALUE` per line.
        `stores` are DataStores or names of DataStores, created if missing; `store_ids` are ids.
        Without either, the agent gets a new store; with an empty list, none. `timeout`,
        `retry_delay` and `keep_warm` are in seconds, `memory` in MiB, `cpu` in cores. With
        `concurrency_key_scope` "job", a job keeps its concurrency key while it is suspended or
        waits for its next attempt. `never_retry` are reasons, such as "exception", that are never
        retried. With `requests_per_process` above 1, one process runs so many executions at a time,
        and `main` must be asynchronous. `profile` is a kind of pod that the server offers. `egress`
        is what the script may connect to: "all", "none", or a list of `address:port` and
        `block:port`. With `preload` "off", each execution imports its modules itself.
        `input_schema` and `output_schema` are JSON Schemas, or classes with `model_json_schema`, as
        pydantic's: a payload that doesn't match the first is refused when it is submitted; the
        second only describes what `main` returns. `tags` are labels, such as "team/crawlers". With
        a `tool_name`, language models are offered the agent as a tool; the name is unique and has
        up to 64 letters, digits, `_` and `-`. `tool_description` says what the tool does, for the
        model that chooses. Omitted settings have the server's defaults.

        Raises `ScriptError` for a script that can't run, `ValidationError` for invalid settings,
        with all reasons, `Conflict` if another agent has the name or the tool name.
        """
        return await (client or default_client()).agents.create(
            script=script,
            bundle=bundle,
            script_path=script_path,
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
            concurrency_key_scope=concurrency_key_scope,
            max_attempts=max_attempts,
            retry_delay=retry_delay,
            never_retry=never_retry,
            keep_warm=keep_warm,
            isolation=isolation,
            requests_per_process=requests_per_process,
            profile=profile,
            egress=egress,
            preload=preload,
            input_schema=input_schema,
            output_schema=output_schema,
            tags=tags,
            tool_name=tool_name,
            tool_description=tool_description,
        )

    @classmethod
    async def retrieve(
        cls,
        id: str | None = None,  # noqa: A002
        *,
        name: str | None = None,
        include_activity: bool = False,
        client: Client | None = None,
    ) -> Agent:
        """Return the agent with that id or name."""
        agents = (client or default_client()).agents
        return await agents.retrieve(id, name=name, include_activity=include_activity)

    @classmethod
    def list(
        cls,
        *,
        name: str | None = None,
        q: str | None = None,
        tag: str | Sequence[str] | None = None,
        sort: AgentSort | None = None,
        limit: int | None = None,
        include_activity: bool = False,
        client: Client | None = None,
    ) -> Paged[Agent]:
        """Return up to `limit` agents, newest first, fetched as they are needed.

        `name` is an exact name; `q` has words of the name, in any order: `sync bill*` finds
        `billing_sync`. `tag` also finds tags below it, as "team" finds "team/crawlers". `sort` is
        another order, such as "name" or "-failures". With `include_activity`, each agent has its
        `activity`: its current and last executions.
        """
        agents = (client or default_client()).agents
        return agents.list(
            name=name, q=q, tag=tag, sort=sort, limit=limit, include_activity=include_activity
        )

    async def update(self, **changes: Unpack[AgentChanges]) -> Agent:
        """Change the given settings, in place; see `create` for the settings.

        With `bundle` `None`, the agent is a single script again. Of an agent with a bundle,
        `script` alone changes that file of it.

        A change of the script, the bundle, the requirements, the variables, the Python version,
        `profile`, `egress`, `preload`, `input_schema` or `output_schema` creates a revision; a
        change of the requirements or the Python version also creates a BuilderJob. Until that build
        succeeds, the previous revision runs: see `wait_until_built`.
        """
        transport = self._client._transport
        async with encoded(self._client, changes) as body:
            if "script" in body:
                syntax_error = _script.check(body["script"])
                if syntax_error is not None and _script.is_as_new_as(
                    body.get("python_version") or self.python_version
                ):
                    raise syntax_error
            response = await transport.request(
                "PATCH", path_to(self._path, self.id), body=dump_json(body, "changes")
            )
        self._data = transport.parse(response)
        return self

    async def delete(self) -> None:
        """Delete the agent and its schedules. Its DataStores and execution history are kept."""
        await self._client._transport.request("DELETE", path_to(self._path, self.id))

    def revisions(self, *, limit: int | None = None) -> Paged[AgentRevision]:
        """Return up to `limit` revisions of the agent, newest first."""
        return self._client.agents.revisions(self.id, limit=limit)

    async def revision_at(self, revision: int) -> AgentRevision:
        """Return one revision of the agent. Raises `NotFound` if it doesn't exist."""
        return await self._client.agents.revision_at(self.id, revision)

    async def roll_back(self, revision: int) -> Agent:
        """Restore an earlier revision, in place, as a new revision.

        Restores script, requirements, variables, Python version, `profile`, `egress`, `preload` and
        both schemas; other settings are kept. If nothing changes, no revision is created.
        """
        transport = self._client._transport
        path = path_to(self._path, self.id) + "/roll-back"
        body = dump_json({"revision": revision}, "roll-back")
        # Idempotent: the second request changes nothing.
        self._data = transport.parse(
            await transport.request("POST", path, body=body, repeatable=True)
        )
        return self

    async def performance(self, hours: int = 24) -> AgentPerformance:
        """Return outcomes, durations, waits and memory of the last `hours` (1 to 720)."""
        path = path_to(self._path, self.id) + "/performance"
        return AgentPerformance.of(await self._client._transport.get(path, given(hours=hours)))

    async def payloads(self) -> Sequence[SavedPayload]:
        """Return the agent's saved payloads by name, without the payloads themselves."""
        answer = await self._client._transport.get(self._payload_path())
        return [SavedPayload.of(each) for each in answer["data"]]

    async def payload(self, name: str) -> SavedPayload:
        """Return the saved payload with that name. Raises `NotFound` if it doesn't exist."""
        return SavedPayload.of(await self._client._transport.get(self._payload_path(name)))

    async def save_payload(self, name: str, payload: Any) -> SavedPayload:
        """Save a payload of up to 64 KiB of JSON; replaces the one with that name.

        Raises `Conflict` if the agent has 100 others.
        """
        transport = self._client._transport
        body = dump_json({"payload": payload}, "payload")
        response = await transport.request("PUT", self._payload_path(name), body=body)
        return SavedPayload.of(transport.parse(response))

    async def delete_payload(self, name: str) -> None:
        """Delete the saved payload with that name."""
        await self._client._transport.request("DELETE", self._payload_path(name))

    def _payload_path(self, *name: str) -> str:
        return path_to(self._path, self.id, "payloads", *name)

    async def url(self) -> AgentUrl:
        """Return the URL at which the agent can be called. Raises `NotFound` if it has none."""
        return AgentUrl.of(await self._client._transport.get(self._url_path()))

    async def set_url(
        self,
        *,
        methods: Sequence[UrlMethod] | None = None,
        mode: Literal["wait", "accept"] | None = None,
        format: Literal["json", "http"] | None = None,  # noqa: A002
        authentication: UrlAuthentication | None = None,
        signature_scheme: SignatureScheme | None = None,
        secret: str | None = None,
        previous_secret_seconds: int | None = None,
        cors_origins: Sequence[str] | None = None,
        requests_per_minute: int | None = None,
        wait_seconds: int | None = None,
    ) -> AgentUrl:
        """Give the agent a URL, or replace all settings of the one that it has.

        Omitted settings have the server's defaults: POST with an API key, JSON, and a response
        with the result. The authentication "signature" requires `signature_scheme`, and `secret`
        unless the agent has one of that scheme already; for "standard_webhooks", the server
        generates one. `previous_secret_seconds` is how long signatures with the secret before stay
        valid, up to a week; by default, a new secret replaces it at once. "public" requires
        `requests_per_minute`. `cors_origins` are origins such as "https://app.example.org", or "*".
        """
        settings = without_none(
            methods=methods,
            mode=mode,
            format=format,
            authentication=authentication,
            signature_scheme=signature_scheme,
            secret=secret,
            previous_secret_seconds=previous_secret_seconds,
            cors_origins=cors_origins,
            requests_per_minute=requests_per_minute,
            wait_seconds=wait_seconds,
        )
        transport = self._client._transport
        body = dump_json(settings, "url")
        return AgentUrl.of(
            transport.parse(await transport.request("PUT", self._url_path(), body=body))
        )

    async def remove_url(self) -> None:
        """Remove the agent's URL. Raises `NotFound` if it has none."""
        await self._client._transport.request("DELETE", self._url_path())

    def _url_path(self) -> str:
        return path_to(self._path, self.id, "url")

    async def rebuild(self) -> Rollout:
        """Rebuild the dependencies on the current base; return the rollout without waiting.

        Indirect dependencies may become newer. The agent uses the new Build when it succeeds, and
        keeps its current Build otherwise. Raises `Conflict` while a build is running.
        """
        return await self._client.rollouts.rebuild(self.id)

    async def wait_until_built(self, timeout: float | None = None) -> Agent:
        """Wait until the newest revision is built and runs; return the agent, refreshed.

        Raises `BuildFailed` with the installer's message, `APITimeout` after `timeout` seconds. If
        the build fails, `running_revision` still runs. Not needed for a new agent: `execute` waits
        for the first build.
        """
        client, clock = self._client, self._client._transport.clock
        deadline = None if timeout is None else clock.monotonic() + timeout
        while True:
            job = await client.builder_jobs.retrieve(self.latest_builder_job_id)
            await _waiting.until_ended(job, deadline, timeout)
            if (await self.refresh()).latest_builder_job_id != job.id:
                continue  # the agent was changed meanwhile
            if job.state == "succeeded":
                return self
            raise _build_failed(job)


def _build_failed(job: BuilderJob) -> BuildFailed:
    message = job.message or f"{job.id} ended as {job.state}"
    failure = BuildFailed(message, code=job.reason, detail=job.message)
    failure.builder_job = cast("Any", job)
    return failure
