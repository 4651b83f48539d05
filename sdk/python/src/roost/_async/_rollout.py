"""Rollouts: agents get Builds on the current base, with the current SDK."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import _progress
from .._errors import APITimeout, RoostError
from .._fields import Field, path_to
from .._params import given, without_none
from .._rollouts import RolloutAgent, RolloutCounts
from .._states import RolloutAgentState, RolloutState
from .._values import dump_json, parse_time
from ._pages import Paged
from ._resource import Resource, default_client
from ._waiting import TRANSIENT_ERRORS, Outage

if TYPE_CHECKING:
    from ._agent import Agent
    from ._client import Client

__all__ = ["Rollout", "Rollouts"]

_PATH = "/rollouts"
_ENDED = frozenset({"completed", "undone"})
_STEPS_SECONDS = (0.5, 1.0, 2.0)


class Rollout(Resource):
    """Rebuilds the dependencies of agents, a few at a time; each then uses its new Build.

    `state` is running, paused, completed or undone. `automatic` is true if Roost started it;
    `message` says why Roost paused it, `None` if it didn't. `counts` are the numbers of agents by
    state; `agents()` lists them.
    """

    __slots__ = ()
    _shown = ("id", "state")
    _shown_in_notebooks = ("automatic", "message", "created_at", "finished_at")
    _path = _PATH

    state: Field[RolloutState] = Field()
    automatic: Field[bool] = Field()
    message: Field[str | None] = Field()
    created_at: Field[datetime] = Field(parse_time)
    finished_at: Field[datetime | None] = Field(parse_time)

    @classmethod
    async def start(
        cls, agents: Sequence[str | Agent] | None = None, *, client: Client | None = None
    ) -> Rollout:
        """Rebuild outdated agents on the current base and SDK; return the rollout without waiting.

        `agents` are ids or agents, of which the outdated ones are rebuilt; `None` for all. Without
        outdated agents, the rollout is completed immediately.
        """
        return await (client or default_client()).rollouts.start(agents)

    @classmethod
    async def retrieve(cls, id: str, *, client: Client | None = None) -> Rollout:  # noqa: A002
        """Return the rollout with that id."""
        return await (client or default_client()).rollouts.retrieve(id)

    @classmethod
    def list(
        cls,
        *,
        state: RolloutState | Sequence[RolloutState] | None = None,
        limit: int | None = None,
        client: Client | None = None,
    ) -> Paged[Rollout]:
        """Return up to `limit` rollouts, newest first, fetched as needed.

        `state` is one or several.
        """
        return (client or default_client()).rollouts.list(state=state, limit=limit)

    @property
    def counts(self) -> RolloutCounts:
        """The number of agents by state."""
        return RolloutCounts.of(self._data["agents"])

    @property
    def ended(self) -> bool:
        """Whether the rollout is completed, or undone for all agents."""
        counts = self.counts
        left = counts.queued + counts.building + counts.updated
        return self.state == "completed" or (self.state == "undone" and left == 0)

    def agents(
        self,
        *,
        state: RolloutAgentState | Sequence[RolloutAgentState] | None = None,
        limit: int | None = None,
    ) -> Paged[RolloutAgent]:
        """Return up to `limit` agents of the rollout, fetched as needed; `state` may be several."""
        return self._client.rollouts.agents(self.id, state=state, limit=limit)

    async def pause(self) -> Rollout:
        """Pause the rollout, in place. Running builds finish."""
        return await self._move("pause")

    async def resume(self) -> Rollout:
        """Resume the rollout, in place."""
        return await self._move("resume")

    async def undo(self) -> Rollout:
        """Restore the agents' previous Builds, in place, one agent after another.

        Agents deployed since are not changed. No rollout to the same Builds starts automatically
        afterwards.
        """
        return await self._move("undo")

    async def wait(self, timeout: float | None = None) -> Rollout:
        """Wait until the rollout has ended or is paused; return it, refreshed.

        Raises `APITimeout` after `timeout` seconds; the rollout continues. Failed agents raise
        nothing: see `counts.failed` and `agents(state="failed")`.
        """
        transport = self._client._transport
        clock = transport.clock
        deadline = None if timeout is None else clock.monotonic() + timeout
        outage, polls = Outage(transport), 0
        with _progress.line(self._client._progress, clock.monotonic) as line:
            while True:
                began = clock.monotonic()
                failure: RoostError | None = None
                try:
                    self._data = await transport.get(path_to(_PATH, self.id), deadline=deadline)
                except TRANSIENT_ERRORS as error:
                    failure = error
                if failure is None and (self.ended or self.state == "paused"):
                    return self
                line.show(self._progress())
                left = float("inf") if deadline is None else deadline - clock.monotonic()
                if left <= 0:
                    raise APITimeout(f"{self.id} is still running after {timeout:g} s") from failure
                if failure is None:
                    outage.reset()
                    await clock.asleep(min(left, _STEPS_SECONDS[min(polls, 2)]))
                    polls += 1
                else:
                    note = f"while waiting for {self.id}, which may still be running"
                    await outage.pause(failure, note, began=began, most=left)

    def _progress(self) -> str:
        counts = self.counts
        settled = counts.total - counts.queued - counts.building
        return f"{self.id} {self.state}: {settled} of {counts.total} agents"

    async def _move(self, verb: str) -> Rollout:
        transport = self._client._transport
        path = f"{path_to(_PATH, self.id)}/{verb}"
        # Idempotent: the second request changes nothing.
        self._data = transport.parse(await transport.request("POST", path, repeatable=True))
        return self


class Rollouts:
    """`client.rollouts`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def start(self, agents: Sequence[str | Agent] | None = None) -> Rollout:
        """Rebuild outdated agents; see `Rollout.start`."""
        if isinstance(agents, str):
            raise TypeError("agents must be a list, not one string")
        if agents is not None and not agents:
            raise ValueError("the list of agents is empty; omit it for all outdated agents")
        ids: Any = None
        if agents is not None:
            ids = [each if isinstance(each, str) else each.id for each in agents]
        transport = self._client._transport
        body = dump_json(without_none(agent_ids=ids), "rollout")
        response = await transport.request("POST", _PATH, body=body)
        return Rollout(self._client, transport.parse(response))

    async def retrieve(self, id: str) -> Rollout:  # noqa: A002
        """Return the rollout with that id."""
        return Rollout(self._client, await self._client._transport.get(path_to(_PATH, id)))

    def list(
        self,
        *,
        state: RolloutState | Sequence[RolloutState] | None = None,
        limit: int | None = None,
    ) -> Paged[Rollout]:
        """Return up to `limit` rollouts, newest first, fetched as needed."""
        params = given(state=state)
        return Paged(self._client, _PATH, params, partial(Rollout, self._client), limit=limit)

    def agents(
        self,
        id: str,  # noqa: A002
        *,
        state: RolloutAgentState | Sequence[RolloutAgentState] | None = None,
        limit: int | None = None,
    ) -> Paged[RolloutAgent]:
        """Return up to `limit` agents of the rollout with that id, fetched as needed."""
        path = path_to(_PATH, id) + "/agents"
        return Paged(self._client, path, given(state=state), RolloutAgent.of, limit=limit)

    async def pause(self, id: str) -> Rollout:  # noqa: A002
        """Pause the rollout with that id; see `Rollout.pause`."""
        return await Rollout(self._client, {"id": id}).pause()

    async def resume(self, id: str) -> Rollout:  # noqa: A002
        """Resume the rollout with that id."""
        return await Rollout(self._client, {"id": id}).resume()

    async def undo(self, id: str) -> Rollout:  # noqa: A002
        """Undo the rollout with that id; see `Rollout.undo`."""
        return await Rollout(self._client, {"id": id}).undo()

    async def rebuild(self, agent_id: str) -> Rollout:
        """Rebuild the agent with that id; see `Agent.rebuild`."""
        transport = self._client._transport
        path = path_to("/agents", agent_id) + "/rebuild"
        return Rollout(self._client, transport.parse(await transport.request("POST", path)))
