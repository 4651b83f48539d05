"""Replay of steps, sleeps and calls, against a model: random programs, which fail, wait, or are cut off at random moments.

A program is a tree of nodes. The model interprets it with what docs/agents.md promises and nothing else: a table of
outcomes by position. Both must call the same functions in the same order in each process, and end in the same way.
"""

import itertools
import json
import random
import sys
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, Callable, NoReturn, Optional, Protocol, Union

import pytest
from executor import PACKAGE
from step_plane import JobSteps

sys.path.insert(0, str(PACKAGE.parent))


from roost_executor.script import step_history, steps, waits  # noqa: E402
from roost_executor.script.failures import ScriptFile  # noqa: E402
from roost_executor.script.step_errors import CallFailed, ReplayDiverged  # noqa: E402
from roost_executor.script.stream import Stream  # noqa: E402

PROGRAMS = 1_500
MOST_PROCESSES = 16
SLEEP_SECONDS = 3600
ERRORS: "dict[str, type[Exception]]" = {"ValueError": ValueError, "KeyError": KeyError, "OSError": OSError}
CAUGHT: "dict[str, type[Exception]]" = {**ERRORS, "CallFailed": CallFailed}


class Cut(BaseException):
    """The process is killed."""


class Suspended(BaseException):
    """The process has ended, to wait."""


@dataclass
class Leaf:
    """A step whose function fails in the first attempts of the job."""

    name: str
    fails: int
    error: str
    calls: int = 1


@dataclass
class Group:
    """A step whose function runs others."""

    name: str
    body: "list[Node]"
    calls: int = 1


@dataclass
class Guard:
    """`try: body; except error: handler`."""

    body: "list[Node]"
    error: str
    handler: "list[Node]"
    wraps: bool = False


@dataclass
class Fail:
    """Raises by itself in the first attempts, outside of steps."""

    fails: int
    error: str


@dataclass
class Sleep:
    """A long wait."""

    name: str


@dataclass
class Call:
    """A call of another agent."""

    name: str


Node = Union[Leaf, Group, Guard, Fail, Sleep, Call]


def program(chance: random.Random, depth: int = 0) -> "list[Node]":
    """At most some dozen nodes."""
    nodes: list[Node] = []
    for _ in range(chance.randint(1, 4 if depth < 2 else 2)):
        kind = chance.random()
        name, error = chance.choice("abc"), chance.choice(sorted(ERRORS))
        if kind < 0.42 or depth == 3:
            fails = chance.choice([0, 0, 1, 2, 99])
            nodes.append(Leaf(name, fails, error, chance.choice([1, 1, 3])))
        elif kind < 0.62:
            nodes.append(Group(name, program(chance, depth + 1), chance.choice([1, 1, 2])))
        elif kind < 0.8:
            handler = program(chance, depth + 1) if chance.random() < 0.5 else []
            caught = chance.choice(sorted(CAUGHT))
            nodes.append(Guard(program(chance, depth + 1), caught, handler, chance.random() < 0.3))
        elif kind < 0.88:
            nodes.append(Sleep(name) if chance.random() < 0.5 else Call(name))
        elif kind < 0.93:
            # Another attempt goes another way.
            way: list[Node] = [Sleep(name)] if chance.random() < 0.5 else program(chance, depth + 1)
            nodes.append(Guard([Fail(1, error)], error, way))
        else:
            nodes.append(Fail(chance.choice([1, 2]), error))
    return nodes


class Calls(Protocol):
    """What a script has of `request`."""

    def step(self, name: str, function: "Callable[[], Any]", calls: int) -> Any: ...

    def sleep(self, name: str) -> None: ...

    def call(self, name: str) -> Any: ...


def run(nodes: "list[Node]", request: Calls, attempt: int, calls: "list[str]") -> "list[Any]":
    """The script: what it returns has the value of each step."""
    values: list[Any] = []
    for place, node in enumerate(nodes):
        if isinstance(node, Leaf):

            def leaf(node: Leaf = node) -> Any:
                calls.append(node.name)
                if attempt <= node.fails:
                    raise ERRORS[node.error](f"{node.name} in attempt {attempt}")
                return (node.name, attempt)

            values.append(request.step(node.name, leaf, node.calls))
        elif isinstance(node, Group):
            values.append(
                request.step(node.name, lambda node=node: run(node.body, request, attempt, calls), node.calls)
            )
        elif isinstance(node, Sleep):
            request.sleep(node.name)
        elif isinstance(node, Call):
            values.append(request.call(node.name))
        elif isinstance(node, Guard):
            try:
                values += run(node.body, request, attempt, calls)
            except CAUGHT[node.error] as error:
                values.append(f"handled {type(error).__name__}: {error}")
                values += run(node.handler, request, attempt, calls)
                if node.wraps:
                    raise RuntimeError("wrapped") from error
        elif attempt <= node.fails:
            raise ERRORS[node.error](f"at {place} in attempt {attempt}")
    return values


