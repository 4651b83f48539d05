"""The steps that a job has stored: loaded at the first one that an attempt asks for, and extended by each that it runs.

The history only grows: a step that is run again has another entry, and the last one with its path counts. Entries have
numbers, from 1 without gaps, so that sending one twice changes nothing.
"""

import contextlib
import json
import threading
from collections.abc import Mapping, Sequence
from json.encoder import encode_basestring_ascii as quoted
from typing import Any, NamedTuple

from roost_executor.script import store_errors
from roost_executor.script.step_errors import ReplayDiverged, StepError
from roost_executor.script.store_connection import StoreConnection
from roost_executor.wire.clock import time_text, timestamp

# In place of a store's identifier, for the operations on the job itself.
JOB = "job"
# The kinds of entries.
STEP = "step"
SLEEP = "sleep"
CALL = "call"
EVENT = "event"
APPROVAL = "approval"
# The path of a step within a step begins with that step's path and this.
SEPARATOR = "/"


class Entry(NamedTuple):
    """A step that has ended, or a wait.

    result: JSON text; None when it has failed. error: as `error_record` gives it; None when it has succeeded.
    until: of a sleep, the Unix time in seconds; None of others. A call, or a wait for an event or an approval, that has
    neither result nor error is not over.
    """

    number: int
    path: str
    name: str
    execution_id: str
    result: "str | None"
    error: "dict[str, Any] | None"
    until: "float | None" = None
    kind: str = STEP
    # How many values it has emitted in this attempt of the job.
    values: int = 0

    @property
    def is_waiting(self) -> bool:
        """Whether it is a wait that has no outcome yet, and no known end."""
        return self.kind in (CALL, EVENT, APPROVAL) and self.result is None and self.error is None

    @property
    def what(self) -> str:
        """For messages."""
        return f"the {self.kind} {self.name!r}"


