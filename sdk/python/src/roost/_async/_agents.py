"""The agents of a client."""

from __future__ import annotations

import builtins
import uuid
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from .. import _script
from .._actions import ActionResults, AgentTag
from .._agent_text import Schema, not_text
from .._errors import NotFound, RoostError
from .._fields import hint_at_name, path_to
from .._history import AgentRevision
from .._params import given, without_none
from .._values import dump_json
from ._agent import Agent
from ._agent_settings import encoded
from ._data_store import DataStore
from ._pages import Paged

if TYPE_CHECKING:
    from .._actions import AgentAction
    from .._sorts import AgentSort
    from ._bundle import Bundle
    from ._client import Client

__all__ = ["Agents"]


class Agents:
    """`client.agents`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def create(
        self,
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
    ) -> Agent:
        """Create an agent; see `Agent.create`."""
        if script is None and bundle is None:
            raise TypeError("an agent needs a script, or a bundle and a script_path")
        settings = without_none(
            script=script,
            bundle=bundle,
            script_path=script_path,
            name=name,
            requirements=requirements,
            env_vars=env_vars,
            python_version=python_version,
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
            store_ids=store_ids,
            stores=stores,
        )
        if isinstance(script, str):
            syntax_error = _script.check(script)
            if syntax_error is not None and _script.is_as_new_as(
                python_version or await self._default_python_version()
            ):
                raise syntax_error
        transport = self._client._transport
        async with encoded(self._client, settings) as body:
            response = await transport.request("POST", "/agents", body=dump_json(body, "agent"))
        return Agent(self._client, transport.parse(response))

    async def retrieve(
        self,
        id: str | None = None,  # noqa: A002
        *,
        name: str | None = None,
        include_activity: bool = False,
    ) -> Agent:
        """Return the agent with that id or name."""
        if (id is None) == (name is None):
            raise TypeError("give either an id or a name")
        if id is not None:
            params = _included(include_activity)
            with hint_at_name(id, "agent_"):
                data = await self._client._transport.get(path_to("/agents", id), params)
            return Agent(self._client, data)
        async for agent in self.list(name=name, include_activity=include_activity):
            if agent.name == name:
                return agent
        raise NotFound(f"there is no agent with the name {name!r}", code="not_found")

    def list(
        self,
        *,
        name: str | None = None,
        q: str | None = None,
        tag: str | Sequence[str] | None = None,
        sort: AgentSort | None = None,
        limit: int | None = None,
        include_activity: bool = False,
    ) -> Paged[Agent]:
        """Return up to `limit` agents, newest first, fetched as they are needed.

        `tag` also finds tags below it, as "team" finds "team/crawlers"; of several tags, an agent
        must have all. `sort` is another order, such as "name" or "-failures".
        """
        params = {**given(name=name, q=q, tag=tag, sort=sort), **_included(include_activity)}
        return Paged(self._client, "/agents", params, partial(Agent, self._client), limit=limit)

    async def tags(self) -> builtins.list[AgentTag]:
        """Return the tags of all agents by name, at most 1,000."""
        answer = await self._client._transport.get("/agents/tags")
        return [AgentTag.of(data) for data in answer["data"]]

    async def act(
        self,
        action: AgentAction,
        ids: Sequence[str],
        *,
        tags: Sequence[str] | None = None,
        schedule_ids: Sequence[str] | None = None,
        payload: Any = None,
        dry_run: bool = False,
    ) -> ActionResults:
        """Do the same to each of up to 200 agents.

        `tags` are for "tag" and "untag"; `payload` is for "run"; `schedule_ids` limit
        "pause_schedules" and "resume_schedules" to these schedules. With `dry_run`, nothing is
        changed, and the results say what would be. An error of one agent is part of its result and
        doesn't keep the others from it.
        """
        body = without_none(
            action=action,
            agent_ids=not_text("ids", ids),
            tags=None if tags is None else not_text("tags", tags),
            schedule_ids=None if schedule_ids is None else not_text("schedule_ids", schedule_ids),
            payload=payload,
            dry_run=dry_run or None,
        )
        transport = self._client._transport
        response = await transport.request(
            "POST",
            "/agents/actions",
            body=dump_json(body, "action"),
            headers={"Idempotency-Key": uuid.uuid4().hex} if action == "run" else None,
            repeatable=action != "delete",
        )
        return ActionResults.of(transport.parse(response))

    async def delete(self, id: str) -> None:  # noqa: A002
        """Delete the agent with that id; see `Agent.delete`."""
        await self._client._transport.request("DELETE", path_to("/agents", id))

    def revisions(self, id: str, *, limit: int | None = None) -> Paged[AgentRevision]:  # noqa: A002
        """Return up to `limit` revisions of the agent with that id, newest first."""
        return Paged(
            self._client, path_to("/agents", id) + "/revisions", {}, AgentRevision.of, limit=limit
        )

    async def revision_at(self, id: str, revision: int) -> AgentRevision:  # noqa: A002
        """Return one revision of the agent with that id."""
        path = path_to("/agents", id, "revisions", str(revision))
        return AgentRevision.of(await self._client._transport.get(path))

    async def roll_back(self, id: str, revision: int) -> Agent:  # noqa: A002
        """Restore an earlier revision of the agent with that id; see `Agent.roll_back`."""
        return await Agent(self._client, {"id": id}).roll_back(revision)

    async def _default_python_version(self) -> str | None:
        try:
            return (await self._client.runtime()).default
        except RoostError:  # the next request reports the same error
            return None


def _included(activity: bool) -> dict[str, str]:
    return {"include": "activity"} if activity else {}