@dataclass
class Outcome:
    """How a process has ended: cut, suspended with the numbers of what it waits for, a value, or an error."""

    ending: str
    calls: "list[str]"
    value: Any = None


class Connection:
    """Takes the place of the one to the sidecar; the process is killed at one of its requests."""

    def __init__(self, job: JobSteps, execution: str, cut_at: int, is_stored: bool) -> None:
        self._job, self._execution = job, execution
        self._left, self._is_stored = cut_at, is_stored

    def request(self, operation: str, body: str) -> Any:
        stores = operation in ("step", "timer", "call")
        if stores:
            self._left -= 1
            if self._left == 0 and not self._is_stored:
                raise Cut
        fields = {"execution_id": self._execution, "op": operation, **json.loads(body)}
        status, answer = self._job.operate(self._execution, json.dumps(fields).encode())
        assert status == 200, answer
        if stores and self._left == 0:
            raise Cut
        return json.loads(json.dumps(answer))


@dataclass
class Process:
    """What one run of a script is given; `number` counts the executions of the job, `now` is the Unix time."""

    number: int
    attempt: int
    now: int
    cut_at: int
    is_stored: bool


class RealCalls:
    """Those of the code that scripts run with."""

    def __init__(self, of: "steps.Steps") -> None:
        self._of = of

    def step(self, name: str, function: "Callable[[], Any]", calls: int) -> Any:
        return self._of.step(name, function, (), calls, 0, None)

    def sleep(self, name: str) -> None:
        self._of.sleep(SLEEP_SECONDS, None, name)

    def call(self, name: str) -> Any:
        return self._of.call(name, [None], None, as_list=False)


def real(nodes: "list[Node]", job: JobSteps, process: Process, monkeypatch: Any) -> Outcome:
    """One process, with the code that scripts run with."""
    execution = f"exec_{process.number}"
    connection = Connection(job, execution, process.cut_at, process.is_stored)
    monkeypatch.setattr(step_history, "StoreConnection", lambda *_: connection)
    # For a call, a process waits half a second by this clock.
    seconds = itertools.count()
    clock = SimpleNamespace(time=lambda: float(process.now), monotonic=lambda: next(seconds), sleep=lambda _: None)
    monkeypatch.setattr(steps, "time", clock)
    monkeypatch.setattr(waits, "time", clock)
    script = ScriptFile("/script/agent.py", "/script")
    of = steps.Steps("", script, execution, bool(job.steps), waits.Waits(_suspend, 10.0), Stream("", None))
    calls: list[str] = []
    try:
        value = run(nodes, RealCalls(of), process.attempt, calls)
        of.returned()
        return Outcome("returned", calls, json.loads(json.dumps(value)))
    except Cut:
        return Outcome("cut", calls)
    except Suspended as suspended:
        return Outcome("suspended", calls, suspended.args[0])
    except Exception as error:
        error = of.failed(error)  # type: ignore[assignment]
        ending = "diverged" if isinstance(error, ReplayDiverged) else type(error).__name__
        return Outcome(ending, calls)


def _suspend(numbers: object, are_all: bool) -> NoReturn:
    raise Suspended(numbers)


@dataclass
class Known:
    """What is stored of a step or a wait: its outcome or its end, and in which order of all."""

    name: str
    number: int
    execution: int
    value: Any = None
    error: Optional[Exception] = None
    until: Optional[int] = None
    kind: str = "step"
    ended: bool = True


@dataclass
class Model:
    """The promises: a stored outcome is returned, one that ended an attempt isn't."""

    known: "dict[str, Known]" = field(default_factory=dict)
    # By execution: from here on it had taken a way that the script may leave.
    loose: "dict[int, int]" = field(default_factory=dict)
    number: int = 0
    every: "list[tuple[str, Known]]" = field(default_factory=list)

    def run(self, nodes: "list[Node]", process: Process) -> Outcome:
        calls: list[str] = []
        stored_before = self.number
        request = ModelCalls(self, process)
        try:
            value = run(nodes, request, process.attempt, calls)
            for path, each in request.view.items():
                inside = any(path.startswith(outer + "/") for outer in request.over)
                is_old = each.number <= stored_before
                if is_old and path not in request.asked and not inside and not request.is_loose(each):
                    raise ReplayDiverged
            return Outcome("returned", calls, json.loads(json.dumps(value)))
        except Cut:
            return Outcome("cut", calls)
        except Suspended as suspended:
            return Outcome("suspended", calls, suspended.args[0])
        except ReplayDiverged:
            return Outcome("diverged", calls)
        except Exception as error:
            for path, each in self.failures(error):
                if self.known.get(path) is each:
                    del self.known[path]
                self.loose[each.execution] = min(each.number, self.loose.get(each.execution, each.number))
            return Outcome(type(error).__name__, calls)

    def failures(self, error: BaseException) -> "list[tuple[str, Known]]":
        """The stored failures behind an error: they are no longer known."""
        return [(path, each) for path, each in self.every if each.number in behind(error)]


