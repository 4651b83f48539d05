"""BuilderJobs and Builds."""

from __future__ import annotations

import builtins
from collections.abc import Awaitable, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

from .._details import Package, packages_of
from .._fields import Field, path_to
from .._log_entry import LogEntry
from .._params import given
from .._states import BuilderJobState
from .._values import parse_time
from . import _logs
from ._concurrency import stream
from ._pages import Paged
from ._resource import Resource, default_client
from ._stream import Stream

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["Build", "BuilderJob", "BuilderJobs", "Builds"]

_ENDED = frozenset({"succeeded", "failed", "cancelled"})


class BuilderJob(Resource):
    """One attempt to build an agent's dependencies. Created by Roost, read-only for clients.

    `state` is queued, running, succeeded, failed or cancelled. `reused` is true if a Build with the
    same content already existed.
    """

    __slots__ = ()
    _shown = ("id", "state", "reason")
    _shown_in_notebooks = ("message", "python_version", "requirements", "finished_at")
    _path = "/builder-jobs"

    agent_id: Field[str] = Field()
    agent_revision: Field[int] = Field()
    python_version: Field[str] = Field()
    requirements: Field[str] = Field()
    state: Field[BuilderJobState] = Field()
    reason: Field[str | None] = Field()
    message: Field[str | None] = Field()
    build_id: Field[str | None] = Field()
    reused: Field[bool] = Field()
    created_at: Field[datetime] = Field(parse_time)
    started_at: Field[datetime | None] = Field(parse_time)
    finished_at: Field[datetime | None] = Field(parse_time)

    @classmethod
    async def retrieve(cls, id: str, *, client: Client | None = None) -> BuilderJob:  # noqa: A002
        """Return the BuilderJob with that id."""
        return await (client or default_client()).builder_jobs.retrieve(id)

    @classmethod
    def list(
        cls,
        *,
        agent_id: str | None = None,
        state: BuilderJobState | Sequence[BuilderJobState] | None = None,
        limit: int | None = None,
        client: Client | None = None,
    ) -> Paged[BuilderJob]:
        """Return up to `limit` BuilderJobs that match, newest first, fetched as needed.

        `state` is one or several.
        """
        return (client or default_client()).builder_jobs.list(
            agent_id=agent_id, state=state, limit=limit
        )

    def _progress(self) -> str:
        return f"{self.id} build {self.state}"

    @property
    def ended(self) -> bool:
        """Whether the state is final."""
        return self.state in _ENDED or self.finished_at is not None

    @overload
    def logs(
        self, follow: Literal[False] = ..., *, after_seq: int | None = ...
    ) -> Awaitable[builtins.list[LogEntry]]: ...

    @overload
    def logs(self, follow: Literal[True], *, after_seq: int | None = ...) -> Stream[LogEntry]: ...

    def logs(
        self, follow: bool = False, *, after_seq: int | None = None
    ) -> Awaitable[builtins.list[LogEntry]] | Stream[LogEntry]:
        """Return the entries of the build's log after `after_seq`.

        As a list; or, with `follow=True`, as an iterator that yields entries as they are written
        and stops when the job has ended. This object is then up to date.
        """
        path = path_to(self._path, self.id) + "/logs"
        if follow:
            return stream(_logs.follow(self._client, path, after_seq or 0, self._become))
        return _logs.read(self._client, path, after_seq)

    async def text_logs(self) -> str:
        """Return the build's current log as plain text."""
        return await _logs.read_text(self._client, path_to(self._path, self.id) + "/logs")


class Build(Resource):
    """The result of a successful BuilderJob: an immutable image or environment.

    Shared by agents with the same Python version and requirements. `image` is a reference by
    digest, `None` on the local runtime; `duration` is in seconds. `base` is the base image by
    digest, or the interpreter; `None` for Builds of earlier versions of Roost. An unused image or
    environment is removed at `removed_at`, and rebuilt when needed.
    """

    __slots__ = ()
    _shown = ("id", "python_version", "image_key")
    _shown_in_notebooks = ("size_bytes", "duration", "created_at", "removed_at")
    _path = "/builds"

    image_key: Field[str] = Field()
    image: Field[str | None] = Field()
    python_version: Field[str] = Field()
    base: Field[str | None] = Field()
    packages: Field[tuple[Package, ...]] = Field(packages_of)
    size_bytes: Field[int | None] = Field()
    duration: Field[float | None] = Field()
    created_at: Field[datetime] = Field(parse_time)
    removed_at: Field[datetime | None] = Field(parse_time)

    @classmethod
    async def retrieve(cls, id: str, *, client: Client | None = None) -> Build:  # noqa: A002
        """Return the Build with that id."""
        return await (client or default_client()).builds.retrieve(id)

    @classmethod
    def list(
        cls,
        *,
        agent_id: str | None = None,
        limit: int | None = None,
        client: Client | None = None,
    ) -> Paged[Build]:
        """Return up to `limit` Builds, newest first, fetched as they are needed."""
        return (client or default_client()).builds.list(agent_id=agent_id, limit=limit)

    async def modules(self) -> builtins.list[str] | None:
        """Return the top-level modules that scripts can import, besides the standard library.

        `None` if the Build has no index: it installed nothing, or an earlier version of Roost
        created it.
        """
        answer = await self._client._transport.get(path_to(self._path, self.id, "modules"))
        names: builtins.list[str] | None = answer["modules"]
        return names

    async def symbols(self, module: str) -> builtins.list[dict[str, Any]] | None:
        """Return the public names of a module such as `"bs4.element"`, `None` if not known.

        Each has `name` and `kind`, and where known `signature`, `doc`, `type`, `from`, `bases` and
        `members`, as in the REST API.
        """
        path = path_to(self._path, self.id, "modules", module)
        answer = await self._client._transport.get(path)
        symbols: builtins.list[dict[str, Any]] | None = answer["symbols"]
        return symbols

    async def sbom(self) -> dict[str, Any]:
        """Return the software bill of materials, in CycloneDX 1.6: its installed packages."""
        bill: dict[str, Any] = await self._client._transport.get(
            path_to(self._path, self.id, "sbom")
        )
        return bill


class BuilderJobs:
    """`client.builder_jobs`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def retrieve(self, id: str) -> BuilderJob:  # noqa: A002
        """Return the BuilderJob with that id."""
        return BuilderJob(
            self._client, await self._client._transport.get(path_to("/builder-jobs", id))
        )

    def list(
        self,
        *,
        agent_id: str | None = None,
        state: BuilderJobState | Sequence[BuilderJobState] | None = None,
        limit: int | None = None,
    ) -> Paged[BuilderJob]:
        """Return up to `limit` BuilderJobs that match, newest first, fetched as needed."""
        params = given(agent_id=agent_id, state=state)
        return Paged(
            self._client, "/builder-jobs", params, partial(BuilderJob, self._client), limit=limit
        )


class Builds:
    """`client.builds`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def retrieve(self, id: str) -> Build:  # noqa: A002
        """Return the Build with that id."""
        return Build(self._client, await self._client._transport.get(path_to("/builds", id)))

    def list(self, *, agent_id: str | None = None, limit: int | None = None) -> Paged[Build]:
        """Return up to `limit` Builds, newest first, fetched as they are needed."""
        return Paged(
            self._client,
            "/builds",
            given(agent_id=agent_id),
            partial(Build, self._client),
            limit=limit,
        )
