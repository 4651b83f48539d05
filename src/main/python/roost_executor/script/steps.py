"""`request.step`: functions that run once in a job, however often its script is started.

A step is known by its path: its position among the steps of `main`, or of the step that it is in (`"2"`, `"2/1"`). The
position is taken when `request.step` is called, so the steps that `asyncio.gather` runs at the same time have the order
of the calls. Threads, and tasks other than the one of `main`, have no order that a replay could repeat: their steps are
known by their names (`"~fetch a"`).
"""

import contextlib
import logging
import os
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextvars import ContextVar
from functools import partial
from typing import Any, Callable, NamedTuple

from roost_executor.script.failures import ScriptFile, message_of, type_name
from roost_executor.script.jsonvalue import NotJson, decode, encode, with_article
from roost_executor.script.step_errors import (
    ReplayDiverged,
    StepError,
    StepTimeout,
    error_record,
    exception_of,
    failures_behind,
    note_failure,
)
from roost_executor.script.step_history import APPROVAL, CALL, EVENT, SEPARATOR, SLEEP, Entry, History
from roost_executor.script.step_timeout import Expired, time_limit
from roost_executor.script.store_values import seconds as checked_seconds
from roost_executor.script.stream import Counter, Stream
from roost_executor.script.waits import Waits
from roost_executor.wire.clock import YEAR_10000

MOST_NAME_CHARACTERS = 200
DEEPEST = 16
MOST_ATTEMPTS = 1000
LONGEST_DELAY_SECONDS = 3600.0
NAMED = "~"

_log = logging.getLogger("roost.steps")
_branch: "ContextVar[Branch]" = ContextVar("roost_branch")


class Call(NamedTuple):
    """One call of `request.step`."""

    path: str
    name: str
    function: "Callable[..., Any]"
    arguments: "tuple[Any, ...]"
    attempts: int
    delay: float
    timeout: "float | None"
    values: Counter


class Approval(NamedTuple):
    """A decision of a person; true if it is an approval."""

    approved: bool
    by: str
    comment: "str | None"
    value: Any

    def __bool__(self) -> bool:
        return self.approved

    @classmethod
    def of(cls, outcome: "dict[str, Any]") -> "Approval":
        """Of a stored outcome."""
        return cls(outcome["approved"], outcome["by"], outcome.get("comment"), outcome.get("value"))


class Branch:
    """Where steps follow one another: `main`, or the function of a step."""

    def __init__(self, prefix: str, depth: int, counters: "tuple[Counter, ...]" = ()) -> None:
        """`counters`: of the values that the steps around it emit."""
        self._prefix = prefix
        self._depth = depth
        self.counters = counters
        self._position = 0
        self._names: set[str] = set()
        self.owner = _here()

    def path(self, name: str) -> str:
        """The path of a step that is asked for now, here. Raises StepError."""
        if self._depth == DEEPEST:
            raise StepError(f"{name!r} is in {DEEPEST} steps; steps can't be nested more deeply")
        if self.owner == _here():
            self._position += 1
            return f"{self._prefix}{self._position}"
        if name in self._names:
            raise StepError(
                f"there are two steps or sleeps {name!r} in threads or tasks. What runs at the same time is known by "
                f'its name: give each its own, such as name=f"{name} {{item}}"'
            )
        self._names.add(name)
        return self._prefix + NAMED + name.replace("%", "%25").replace(SEPARATOR, "%2F")

    def inside(self, call: Call) -> "Branch":
        """The branch of a step's function, which is running here."""
        return Branch(call.path + SEPARATOR, self._depth + 1, (*self.counters, call.values))


