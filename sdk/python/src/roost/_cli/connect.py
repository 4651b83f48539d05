"""The client of a command, and lookup of agents, stores and keys by id or name."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .failures import CONFLICT, NOT_ALLOWED, NOT_FOUND, Failure, did_you_mean
from .options import state

if TYPE_CHECKING:
    import roost

__all__ = ["agent", "agent_names", "client", "completion_client", "key_id", "kind_of", "store"]

_KINDS = {
    "agent": "agent",
    "bjob": "build job",
    "build": "build",
    "exec": "execution",
    "hook": "webhook",
    "issue": "issue",
    "key": "key",
    "rollout": "rollout",
    "sched": "schedule",
    "store": "store",
    "xjob": "job",
}
_MOST_SUGGESTED_FROM = 200
_MOST_AT_ONCE = 8
_COMPLETION_SECONDS = 1.0


def client() -> roost.Client:
    """Return the client of this command, created on first use."""
    present = state()
    if present.client is None:
        present.client = _client(present.profile)
    return present.client


def completion_client(profile: str | None) -> roost.Client:
    """Return a client for shell completion: a short timeout, no retries."""
    return _client(profile, timeout=_COMPLETION_SECONDS, max_retries=0)


def _client(profile: str | None, **settings: Any) -> roost.Client:
    import roost

    url, key = _of_profile(profile) if profile is not None else (None, None)
    try:
        return roost.Client(key, url, **settings)
    except roost.AuthenticationError as error:
        if not str(error).startswith("there is no API key"):
            raise
        # The SDK's message is for Python code.
        hint = (
            "Use `roost login` or set ROOST_API_KEY. A server on this machine writes a key to its "
            "data directory, ROOST_DATA or ~/.roost."
        )
        where = url or os.environ.get("ROOST_URL")
        raise Failure(
            f"You are not signed in{f' to {where}' if where else ''}: there is no API key.",
            NOT_ALLOWED,
            hint,
        ) from error


def _of_profile(name: str) -> tuple[str | None, str | None]:
    from .. import _profiles

    known = _profiles.load()
    if name not in known:
        hint = f"`roost login --profile {name} --url URL` creates it."
        raise Failure(f'There is no profile "{name}".{did_you_mean(name, list(known))}', hint=hint)
    return known[name].url, known[name].api_key


def kind_of(text: str) -> str | None:
    """Return the kind of resource that an id names; None for other text."""
    prefix, underscore, _ = text.partition("_")
    return _KINDS.get(prefix) if underscore else None


def agent(text: str) -> roost.Agent:
    """Return the agent with that id or name."""
    import roost

    agents = client().agents
    if kind_of(text) == "agent":
        try:
            return agents.retrieve(text)
        except roost.NotFound:
            pass  # it may be a name
    try:
        return agents.retrieve(name=text)
    except roost.NotFound:
        names = [each.name for each in agents.list(limit=_MOST_SUGGESTED_FROM)]
    hint = "`roost list agents` lists all agents."
    if not names:
        hint = "There are no agents yet; `roost deploy FILE` creates one."
    message = f'There is no agent named "{text}".{did_you_mean(text, names)}'
    raise Failure(message, NOT_FOUND, hint)


def store(text: str) -> roost.DataStore:
    """Return the DataStore with that id or name."""
    import roost

    stores = client().datastores
    if kind_of(text) == "store":
        try:
            return stores.retrieve(text)
        except roost.NotFound:
            pass
    try:
        return stores.retrieve(name=text)
    except roost.NotFound:
        names = [each.name for each in stores.list(limit=_MOST_SUGGESTED_FROM)]
    message = f'There is no store named "{text}".{did_you_mean(text, names)}'
    hint = f"`roost store list` lists all stores; `roost store create {text}` creates this one."
    raise Failure(message, NOT_FOUND, hint)


def key_id(name: str) -> str:
    """Return the id of the API key with that name."""
    keys = list(client().keys.list())
    found = [key.id for key in keys if key.name == name]
    if len(found) > 1:
        raise Failure(f'{len(found)} keys are named "{name}": {", ".join(found)}.', CONFLICT)
    if found:
        return found[0]
    suggestion = did_you_mean(name, [key.name for key in keys])
    hint = "`roost keys list` lists all keys."
    raise Failure(f'There is no key named "{name}".{suggestion}', NOT_FOUND, hint)


def agent_names(ids: Iterable[str]) -> dict[str, str]:
    """Return the agents' names by id; a deleted agent's name is its id."""
    from concurrent.futures import ThreadPoolExecutor

    import roost

    agents = client().agents

    def name(id_: str) -> str:
        try:
            return agents.retrieve(id_).name
        except roost.NotFound:
            return id_

    wanted = sorted(set(ids))
    with ThreadPoolExecutor(_MOST_AT_ONCE) as pool:
        return dict(zip(wanted, pool.map(name, wanted)))
