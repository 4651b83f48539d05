"""The client: a server, a key, and a connection pool."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from types import TracebackType
from typing import Any

from .._event import Event
from .._http import httpx
from .._job_events import JobEvent
from .._params import given
from .._runtime import Runtime
from .._search import SearchMatch, SearchPage
from .._server import LoginLink, ServerSetting
from .._settings import Settings, resolve
from .._statistics import Statistics
from .._templates import AgentTemplate
from . import _events, _job_events
from ._agents import Agents
from ._approval import Approvals
from ._build import BuilderJobs, Builds
from ._bundle import Bundles
from ._concurrency import DefaultClient
from ._data_stores import DataStores
from ._execution import Executions
from ._executor_job import ExecutorJobs
from ._file import Files
from ._issue import Issues
from ._keys import Keys
from ._notification_channel import NotificationChannels
from ._pages import Paged
from ._rollout import Rollouts
from ._schedules import Schedules
from ._stream import Stream
from ._transport import Transport
from ._view import Views
from ._webhooks import Webhooks

__all__ = ["Client", "default_client", "search", "statistics", "templates"]

DEFAULT_TIMEOUT_SECONDS = 30.0
DEFAULT_MAX_RETRIES = 4


class Client:
    """A server and an API key, with one connection pool. Thread-safe.

    `api_key` and `base_url` default to the module's settings. `timeout` is the timeout of a
    request in seconds, long polling excluded; `max_retries` the number of retries after a
    transient failure. `progress` enables a progress line while waiting; the default is
    `roost.progress`. A custom `http_client` (for a proxy, certificates, tests) is not closed.

    Closed by `close()` or at the end of an `async with` block.
    """

    def __init__(
        self,
        api_key: str | None = None,
        base_url: str | None = None,
        *,
        timeout: float = DEFAULT_TIMEOUT_SECONDS,
        max_retries: int = DEFAULT_MAX_RETRIES,
        http_client: httpx.AsyncClient | None = None,
        progress: bool | None = None,
    ) -> None:
        self._use(resolve(api_key, base_url), timeout, max_retries, http_client, progress)

    def _use(
        self,
        settings: Settings,
        timeout: float = DEFAULT_TIMEOUT_SECONDS,
        max_retries: int = DEFAULT_MAX_RETRIES,
        http_client: httpx.AsyncClient | None = None,
        progress: bool | None = None,
    ) -> None:
        self._progress = progress
        self._transport = Transport(settings, timeout, max_retries, http_client)
        self.agents: Agents = Agents(self)
        self.builder_jobs: BuilderJobs = BuilderJobs(self)
        self.builds: Builds = Builds(self)
        self.bundles: Bundles = Bundles(self)
        self.rollouts: Rollouts = Rollouts(self)
        self.executor_jobs: ExecutorJobs = ExecutorJobs(self)
        self.executions: Executions = Executions(self)
        self.approvals: Approvals = Approvals(self)
        self.files: Files = Files(self)
        self.issues: Issues = Issues(self)
        self.datastores: DataStores = DataStores(self)
        self.schedules: Schedules = Schedules(self)
        self.webhooks: Webhooks = Webhooks(self)
        self.views: Views = Views(self)
        self.notification_channels: NotificationChannels = NotificationChannels(self)
        self.keys: Keys = Keys(self)

    @property
    def base_url(self) -> str:
        """The server's URL, without `/v1`."""
        return self._transport.base_url

    async def runtime(self) -> Runtime:
        """Return the server's runtime and Python versions."""
        return Runtime.of(await self._transport.get("/runtime"))

    async def statistics(self, hours: int = 24, *, agent_id: str | None = None) -> Statistics:
        """Return statistics of the last `hours` (1 to 168), and current counts."""
        return Statistics.of(
            await self._transport.get("/statistics", given(hours=hours, agent_id=agent_id))
        )

    async def templates(self) -> list[AgentTemplate]:
        """Return the templates of agents."""
        answer = await self._transport.get("/templates")
        return [AgentTemplate.of(each) for each in answer["data"]]

    def search(
        self,
        q: str,
        *,
        kinds: str | Sequence[str] | None = None,
        level: str | Sequence[str] | None = None,
        stream: str | Sequence[str] | None = None,
        agent: str | None = None,
        agent_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        context: int | None = None,
        limit: int | None = None,
    ) -> Paged[SearchMatch]:
        """Return up to `limit` matches, newest first, fetched as needed; see `roost.search`."""
        filters = {
            "q": q,
            "in": kinds,
            "level": level,
            "stream": stream,
            "agent": agent,
            "agent_id": agent_id,
            "since": since,
            "until": until,
            "context": context,
        }
        return Paged(self, "/search", given(**filters), SearchMatch.of, limit=limit)

    async def search_page(
        self,
        q: str,
        *,
        kinds: str | Sequence[str] | None = None,
        level: str | Sequence[str] | None = None,
        stream: str | Sequence[str] | None = None,
        agent: str | None = None,
        agent_id: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        context: int | None = None,
        limit: int | None = None,
        cursor: str | None = None,
    ) -> SearchPage:
        """Return one page of up to `limit` (1 to 200) matches, newest first.

        Arguments as of `search`. The page says whether the search timed out, and whether the index
        is complete.
        """
        filters = {
            "q": q,
            "in": kinds,
            "level": level,
            "stream": stream,
            "agent": agent,
            "agent_id": agent_id,
            "since": since,
            "until": until,
            "context": context,
            "limit": limit,
            "cursor": cursor,
        }
        return SearchPage.of(await self._transport.get("/search", given(**filters)))

    async def login_link(self) -> LoginLink:
        """Create a URL that signs in to the dashboard once, with this client's key."""
        response = await self._transport.request("POST", "/login-links")
        return LoginLink.of(self._transport.parse(response), self.base_url)

    async def settings(self) -> Sequence[ServerSetting]:
        """Return the settings of the server. Requires the role write."""
        answer = await self._transport.get("/settings")
        return tuple(ServerSetting.of(data) for data in answer["data"])

    def events(
        self,
        *,
        types: str | Sequence[str] | None = None,
        agent_id: str | None = None,
        subject: str | None = None,
        after: str | int | None = None,
        follow: bool = True,
    ) -> Stream[Event]:
        """Yield all state changes from now on; see `roost.events`."""
        return _events.events(
            types=types,
            agent_id=agent_id,
            subject=subject,
            after=after,
            follow=follow,
            client=self,
        )

    async def send_event(
        self, name: str, data: Any = None, *, key: str, idempotency_key: str | None = None
    ) -> JobEvent:
        """Send an event to the script that waits for it; see `roost.send_event`."""
        return await _job_events.send_event(
            name, data, key=key, idempotency_key=idempotency_key, client=self
        )

    async def close(self) -> None:
        """Close the connections. Resources of this client can't be used afterwards."""
        await self._transport.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.Client base_url={self.base_url!r}>"