class Steps:
    """The steps of one execution."""

    def __init__(
        self,
        socket_path: str,
        script: ScriptFile,
        execution_id: str,
        has_stored: bool,
        waits: Waits,
        stream: Stream,
    ) -> None:
        """`has_stored`: whether earlier attempts have stored steps. Connects at the first step."""
        self._waits = waits
        self.stream = stream
        self._script = script
        self._process = os.getpid()
        self._main = Branch("", 0)
        self._history: History | None = None
        self._new_history = lambda: History(socket_path, execution_id, has_stored)
        self._has_stored = has_stored
        self._lock = threading.Lock()

    def enter_task(self) -> None:
        """Called in the task of an async `main`, whose steps are in order."""
        self._main.owner = _here()

    def step(
        self,
        name: str,
        function: "Callable[..., Any]",
        arguments: "tuple[Any, ...]",
        attempts: int,
        delay: float,
        timeout: "float | None",
    ) -> Any:
        """See `Request.step`."""
        self._require_process()
        _check(name, function, attempts)
        checked_seconds("delay", delay, or_zero=True)
        if timeout is not None:
            checked_seconds("timeout", timeout)
        in_loop = _loop() is not None
        if timeout is not None and not in_loop and threading.current_thread() is not threading.main_thread():
            raise StepError(f"the timeout of the step {name!r} needs the main thread or an async main")
        with self._lock:
            branch = _branch.get(self._main)
            call = Call(branch.path(name), name, function, arguments, attempts, delay, timeout, Counter())
            history = self._history = self._history or self._new_history()
        return self._run_in_task(history, branch, call) if in_loop else self._run(history, branch, call)

    def emit(self, value: object) -> None:
        """See `Request.emit`."""
        self.stream.emit(value, _branch.get(self._main).counters)

    def sleep(self, seconds: object, until: object, name: str) -> Any:
        """See `Request.sleep`."""
        self._require_process()
        _check_name(name, "sleep")
        end = _end_of_sleep(seconds, until)
        in_loop = _loop() is not None
        if not in_loop and threading.current_thread() is not threading.main_thread():
            raise StepError("request.sleep needs the main thread or an async main")
        with self._lock:
            path = _branch.get(self._main).path(name)
            history = self._history = self._history or self._new_history()
        entry = history.find(path, name, SLEEP) or history.save_timer(path, name, end)
        assert entry.until is not None
        if in_loop:
            return self._waits.sleep_in_task(entry.number, path, entry.until)
        return self._waits.sleep(entry.number, entry.until)

    def call(
        self,
        agent: object,
        payloads: "Sequence[object]",
        name: "str | None",
        as_list: bool,
        files: "Callable[[], dict[str, str]] | None" = None,
    ) -> Any:
        """See `Request.call` and `Request.map`. `files`: stores those of a call that isn't stored yet."""
        self._require_process()
        if not isinstance(agent, str):
            raise TypeError(f"the agent is {with_article(agent)}; it must be a str, a name or an identifier")
        if not agent:
            raise ValueError("the agent has no name")
        name = agent[:MOST_NAME_CHARACTERS] if name is None else name
        _check_name(name, "call")
        texts = [_json("the payload of a call", payload) for payload in payloads]
        in_loop = _loop() is not None
        if not in_loop and threading.current_thread() is not threading.main_thread():
            raise StepError("request.call and request.map need the main thread or an async main")
        with self._lock:
            branch = _branch.get(self._main)
            names = [f"{name} {n}" for n in range(1, len(texts) + 1)] if as_list else [name]
            paths = [branch.path(each) for each in names]
            history = self._history = self._history or self._new_history()
        calls = [
            history.find(path, each, CALL) or history.call(path, each, agent, text, files() if files else None)
            for path, each, text in zip(paths, names, texts)
        ]
        if in_loop:
            return self._outcomes_in_task(history, calls, as_list)
        return _values(self._waits.outcomes(history, calls), as_list)

    def wait_for_event(self, event: object, key: object, timeout: "float | None", name: "str | None") -> Any:
        """See `Request.wait_for_event`."""
        event = _text("the name of an event", event)
        key = None if key is None else _text("the key of an event", key)
        seconds = None if timeout is None else checked_seconds("timeout", timeout, or_zero=True)
        if name is None:
            name = (event if key is None else f"{event} {key}")[:MOST_NAME_CHARACTERS]
        begin = partial(History.await_event, event=event, key=key, timeout=seconds)
        return self._wait("wait_for_event", EVENT, name, begin, lambda data: data)

    def approval(
        self,
        title: object,
        details: object,
        form: object,
        assignees: "Iterable[str]",
        timeout: "float | None",
        name: "str | None",
    ) -> Any:
        """See `Request.approval`."""
        title = _text("the title of an approval", title)
        fields = {}
        for what, value in (("details", details), ("form", form)):
            if value is not None:
                fields[what] = _json(f"{what!r} of an approval", value)
        if isinstance(assignees, str):
            raise TypeError("assignees is a str; it must be a list of them")
        if people := [_text("an assignee", each) for each in assignees]:
            fields["assignees"] = _json("assignees", people)
        if timeout is not None:
            fields["timeout"] = repr(checked_seconds("timeout", timeout, or_zero=True))
        begin = partial(History.ask, title=title, fields=fields)
        return self._wait("approval", APPROVAL, title if name is None else name, begin, Approval.of)

    def _wait(
        self, method: str, kind: str, name: str, begin: "Callable[..., Entry]", read: "Callable[[Any], Any]"
    ) -> Any:
        """Waits for one outcome, whose value is what `read` makes of it."""
        self._require_process()
        _check_name(name, "wait")
        in_loop = _loop() is not None
        if not in_loop and threading.current_thread() is not threading.main_thread():
            raise StepError(f"request.{method} needs the main thread or an async main")
        with self._lock:
            path = _branch.get(self._main).path(name)
            history = self._history = self._history or self._new_history()
        wait = history.find(path, name, kind) or begin(history, path, name)
        if in_loop:
            return self._outcome_in_task(history, wait, read)
        return read(_values(self._waits.outcomes(history, [wait]), as_list=False))

    async def _outcome_in_task(self, history: History, wait: Entry, read: "Callable[[Any], Any]") -> Any:
        return read(await self._outcomes_in_task(history, [wait], as_list=False))

    async def _outcomes_in_task(self, history: History, calls: "list[Entry]", as_list: bool) -> Any:
        return _values(await self._waits.outcomes_in_task(history, calls), as_list)

    def _require_process(self) -> None:
        if os.getpid() != self._process:
            raise StepError("a request belongs to the process of main; another process can't use it for this")

    def returned(self) -> None:
        """At the end of a script that has returned. Raises ReplayDiverged, StepError."""
        if self._history is None and self._has_stored:
            self._history = self._new_history()
        if self._history is not None:
            self._history.check_complete()

    def failed(self, error: BaseException) -> BaseException:
        """At the end of a script that has failed with `error`; returns the error that says why."""
        history = self._history
        if history is None:
            return error
        history.end(failures_behind(error))
        return history.failure if isinstance(history.failure, ReplayDiverged) else error

    def _run(self, history: History, branch: Branch, call: Call) -> Any:
        stored = history.find(call.path, call.name)
        if stored is not None:
            return self._replayed(stored, branch)
        start = time.monotonic()
        for attempt in range(1, call.attempts + 1):
            try:
                with _inside(branch, call):
                    value = _call(call)
                    if hasattr(type(value), "__await__"):
                        getattr(value, "close", bool)()
                        raise StepError(f"the step {call.name!r} is async: define `async def main` and await the step")
                return self._succeeded(history, call, value, attempt, start)
            except Exception as error:
                pause = self._pause(history, call, error, attempt, start)
            time.sleep(pause)
        raise AssertionError

    async def _run_in_task(self, history: History, branch: Branch, call: Call) -> Any:
        import asyncio

        # Requests to the sidecar block the event loop for some milliseconds, as those of stores do.
        stored = history.find(call.path, call.name)
        if stored is not None:
            return self._replayed(stored, branch)
        start = time.monotonic()
        for attempt in range(1, call.attempts + 1):
            try:
                self._waits.begin(call.path)
                try:
                    with _inside(branch, call):
                        value = await _call_in_task(call)
                finally:
                    self._waits.end(call.path)
                return self._succeeded(history, call, value, attempt, start)
            except Exception as error:
                pause = self._pause(history, call, error, attempt, start)
            await asyncio.sleep(pause)
        raise AssertionError

    def _replayed(self, stored: Entry, branch: Branch) -> Any:
        """The outcome of a step whose function doesn't run, and so doesn't emit what it has emitted."""
        if stored.values:
            self.stream.skip(stored.values, branch.counters)
        return _outcome(stored)

    @staticmethod
    def _succeeded(history: History, call: Call, value: object, attempt: int, start: float) -> Any:
        try:
            text = encode(value)
        except NotJson as error:
            raise _Final(StepError(f"the step {call.name!r} returned a value that isn't JSON: {error}")) from None
        seconds = time.monotonic() - start
        history.save(call.path, call.name, text, None, attempt, seconds, call.values.count)
        return decode(text)

    def _pause(self, history: History, call: Call, error: Exception, attempt: int, start: float) -> float:
        """Seconds until the step's next attempt; raises `error` if there is none."""
        is_final = isinstance(error, _Final)
        if isinstance(error, _Final):
            error = error.error
        if history.failure is not None:
            raise error
        behind = failures_behind(error)
        if attempt == call.attempts or is_final:
            record = error_record(error, self._script)
            seconds = time.monotonic() - start
            number = history.save(call.path, call.name, None, record, attempt, seconds, call.values.count)
            note_failure(error, number)
            raise error
        # What failed within this step is run again as well.
        history.run_again(behind)
        pause = min(call.delay * 2 ** (attempt - 1), LONGEST_DELAY_SECONDS)
        # Between half of it and all. Not from `random`, whose state is the script's.
        pause *= 0.5 + int.from_bytes(os.urandom(4), "big") / 2**33
        _log.warning(
            "step %r failed (%s: %s); attempt %d of %d in %.1f s",
            call.name,
            type_name(error),
            message_of(error)[:500],
            attempt + 1,
            call.attempts,
            pause,
        )
        return pause


