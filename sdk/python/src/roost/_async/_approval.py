"""Approvals: what scripts ask people."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from .._fields import Field, path_to
from .._links import ApprovalLink
from .._params import given, without_none
from .._states import ApprovalState
from .._values import dump_json, parse_time
from ._pages import Paged
from ._resource import Resource, default_client

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["Approval", "Approvals"]

_PATH = "/approvals"


class Approval(Resource):
    """A question that a script has asked with `request.approval`.

    `state` is pending, approved, rejected, expired (nobody has decided until `expires_at`) or
    cancelled (its job has ended). `details` is what one needs to know, `form` the JSON Schema of
    what is to be filled in, or `None`. `decided_by` is the name of who has decided, `value` what
    was filled in.
    """

    __slots__ = ()
    _shown = ("id", "state", "title")
    _shown_in_notebooks = ("assignees", "created_at", "expires_at", "decided_by")
    _path = _PATH

    executor_job_id: Field[str] = Field()
    agent_id: Field[str] = Field()
    title: Field[str] = Field()
    details: Field[Any] = Field()
    form: Field[Any] = Field()
    assignees: Field[builtins.list[str]] = Field()
    state: Field[ApprovalState] = Field()
    created_at: Field[datetime] = Field(parse_time)
    expires_at: Field[datetime | None] = Field(parse_time)
    decided_at: Field[datetime | None] = Field(parse_time)
    decided_by: Field[str | None] = Field()
    comment: Field[str | None] = Field()
    value: Field[Any] = Field()

    @classmethod
    async def retrieve(cls, id: str, *, client: Client | None = None) -> Approval:  # noqa: A002
        """Return the approval with that id."""
        return await (client or default_client()).approvals.retrieve(id)

    @classmethod
    def list(
        cls,
        *,
        state: ApprovalState | Sequence[ApprovalState] | None = None,
        agent_id: str | None = None,
        executor_job_id: str | None = None,
        assignee: str | None = None,
        limit: int | None = None,
        client: Client | None = None,
    ) -> Paged[Approval]:
        """Return up to `limit` approvals, newest first, fetched as needed."""
        return (client or default_client()).approvals.list(
            state=state,
            agent_id=agent_id,
            executor_job_id=executor_job_id,
            assignee=assignee,
            limit=limit,
        )

    async def approve(self, value: Any = None, *, comment: str | None = None) -> Approval:
        """Approve, in place; the script continues.

        `value` is an object with the properties of the form. Raises `ValidationError` if it isn't,
        `Conflict` if somebody else has decided, or if it is too late.
        """
        return await self._decide("approve", without_none(value=value, comment=comment))

    async def reject(self, *, comment: str | None = None) -> Approval:
        """Reject, in place; the script continues. Raises `Conflict` as `approve` does."""
        return await self._decide("reject", without_none(comment=comment))

    async def link(
        self, assignee: str | None = None, *, expires_in: int | None = None
    ) -> ApprovalLink:
        """Return a link that decides without a key, for a mail or a chat.

        Whoever has it can decide, in the name of `assignee`, for `expires_in` seconds (a week).
        """
        transport = self._client._transport
        body = dump_json(without_none(assignee=assignee, expires_in=expires_in), "link")
        response = await transport.request("POST", f"{path_to(_PATH, self.id)}/links", body=body)
        return ApprovalLink.of(transport.parse(response), self._client.base_url)

    async def _decide(self, verb: str, fields: dict[str, Any]) -> Approval:
        transport = self._client._transport
        path = f"{path_to(_PATH, self.id)}/{verb}"
        # The same decision by the same key changes nothing the second time.
        response = await transport.request(
            "POST", path, body=dump_json(fields, "decision"), repeatable=True
        )
        self._data = transport.parse(response)
        return self


class Approvals:
    """`client.approvals`."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def retrieve(self, id: str) -> Approval:  # noqa: A002
        """Return the approval with that id."""
        return Approval(self._client, await self._client._transport.get(path_to(_PATH, id)))

    def list(
        self,
        *,
        state: ApprovalState | Sequence[ApprovalState] | None = None,
        agent_id: str | None = None,
        executor_job_id: str | None = None,
        assignee: str | None = None,
        limit: int | None = None,
    ) -> Paged[Approval]:
        """Return up to `limit` approvals, newest first, fetched as needed.

        `state` is one or several; `assignee` selects those that ask this one.
        """
        params = given(
            state=state, agent_id=agent_id, executor_job_id=executor_job_id, assignee=assignee
        )
        return Paged(self._client, _PATH, params, partial(Approval, self._client), limit=limit)
