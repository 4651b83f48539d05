"""The first argument of `main`."""

from collections.abc import Mapping
from typing import Any

FIELDS = (
    "payload",
    "agent_id",
    "execution_id",
    "executor_job_id",
    "scheduled",
    "attempt",
    "deadline",
    "scheduled_time",
    "stores",
)


class Request:
    """One execution of the agent. Read-only.

    payload: the job's JSON value, or None.
    agent_id, execution_id, executor_job_id: identifiers (str).
    scheduled: whether a schedule submitted the job (bool); scheduled_time: its time (aware datetime) or None.
    attempt: 1 for the first attempt (int).
    deadline: when the script will be stopped (aware datetime), None when it has no timeout.
    stores: the agent's stores by name (read-only mapping).
    """

    __slots__ = FIELDS

    payload: Any
    agent_id: str
    execution_id: str
    executor_job_id: str
    scheduled: bool
    attempt: int
    deadline: Any
    scheduled_time: Any
    stores: "Mapping[str, Any]"

    def __init__(self, **fields: Any) -> None:
        for name in FIELDS:
            object.__setattr__(self, name, fields[name])

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a request is read-only: {name} can't be set")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a request is read-only: {name} can't be deleted")

    def __repr__(self) -> str:
        return f"Request({', '.join(f'{name}={getattr(self, name)!r}' for name in FIELDS)})"

    def __reduce__(self) -> "tuple[Any, ...]":
        fields = {name: getattr(self, name) for name in FIELDS}
        fields["stores"] = dict(fields["stores"])
        return _rebuild, (fields,)


def _rebuild(fields: "dict[str, Any]") -> Request:
    """A request in another process (`multiprocessing` with spawn)."""
    return Request(**fields)