class _Final(Exception):  # noqa: N818
    """Wraps an error after which the step isn't tried again."""

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


def _check_name(name: object, what: str) -> None:
    if not isinstance(name, str):
        raise TypeError(f"the name of a {what} is a str, not {with_article(name)}")
    if not 0 < len(name) <= MOST_NAME_CHARACTERS or not name.isprintable():
        raise ValueError(f"the name of a {what} has 1 to {MOST_NAME_CHARACTERS} printable characters")


def _check(name: object, function: object, attempts: object) -> None:
    _check_name(name, "step")
    if not callable(function):
        raise TypeError(f"the step {name!r} needs a function and its arguments, not {with_article(function)}")
    if isinstance(attempts, bool) or not isinstance(attempts, int):
        raise TypeError(f"attempts is {with_article(attempts)}; it must be an int")
    if not 1 <= attempts <= MOST_ATTEMPTS:
        raise ValueError(f"attempts is {attempts}; it must be from 1 to {MOST_ATTEMPTS:,}")


def _end_of_sleep(seconds: object, until: object) -> float:
    """The Unix time at which a sleep that begins now ends. Raises TypeError, ValueError."""
    if (seconds is None) == (until is None):
        raise TypeError("request.sleep takes either seconds or until")
    if until is None:
        end = time.time() + checked_seconds("seconds", seconds, or_zero=True)
    else:
        import datetime

        if not isinstance(until, datetime.datetime):
            raise TypeError(f"until is {with_article(until)}; it must be a datetime")
        if until.tzinfo is None:
            raise ValueError("until has no time zone; write datetime.now(timezone.utc) instead of datetime.now()")
        end = until.timestamp()
    if not 0 <= end < YEAR_10000:
        raise ValueError("the sleep would end after the year 9999, or before 1970")
    return end


