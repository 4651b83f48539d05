"""Saved views of the dashboard's lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from .._fields import Field, path_to
from .._params import given, without_none
from .._values import dump_json, parse_time
from ._pages import Paged
from ._resource import Resource

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from .._changes import ViewChanges
    from ._client import Client

__all__ = ["View", "Views"]

_PATH = "/views"


class View(Resource):
    """A named filter of a list of the dashboard, shared by everyone.

    `list` is "agents" or "executions". `filter` is the text of the dashboard's filter field, `sort`
    a value of the list's `sort`, `None` for newest first, and `columns` the columns that are shown,
    `None` for those that are shown at first. `grouped` lists of agents are grouped by tag.
    """

    __slots__ = ()
    _shown = ("id", "list", "name")
    _shown_in_notebooks = ("filter", "sort")
    _path = _PATH

    list: Field[str] = Field()
    name: Field[str] = Field()
    filter: Field[str] = Field()
    sort: Field[str | None] = Field()
    columns: Field[Sequence[str] | None] = Field()
    grouped: Field[bool] = Field()
    created_at: Field[datetime] = Field(parse_time)
    updated_at: Field[datetime] = Field(parse_time)

    async def update(self, **changes: Unpack[ViewChanges]) -> View:
        """Change the given settings, in place."""
        return await self._change(changes)

    async def delete(self) -> None:
        """Delete the view."""
        await self._client.views.delete(self.id)

    async def _change(self, body: Mapping[str, Any]) -> View:
        transport = self._client._transport
        response = await transport.request(
            "PATCH", path_to(_PATH, self.id), body=dump_json(body, "changes")
        )
        self._data = transport.parse(response)
        return self


class Views:
    """`client.views`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def create(
        self,
        *,
        list: Literal["agents", "executions"],  # noqa: A002
        name: str,
        filter: str | None = None,  # noqa: A002
        sort: str | None = None,
        columns: Sequence[str] | None = None,
        grouped: bool | None = None,
    ) -> View:
        """Save a view."""
        body = without_none(
            list=list, name=name, filter=filter, sort=sort, columns=columns, grouped=grouped
        )
        transport = self._client._transport
        response = await transport.request("POST", _PATH, body=dump_json(body, "view"))
        return View(self._client, transport.parse(response))

    async def retrieve(self, id: str) -> View:  # noqa: A002
        """Return the view with that id."""
        return View(self._client, await self._client._transport.get(path_to(_PATH, id)))

    def list(
        self,
        *,
        list: Literal["agents", "executions"] | None = None,  # noqa: A002
        limit: int | None = None,
    ) -> Paged[View]:
        """Return up to `limit` views, newest first, of one list or of all lists."""
        return Paged(
            self._client, _PATH, given(list=list), partial(View, self._client), limit=limit
        )

    async def update(self, id: str, **changes: Unpack[ViewChanges]) -> View:  # noqa: A002
        """Change settings of the view with that id; see `View.update`."""
        return await View(self._client, {"id": id}).update(**changes)

    async def delete(self, id: str) -> None:  # noqa: A002
        """Delete the view with that id."""
        await self._client._transport.request("DELETE", path_to(_PATH, id))
