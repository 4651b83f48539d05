"""Conversion of an agent's settings from Python to the API."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from .._agent_text import (
    Schema,
    egress_text,
    env_vars_text,
    not_text,
    requirements_text,
    schema_json,
)
from .._errors import RoostError
from ._bundle import Bundle
from ._data_store import DataStore

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["AgentChanges", "encoded"]


class AgentChanges(TypedDict, total=False):
    """The arguments of `Agent.update`, as in `Agent.create`."""

    name: str
    script: str
    bundle: Bundle | str | None
    script_path: str
    requirements: str | Sequence[str] | None
    env_vars: str | Mapping[str, str] | None
    python_version: str
    stores: Sequence[str | DataStore]
    store_ids: Sequence[str]
    timeout: float
    memory: int
    cpu: float
    max_concurrency: int
    concurrency_key_scope: Literal["execution", "job"]
    max_attempts: int
    retry_delay: float
    never_retry: Sequence[str]
    keep_warm: float
    isolation: Literal["process", "pod"]
    requests_per_process: int
    profile: str | None
    egress: str | Sequence[str]
    preload: Literal["auto", "off"]
    input_schema: Schema | None
    output_schema: Schema | None
    tags: Sequence[str]
    tool_name: str | None
    tool_description: str | None


@asynccontextmanager
async def encoded(
    client: Client, settings: Mapping[str, Any]
) -> AsyncGenerator[dict[str, Any], None]:
    """Yield the JSON object for these settings.

    Stores given by name are created if missing. If the block raises, they are deleted, unless an
    agent uses them by then.
    """
    created: list[DataStore] = []
    try:
        yield await _encode(client, settings, created)
    except Exception:
        for store in created:
            with suppress(RoostError):
                await client.datastores.delete(store.id)
        raise


async def _encode(
    client: Client, settings: Mapping[str, Any], created: list[DataStore]
) -> dict[str, Any]:
    body: dict[str, Any] = {}
    for name, value in settings.items():
        if name not in AgentChanges.__annotations__:
            raise TypeError(_unknown(name))
        if name == "script" and not isinstance(value, str):
            raise TypeError("script must be its text, such as open('agent.py').read()")
        if name == "python_version" and not isinstance(value, str):
            raise TypeError("python_version must be a string, such as '3.13'")
        if name == "requirements":
            value = requirements_text(value)
        elif name == "egress":
            value = egress_text(value)
        elif name == "env_vars":
            value = env_vars_text(value)
        elif name in ("store_ids", "never_retry", "tags"):
            value = not_text(name, value)
        elif name in ("input_schema", "output_schema"):
            value = schema_json(value)
        elif name == "bundle":
            name, value = "bundle_id", value.id if isinstance(value, Bundle) else value
        body[name] = value
    if "stores" in body:
        if "store_ids" in body:
            raise TypeError("use stores or store_ids, not both")
        stores = not_text("stores", body.pop("stores"))
        body["store_ids"] = [await _store_id(client, store, created) for store in stores]
    return body


async def _store_id(client: Client, store: str | DataStore, created: list[DataStore]) -> str:
    if not isinstance(store, DataStore):
        store, is_new = await client.datastores._ensure(store)
        if is_new:
            created.append(store)
    return store.id


def _unknown(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, AgentChanges.__annotations__, n=1)
    return f"an agent has no setting {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")
