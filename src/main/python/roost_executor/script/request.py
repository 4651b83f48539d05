"""The first argument of `main`."""

from collections.abc import Mapping
from functools import partial
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Callable

from roost_executor.script import step_errors
from roost_executor.script.job_files import Artifacts, Content, FileError, InputFiles
from roost_executor.script.stream import StreamError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from pathlib import Path

    from roost_executor.script.http_request import HttpRequest
    from roost_executor.script.steps import Steps

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

    payload: the job's JSON value, or None; for `request: Request[Input]`, an Input.
    agent_id, execution_id, executor_job_id: identifiers (str).
    scheduled: whether a schedule submitted the job (bool); scheduled_time: its time (aware datetime) or None.
    attempt: 1 for the first attempt (int).
    deadline: when the script will be stopped (aware datetime), None when it has no timeout.
    stores: the agent's stores by name (read-only mapping).
    http: the HTTP request at the agent's URL, None unless the URL has the format http.

    files: the paths of the files that were submitted with the payload, by name (read-only mapping). `artifact` stores
    a file that the script has made. `request.FileError` is raised for what can't be fetched or stored.

    `emit` streams a value to whoever follows the execution, `progress` says how far it is. `main` may also be a
    generator: what it yields is emitted. `request.StreamError` is raised for what can't be stored.

    `step` runs a function once in a job. Its errors are attributes: `request.StepError`, and below it
    `request.StepTimeout`, `request.StepFailed`, of `call` and `map` `request.CallFailed`, and of `wait_for_event`
    and `approval` `request.WaitTimeout`.
    """

    __slots__ = (*FIELDS, "_artifacts", "_files", "_steps")

    # `Request[Input]`, as a type hint: the payload is an Input.
    __class_getitem__ = classmethod(GenericAlias)

    StepError = step_errors.StepError
    StepTimeout = step_errors.StepTimeout
    StepFailed = step_errors.StepFailed
    CallFailed = step_errors.CallFailed
    WaitTimeout = step_errors.WaitTimeout
    StreamError = StreamError
    FileError = FileError

    payload: Any
    agent_id: str
    execution_id: str
    executor_job_id: str
    scheduled: bool
    attempt: int
    deadline: Any
    scheduled_time: Any
    stores: "Mapping[str, Any]"

    def __init__(
        self,
        steps: "Steps | None" = None,
        files: "InputFiles | None" = None,
        artifacts: "Artifacts | None" = None,
        **fields: Any,
    ) -> None:
        object.__setattr__(self, "_steps", steps)
        object.__setattr__(self, "_files", files)
        object.__setattr__(self, "_artifacts", artifacts)
        for name in FIELDS:
            object.__setattr__(self, name, fields[name])

    @property
    def http(self) -> "HttpRequest | None":
        """The HTTP request at the agent's URL, None unless the URL has the format http.

        It has `method`, `path`, `query`, `headers`, `body`, `text` and `json()`. It is read from the payload, so a job
        that is run again has it, too.
        """
        from roost_executor.script.http_request import http_request

        return http_request(self.payload)

    @property
    def files(self) -> "Mapping[str, Path]":
        """The paths of the files that were submitted with the payload, by name.

        A file is fetched when its path is first asked for: `request.files["report"]`. Raises KeyError for other names,
        FileError when it can't be fetched.
        """
        if self._files is None:
            raise FileError("a request belongs to the process of main; another process can't use it for this")
        return self._files

    def artifact(self, content: "Content", *, name: "str | None" = None, type: "str | None" = None) -> str:  # noqa: A002
        """Stores a file of the job: a path, or bytes with a name. Returns its identifier.

        It is listed with the job, and can be downloaded while the job is kept. One with the same name replaces it, also
        when the job runs the script again. `name`: the path's last part if it is missing; `type`: the media type, by
        default guessed from the name.

        Raises OSError when the path can't be read, and FileError when the file is too large or can't be stored.
        """
        if self._artifacts is None:
            raise FileError("a request belongs to the process of main; another process can't use it for this")
        return self._artifacts.store(content, name, type)

    def emit(self, value: Any) -> None:
        """Streams a JSON value: whoever follows the execution gets it within milliseconds, in order.

        The values are stored, and numbered from 1 in each attempt. While too much is unsent, the call waits. If main
        is a generator or an asynchronous generator, what it yields is emitted.

        Raises TypeError if the value isn't JSON, and StreamError if it is too large or values can't be stored.
        """
        self._own_steps().emit(value)

    def progress(self, fraction: "float | None" = None, message: "str | None" = None) -> None:
        """Says how far the script is: a fraction from 0 to 1, and what it does. Each call replaces the last one's."""
        self._own_steps().stream.report(fraction, message)

    def step(
        self,
        name: str,
        function: "Callable[..., Any]",
        *args: Any,
        attempts: int = 1,
        delay: float = 1.0,
        timeout: "float | None" = None,
    ) -> Any:
        """Runs `function(*args)` once in this job, stores its JSON result, and returns it; `await` it in an async main.

        When the job runs the script again, because an attempt has failed or its executor was lost, the stored result is
        returned instead. What is returned is always what JSON keeps: a tuple comes back as a list.

        `attempts`: how often the function is called until it succeeds; `delay`: seconds before the second call, doubled
        for each further one; `timeout`: seconds for each call. The exception of the last call is stored and raised,
        also when the script runs again. One that ends the script doesn't count: a retry of the job runs the step again.

        The script must ask for the same steps in the same order each time. Steps may contain steps. In threads, and in
        tasks besides that of main, each step needs its own name.

        Raises StepError when the step can't be run or stored, StepTimeout after `timeout`, and the function's
        exceptions.
        """
        return self._own_steps().step(name, function, args, attempts, delay, timeout)

    def sleep(self, seconds: "float | None" = None, *, until: "datetime | None" = None, name: str = "sleep") -> Any:
        """Waits for `seconds`, or until an aware datetime; `await` it in an async main.

        If that is long, the process ends without running `finally` blocks, and the job is suspended: it takes no
        executor, no memory and none of the agent's concurrency. At the time, another process runs the script again up
        to here, with the stored results of its steps, and continues. So do in steps what must not be done twice. In
        tasks besides that of main, each sleep needs its own `name`.

        Raises StepError when the sleep can't be stored.
        """
        return self._own_steps().sleep(seconds, until, name)

    def call(
        self,
        agent: str,
        payload: Any = None,
        *,
        files: "Mapping[str, Content] | None" = None,
        name: "str | None" = None,
    ) -> Any:
        """Executes another agent, given by name or identifier, and returns its return value; `await` it in async main.

        Unless it ends at once, this process ends without running `finally` blocks, and the job is suspended, as by
        `sleep`. So callers wait without executors, and any number of them can wait for one agent. The job is submitted
        once. If this job ends, the jobs that it has called and that still run are cancelled.

        `files`: what the called script reads as `request.files`, by name: identifiers that `artifact` has returned,
        here or in another job; paths or bytes, which become artifacts of this job. `name`: instead of the agent's, in
        messages; in tasks besides that of main, each call needs its own.

        Raises CallFailed when the job fails or is cancelled, StepError when it can't be submitted, OSError and
        FileError when a file can't be read or stored.
        """
        stored = partial(self._artifacts.identifiers, dict(files)) if files and self._artifacts else None
        return self._own_steps().call(agent, [payload], name, as_list=False, files=stored)

    def map(self, agent: str, payloads: "Iterable[Any]", *, name: "str | None" = None) -> Any:
        """Calls an agent with each payload at the same time, as `call` does; returns the return values in their order.

        The agent's max_concurrency limits how many run. The process is resumed when all have ended. If some have
        failed, raises the CallFailed of the first of them.
        """
        return self._own_steps().call(agent, list(payloads), name, as_list=True)

    def wait_for_event(
        self, event: str, *, key: "str | None" = None, timeout: "float | None" = None, name: "str | None" = None
    ) -> Any:
        """Waits for an event with this name, and returns the JSON value that was sent; `await` it in an async main.

        Events are sent to this job; with `key`, also to whichever job waits for the name and key. One wait receives
        each. An event that comes before the wait is kept for it. Unless there is one, this process ends without running
        `finally` blocks, and the job is suspended, as by `sleep`.

        `timeout`: seconds, from the first time that the script comes here. `name`: in messages, and in tasks besides
        that of main, where each wait needs its own; the event's name and key if it is missing.

        Raises WaitTimeout, also when the script runs again, and StepError when the wait can't be stored.
        """
        return self._own_steps().wait_for_event(event, key, timeout, name)

    def _own_steps(self) -> "Steps":
        if self._steps is None:
            raise step_errors.StepError(
                "a request belongs to the process of main; another process can't use it for this"
            )
        return self._steps

    def approval(
        self,
        title: str,
        details: Any = None,
        *,
        form: "dict[str, Any] | None" = None,
        assignees: "Iterable[str]" = (),
        timeout: "float | None" = None,
        name: "str | None" = None,
    ) -> Any:
        """Asks people, and returns the decision, which is true if it is an approval; `await` it in an async main.

        The decision has `approved`, `by` (the name of who has decided), `comment` (None without one) and `value` (what
        was filled in with an approval, None without a form). Meanwhile the job is suspended, as by `sleep`.

        `title`: what is to be decided, on one line; `details`: a JSON value that one needs for it. `form`: the JSON
        Schema of an object whose members are texts, numbers and booleans. `assignees`: whom to ask, for people to find
        what they are asked; `timeout`: seconds, from the first time that the script comes here; `name`: in tasks
        besides that of main, where each needs its own; the title if it is missing.

        Raises WaitTimeout, also when the script runs again, and StepError when it can't be asked for.
        """
        return self._own_steps().approval(title, details, form, assignees, timeout, name)

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