def _created(settings: Settings) -> Client:
    client = Client.__new__(Client)
    client._use(settings)
    return client


_default = DefaultClient(_created)


def default_client() -> Client:
    """Return the client for the module's current settings."""
    return _default.get(resolve())


async def statistics(
    hours: int = 24, *, agent_id: str | None = None, client: Client | None = None
) -> Statistics:
    """Return statistics of the last `hours` (1 to 168), and current counts."""
    return await (client or default_client()).statistics(hours, agent_id=agent_id)


async def templates(*, client: Client | None = None) -> list[AgentTemplate]:
    """Return the templates of agents: complete agents that a new one can begin with."""
    return await (client or default_client()).templates()


def search(
    q: str,
    *,
    kinds: str | Sequence[str] | None = None,
    level: str | Sequence[str] | None = None,
    stream: str | Sequence[str] | None = None,
    agent: str | None = None,
    agent_id: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    context: int | None = None,
    limit: int | None = None,
    client: Client | None = None,
) -> Paged[SearchMatch]:
    """Return up to `limit` lines of logs, errors, payloads and return values with all words of `q`.

    Newest first, fetched as needed. "Quoted words" follow each other; `word*` and the last word
    also find words that begin with them. `kinds` limits the search to some of logs, errors,
    payloads and results; `level`, `stream`, `agent` (a name), `agent_id`, `since` and `until`
    limit it further. `context` is the number of lines before and after a match, 0 to 5.
    """
    return (client or default_client()).search(
        q,
        kinds=kinds,
        level=level,
        stream=stream,
        agent=agent,
        agent_id=agent_id,
        since=since,
        until=until,
        context=context,
        limit=limit,
    )
