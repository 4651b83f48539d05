"""An agent's settings, from what Python has to what the API takes."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from ._data_store import DataStore

if TYPE_CHECKING:
    from ._client import Client

__all__ = ["AgentChanges", "encode", "without_none"]


class AgentChanges(TypedDict, total=False):
    """What `Agent.update` can change; each is as in `Agent.create`."""

    name: str
    script: str
    requirements: str | Sequence[str] | None
    env_vars: str | Mapping[str, str] | None
    python_version: str
    stores: Sequence[str | DataStore]
    store_ids: Sequence[str]
    timeout: float
    memory: int
    cpu: float
    max_concurrency: int
    max_attempts: int
    retry_delay: float
    never_retry: Sequence[str]
    keep_warm: float
    isolation: Literal["process", "pod"]


def encode(client: Client, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the JSON object for these settings; stores given by name are made when missing."""
    body: dict[str, Any] = {}
    for name, value in settings.items():
        if name not in AgentChanges.__annotations__:
            raise TypeError(_unknown(name))
        if name == "script" and not isinstance(value, str):
            raise TypeError("script must be its text, such as open('agent.py').read()")
        if name == "python_version" and not isinstance(value, str):
            raise TypeError("python_version must be a string, such as '3.13'")
        if name == "requirements":
            value = _requirements_text(value)
        elif name == "env_vars":
            value = _env_vars_text(value)
        elif name in ("store_ids", "never_retry"):
            value = _not_text(name, value)
        body[name] = value
    if "stores" in body:
        if "store_ids" in body:
            raise TypeError("give stores or store_ids, not both")
        stores = _not_text("stores", body.pop("stores"))
        body["store_ids"] = [
            store.id if isinstance(store, DataStore) else client.datastores.ensure(store).id
            for store in stores
        ]
    return body


def _requirements_text(value: str | Sequence[str] | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    for line in value:
        if "\n" in line or "\r" in line:
            raise ValueError(f"requirements: {line!r} holds a line break; give one item a line")
    return "\n".join(value)


def _env_vars_text(value: str | Mapping[str, str] | None) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    for key, text in value.items():
        if not isinstance(key, str) or not isinstance(text, str):
            raise TypeError(f"env_vars: {key!r} and its value must be strings")
        if not key or any(character in key for character in "=\n\r"):
            raise ValueError(f"env_vars: {key!r} can't be the name of a variable")
        if "\n" in text or "\r" in text:  # the value is a secret: only its name is shown
            raise ValueError(f"env_vars: the value of {key!r} holds a line break, which can't be")
    return "\n".join(f"{key}={text}" for key, text in value.items())


def _not_text(name: str, value: Any) -> list[Any]:
    if isinstance(value, str):
        raise TypeError(f"{name} must be a list, not one string")
    return list(value)


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, AgentChanges.__annotations__, n=1)
    return f"an agent has no setting {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")


def without_none(**settings: Any | None) -> dict[str, Any]:
    """Return the settings that were given."""
    return {name: value for name, value in settings.items() if value is not None}