def _outcome(stored: Entry) -> Any:
    if stored.error is None:
        return decode(stored.result or "null")
    error = exception_of(stored.error)
    note_failure(error, stored.number)
    raise error


def _json(what: str, value: object) -> str:
    try:
        return encode(value)
    except NotJson as error:
        raise TypeError(f"{what} isn't JSON: {error}") from None


def _text(what: str, text: object) -> str:
    if not isinstance(text, str):
        raise TypeError(f"{what} is {with_article(text)}; it must be a str")
    if not 0 < len(text) <= MOST_NAME_CHARACTERS:
        raise ValueError(f"{what} must have 1 to {MOST_NAME_CHARACTERS} characters")
    return text


def _values(ended: "list[Entry]", as_list: bool) -> Any:
    """Raises the exception of the first call that has failed."""
    values = [_outcome(entry) for entry in ended]
    return values if as_list else values[0]


def _call(call: Call) -> Any:
    if call.timeout is None:
        return call.function(*call.arguments)
    try:
        with time_limit(call.timeout) as limit:
            return call.function(*call.arguments)
    except Expired as expired:
        if expired.limit is not limit:
            raise
    raise _timeout(call)


async def _call_in_task(call: Call) -> Any:
    import asyncio

    start = time.monotonic()
    try:
        return await asyncio.wait_for(_await(call), call.timeout)
    except asyncio.TimeoutError:
        if call.timeout is None or time.monotonic() - start < call.timeout:
            raise  # the function's own
    raise _timeout(call)


async def _await(call: Call) -> Any:
    """Runs an async function in this task, which may be a new one; a plain one in a thread, so that others go on."""
    import asyncio
    import inspect

    if inspect.iscoroutinefunction(call.function):
        _branch.get().owner = _here()
        return await call.function(*call.arguments)
    value = await asyncio.to_thread(_call_in_thread, call)
    # As of a lambda that calls an async function.
    return await value if hasattr(type(value), "__await__") else value


def _call_in_thread(call: Call) -> Any:
    _branch.get().owner = _here()
    return call.function(*call.arguments)


def _timeout(call: Call) -> StepTimeout:
    return StepTimeout(f"the step {call.name!r} took longer than {call.timeout:g} s")


@contextlib.contextmanager
def _inside(branch: Branch, call: Call) -> "Iterator[None]":
    token = _branch.set(branch.inside(call))
    try:
        yield
    finally:
        _branch.reset(token)


def _loop() -> Any:
    """The running event loop of this thread; None without one."""
    asyncio = sys.modules.get("asyncio")
    return asyncio._get_running_loop() if asyncio is not None else None


def _here() -> "tuple[int, Any]":
    """This thread and, in an event loop, the task."""
    loop = _loop()
    return threading.get_ident(), None if loop is None else sys.modules["asyncio"].current_task(loop)