class History:
    """Thread-safe. After a failure of its own every operation raises that again."""

    def __init__(self, socket_path: str, execution_id: str, has_stored: bool) -> None:
        """`has_stored`: whether earlier attempts have stored steps."""
        self._connection = StoreConnection(socket_path, JOB)
        self._execution_id = execution_id
        self._is_loaded = not has_stored
        self._lock = threading.RLock()
        self._last = 0
        self._by_path: dict[str, Entry] = {}
        self._numbers: dict[int, Entry] = {}
        # Failures that are run again: where the entries of their executions stop being binding.
        self._open: dict[str, int] = {}
        self._asked: set[str] = set()
        self._replayed: set[str] = set()
        self._loaded_last = 0
        self.failure: StepError | None = None

    def find(self, path: str, name: str, kind: str = STEP) -> "Entry | None":
        """The stored entry of this path, None if it is new. Raises StepError, ReplayDiverged."""
        with self._lock:
            self._check()
            if not self._is_loaded:
                self._load()
            self._asked.add(path)
            entry = self._by_path.get(path)
            if entry is None:
                return None
            if entry.name != name or entry.kind != kind:
                if self._is_open(entry):
                    return None
                raise self._failed(
                    ReplayDiverged(
                        f"the script asks for the {kind} {name!r} where the job has "
                        f"stored {entry.what} (step {path}). A script must ask for the same steps in the same order in "
                        "each attempt: do what may differ, such as reading a clock or a random number, in a step"
                    )
                )
            self._replayed.add(path)
            return entry

    def save(
        self,
        path: str,
        name: str,
        result: "str | None",
        error: "dict[str, Any] | None",
        attempts: int,
        seconds: float,
        values: int,
    ) -> int:
        """Stores a step that has ended, either with a result or with an error; returns its number. Raises StepError."""
        with self._lock:
            self._check()
            number = self._last + 1
            fields = (
                f'{{"seq": {number}, "path": {quoted(path)}, "name": {quoted(name)}, "attempts": {attempts}, '
                f'"seconds": {seconds:.6f}'
            )
            if values:
                fields += f', "emitted": {values}'
            if result is not None:
                fields += f', "result": {quoted(result)}'
            if error is not None:
                for field in ("type", "message", "traceback", "arguments"):
                    if error[field] is not None:
                        fields += f', "error_{field}": {quoted(error[field])}'
            self._request("step", fields + "}", f"the result of the step {name!r} can't be stored")
            self._last = number
            self._take(Entry(number, path, name, self._execution_id, result, error))
            return number

    def save_timer(self, path: str, name: str, until: float) -> Entry:
        """Stores a sleep that begins. Raises StepError."""
        fields = f'"until": {quoted(time_text(until))}'
        return self._begin("timer", SLEEP, path, name, fields, "the sleep can't be stored", until)

    def call(
        self, path: str, name: str, agent: str, payload: str, files: "Mapping[str, str] | None" = None
    ) -> Entry:
        """Submits a job of `agent`, with `payload` as JSON text, and stores that it was called. Raises StepError.

        `files`: identifiers by name.
        """
        fields = f'"agent": {quoted(agent)}, "payload": {payload}'
        if files:
            fields += f', "files": {json.dumps(files)}'
        return self._begin("call", CALL, path, name, fields, f"the agent {agent!r} can't be called")

    def await_event(self, path: str, name: str, event: str, key: "str | None", timeout: "float | None") -> Entry:
        """Stores that the script waits for an event from now on. Raises StepError."""
        fields = f'"event": {quoted(event)}'
        if key is not None:
            fields += f', "key": {quoted(key)}'
        if timeout is not None:
            fields += f', "timeout": {timeout!r}'
        return self._begin("event", EVENT, path, name, fields, f"the wait for the event {event!r} can't be stored")

    def ask(self, path: str, name: str, title: str, fields: "dict[str, str]") -> Entry:
        """Stores that the script waits for an approval; `fields` are JSON texts. Raises StepError."""
        more = "".join(f', "{field}": {text}' for field, text in fields.items())
        failure = f"the approval {title!r} can't be asked for"
        return self._begin("approval", APPROVAL, path, name, f'"title": {quoted(title)}{more}', failure)

    def _begin(
        self, operation: str, kind: str, path: str, name: str, fields: str, failure: str, until: "float | None" = None
    ) -> Entry:
        """Stores a wait that begins. `until`: its end, if that is known."""
        with self._lock:
            self._check()
            number = self._last + 1
            place = f'"seq": {number}, "path": {quoted(path)}, "name": {quoted(name)}'
            self._request(operation, f"{{{place}, {fields}}}", failure)
            self._last = number
            entry = Entry(number, path, name, self._execution_id, None, None, until, kind)
            self._take(entry)
            return entry

    def outcomes(self, numbers: "Sequence[int]") -> "dict[int, Entry]":
        """Those of these waits that are over, by number. Raises StepError."""
        with self._lock:
            self._check()
            waits = ", ".join(f'{{"seq": {number}}}' for number in numbers)
            found = self._request("outcomes", f'{{"waits": [{waits}]}}', "the outcomes of waits can't be read")
            ended = {}
            for outcome in found["outcomes"]:
                entry = self._numbers[outcome["seq"]]
                entry = entry._replace(result=outcome.get("result"), error=outcome.get("error"))
                self._numbers[entry.number] = ended[entry.number] = entry
                if self._by_path[entry.path].number == entry.number:
                    self._by_path[entry.path] = entry
            return ended

    def run_again(self, numbers: "set[int]") -> None:
        """Makes this attempt run steps again that have failed."""
        with self._lock:
            for number in numbers:
                entry = self._numbers.get(number)
                if entry is not None and entry.error is not None:
                    self._reopen(entry)

    def end(self, numbers: "set[int]") -> None:
        """At the end of a script that has failed because of these failures: a retry runs their steps again.

        Without effect if the control plane can't be reached: the retry then raises the same exception again.
        """
        with self._lock:
            failed = sorted(number for number in numbers if number in self._numbers)
            if failed and self.failure is None:
                steps = ", ".join(f'{{"seq": {number}}}' for number in failed)
                with contextlib.suppress(store_errors.StoreError):
                    self._connection.request("reopen_steps", f'{{"steps": [{steps}]}}')

    def check_complete(self) -> None:
        """At the end of a script that has returned. Raises ReplayDiverged if it has left out a stored step."""
        with self._lock:
            if isinstance(self.failure, ReplayDiverged):
                raise self.failure
            if not self._is_loaded:
                self._load()
            for number, entry in sorted(self._numbers.items()):
                if number <= self._loaded_last and self._is_left_out(entry):
                    raise ReplayDiverged(
                        f"the script ended without asking for {entry.what} (step {entry.path}), which the "
                        "job has stored. A script must ask for the same steps in the same order in each attempt"
                    )

    def _is_left_out(self, entry: Entry) -> bool:
        path = entry.path
        if path in self._asked or self._by_path.get(path) is not entry or self._is_open(entry):
            return False
        while SEPARATOR in path:
            path = path.rpartition(SEPARATOR)[0]
            if path in self._replayed:
                return False  # it was in a step that has ended
        return True

    def _load(self) -> None:
        while True:
            page = self._request("steps", f'{{"after": {self._last}}}', "the job's steps can't be read")
            for step in page["steps"]:
                error = step.get("error")
                self._last = step["seq"]
                until = step.get("until")
                kind = step.get("kind") or (STEP if until is None else SLEEP)
                entry = Entry(
                    self._last,
                    step["path"],
                    step["name"],
                    step["execution_id"],
                    step.get("result"),
                    error,
                    timestamp(until) if kind == SLEEP else None,
                    kind,
                    step.get("emitted") or 0,
                )
                self._take(entry)
                if step["open"]:
                    self._reopen(entry)
            if not page["more"]:
                break
        self._loaded_last = self._last
        self._is_loaded = True

    def _take(self, entry: Entry) -> None:
        self._by_path[entry.path] = entry
        self._numbers[entry.number] = entry

    def _reopen(self, entry: Entry) -> None:
        if self._by_path.get(entry.path) is entry:
            del self._by_path[entry.path]
        self._open[entry.execution_id] = min(entry.number, self._open.get(entry.execution_id, entry.number))

    def _is_open(self, entry: Entry) -> bool:
        """Whether the same execution stored it after a failure that is run again: the script may take another way."""
        return entry.number > self._open.get(entry.execution_id, entry.number)

    def _request(self, operation: str, body: str, what: str) -> Any:
        try:
            return self._connection.request(operation, body)
        except store_errors.StoreError as error:
            raise self._failed(StepError(f"{what}: {error}")) from None

    def _check(self) -> None:
        if self.failure is not None:
            raise type(self.failure)(*self.failure.args)

    def _failed(self, failure: StepError) -> StepError:
        """What can't be stored or replayed makes all that follows uncertain."""
        self.failure = failure
        return failure