class ModelCalls:
    """The promises, to one process."""

    def __init__(self, model: Model, process: Process) -> None:
        self._model, self._process = model, process
        self.view, self._loose = dict(model.known), dict(model.loose)
        self.asked: set[str] = set()
        self.over: set[str] = set()
        self._branch: list[list[int]] = [[0]]
        self._prefixes = [""]
        self._left = process.cut_at

    def is_loose(self, known: Known) -> bool:
        return known.number > self._loose.get(known.execution, known.number)

    def step(self, name: str, function: "Callable[[], Any]", calls: int) -> Any:
        path, found = self._find(name, "step")
        if found is not None:
            self.over.add(path)
            if found.error is None:
                return found.value
            raise again(found)
        for call in range(1, calls + 1):
            self._branch.append([0])
            self._prefixes.append(path + "/")
            try:
                value, error = function(), None
            except ReplayDiverged:
                raise
            except Exception as e:
                value, error = None, e
            finally:
                self._branch.pop()
                self._prefixes.pop()
            if error is None or call == calls:
                known = self._store(path, name, value=json.loads(json.dumps(value)), error=error)
                if error is None:
                    return known.value
                mark(error, known.number)
                raise error
            for inner, each in self._model.failures(error):
                if self.view.get(inner) is each:
                    del self.view[inner]
                self._loose[each.execution] = min(each.number, self._loose.get(each.execution, each.number))
        raise AssertionError

    def sleep(self, name: str) -> None:
        path, found = self._find(name, "sleep")
        if found is None:
            found = self._store(path, name, until=self._process.now + SLEEP_SECONDS, kind="sleep")
        assert found.until is not None
        if self._process.now < found.until:
            raise Suspended([found.number])

    def call(self, name: str) -> Any:
        path, found = self._find(name, "call")
        if found is None:
            found = self._store(path, name, kind="call", ended=False)
        if not found.ended:
            raise Suspended([found.number])
        if found.error is None:
            return found.value
        raise again(found)

    def _find(self, name: str, kind: str) -> "tuple[str, Optional[Known]]":
        self._branch[-1][0] += 1
        path = f"{self._prefixes[-1]}{self._branch[-1][0]}"
        self.asked.add(path)
        found = self.view.get(path)
        if found is not None and (found.name != name or found.kind != kind):
            if not self.is_loose(found):
                raise ReplayDiverged
            return path, None
        return path, found

    def _store(self, path: str, name: str, **fields: Any) -> Known:
        model = self._model
        self._left -= 1
        if self._left == 0 and not self._process.is_stored:
            raise Cut
        model.number += 1
        known = Known(name, model.number, self._process.number, **fields)
        model.known[path] = self.view[path] = known
        model.every.append((path, known))
        if self._left == 0:
            raise Cut
        return known


def end_call(job: JobSteps, known: Known, fails: bool) -> None:
    """The job that was called ends."""
    known.ended = True
    if fails:
        job.end_call(known.number, failure="it broke")
        known.error = CallFailed(f"xjob_{known.number}", "failed", "exception", "it broke")
    else:
        job.end_call(known.number, known.number)
        known.value = known.number


def again(found: Known) -> Exception:
    error = found.error
    assert error is not None
    copy = type(error)(*error.args)
    mark(copy, found.number)
    return copy


def mark(error: BaseException, number: int) -> None:
    error.stands_for = {*getattr(error, "stands_for", ()), number}  # type: ignore[attr-defined]


def behind(error: "BaseException | None") -> "set[int]":
    """The numbers of the failures that led to an error."""
    if error is None:
        return set()
    return set(getattr(error, "stands_for", ())) | behind(error.__cause__) | behind(error.__context__)


@pytest.mark.parametrize("part", range(5))
def test_each_process_does_what_the_model_does(part: int, monkeypatch: Any) -> None:
    endings: dict[str, int] = {}
    for seed in range(part * PROGRAMS // 5, (part + 1) * PROGRAMS // 5):
        chance = random.Random(seed)
        nodes = program(chance)
        job, model = JobSteps(_NoLock()), Model()
        attempt, now = 1, 0
        for number in range(1, MOST_PROCESSES + 1):
            cut_at = chance.randint(1, 6) if chance.random() < 0.5 else -1
            process = Process(number, attempt, now, cut_at, chance.random() < 0.5)
            expected = model.run(nodes, process)
            outcome = real(nodes, job, process, monkeypatch)
            assert outcome == expected, f"seed {seed}, {process}: {nodes}"
            endings[outcome.ending] = endings.get(outcome.ending, 0) + 1
            if outcome.ending in ("returned", "diverged"):
                break
            if outcome.ending == "suspended":
                # Sometimes too early.
                now += chance.choice([SLEEP_SECONDS, SLEEP_SECONDS, SLEEP_SECONDS // 2])
                for _, known in model.every:
                    if not known.ended and chance.random() < 0.7:
                        end_call(job, known, chance.random() < 0.4)
            else:
                attempt += 1
    # The programs are such that each promise is at stake.
    assert {"returned", "cut", "suspended", "ValueError", "RuntimeError", "CallFailed"} <= set(endings), endings


class _NoLock:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass
