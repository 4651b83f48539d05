"""The type of the first argument of `main`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar

__all__ = ["Request"]

Payload_co = TypeVar("Payload_co", covariant=True)


class Request(Protocol[Payload_co]):
    """What `main` gets as its first argument, as a type hint: `def main(request: Request[Order])`.

    With a dataclass, a `TypedDict`, a model of pydantic or any type made of types of JSON,
    `payload` is an object of that type, and the agent gets an input schema that says so. Scripts
    without this package write the hint as a string: `request: "Request[Order]"`.
    """

    StepError: type[Exception]
    StepTimeout: type[Exception]
    StepFailed: type[Exception]
    CallFailed: type[Exception]
    WaitTimeout: type[Exception]
    StreamError: type[Exception]
    FileError: type[Exception]

    @property
    def payload(self) -> Payload_co:
        """The job's payload."""
        ...

    @property
    def agent_id(self) -> str:
        """The agent's identifier."""
        ...

    @property
    def execution_id(self) -> str:
        """The execution's identifier."""
        ...

    @property
    def executor_job_id(self) -> str:
        """The job's identifier."""
        ...

    @property
    def scheduled(self) -> bool:
        """Whether a schedule submitted the job."""
        ...

    @property
    def scheduled_time(self) -> datetime | None:
        """The schedule's time, or `None`."""
        ...

    @property
    def attempt(self) -> int:
        """The number of the attempt, 1 for the first."""
        ...

    @property
    def deadline(self) -> datetime | None:
        """When the script will be stopped."""
        ...

    @property
    def stores(self) -> Mapping[str, Any]:
        """The agent's stores by name."""
        ...

    @property
    def http(self) -> Any:
        """The HTTP request at the agent's URL, if the URL has the format http; else `None`."""
        ...

    @property
    def files(self) -> Mapping[str, Path]:
        """The paths of the files that were submitted with the payload, by name."""
        ...

    def artifact(self, content: Any, *, name: str | None = None, type: str | None = None) -> str:  # noqa: A002
        """Store a file of the job, a path or bytes with a name, and return its identifier."""
        ...

    def emit(self, value: Any) -> None:
        """Stream a JSON value to those who follow the execution."""
        ...

    def progress(self, fraction: float | None = None, message: str | None = None) -> None:
        """Say how far the script is: a fraction from 0 to 1, and what it does."""
        ...

    def step(
        self,
        name: str,
        function: Callable[..., Any],
        *args: Any,
        attempts: int = 1,
        delay: float = 1.0,
        timeout: float | None = None,
    ) -> Any:
        """Run `function(*args)` once in this job, store its JSON result, and return it."""
        ...

    def sleep(
        self, seconds: float | None = None, *, until: datetime | None = None, name: str = "sleep"
    ) -> Any:
        """Wait for some seconds or until a time; a long wait occupies no executor."""
        ...

    def call(
        self,
        agent: str,
        payload: Any = None,
        *,
        files: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> Any:
        """Execute another agent and return what it returns."""
        ...

    def map(self, agent: str, payloads: Iterable[Any], *, name: str | None = None) -> Any:
        """Execute another agent with each payload and return the list of what it returns."""
        ...

    def wait_for_event(
        self,
        event: str,
        *,
        key: str | None = None,
        timeout: float | None = None,
        name: str | None = None,
    ) -> Any:
        """Wait for an event and return its data."""
        ...

    def approval(
        self,
        title: str,
        details: Any = None,
        *,
        form: dict[str, Any] | None = None,
        assignees: Iterable[str] = (),
        timeout: float | None = None,
        name: str | None = None,
    ) -> Any:
        """Ask people, and return the decision."""
        ...
