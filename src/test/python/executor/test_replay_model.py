"""Replay of steps, against a model: random programs, whose attempts fail or are cut off at random moments.

A program is a tree of nodes. The model interprets it with what docs/agents.md promises and nothing else: a table of
outcomes by position. Both must call the same functions in the same order in each attempt, and end in the same way.
"""

import json
import random
import sys
from dataclasses import dataclass, field
from typing import Any, Callable, NoReturn, Optional, Union

import pytest
from executor import PACKAGE
from step_plane import JobSteps

sys.path.insert(0, str(PACKAGE.parent))

from roost_executor.script import step_history  # noqa: E402
from roost_executor.script.step_errors import ReplayDiverged  # noqa: E402
from roost_executor.script.steps import Steps  # noqa: E402
from roost_executor.script.waits import Waits  # noqa: E402

PROGRAMS = 1_500
MOST_ATTEMPTS = 12
ERRORS: "dict[str, type[Exception]]" = {"ValueError": ValueError, "KeyError": KeyError, "OSError": OSError}


class Cut(BaseException):
    """The process is killed."""


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


Node = Union[Leaf, Group, Guard, Fail]


def program(chance: random.Random, depth: int = 0) -> "list[Node]":
    """At most some dozen nodes."""
    nodes: list[Node] = []
    for _ in range(chance.randint(1, 4 if depth < 2 else 2)):
        kind = chance.random()
        name, error = chance.choice("abc"), chance.choice(sorted(ERRORS))
        if kind < 0.5 or depth == 3:
            fails = chance.choice([0, 0, 1, 2, 99])
            nodes.append(Leaf(name, fails, error, chance.choice([1, 1, 3])))
        elif kind < 0.75:
            nodes.append(Group(name, program(chance, depth + 1), chance.choice([1, 1, 2])))
        elif kind < 0.9:
            handler = program(chance, depth + 1) if chance.random() < 0.5 else []
            nodes.append(Guard(program(chance, depth + 1), error, handler, chance.random() < 0.3))
        else:
            nodes.append(Fail(chance.choice([1, 2]), error))
    return nodes


Step = Callable[[str, Callable[[], Any], int], Any]


def run(nodes: "list[Node]", step: Step, attempt: int, calls: "list[str]") -> "list[Any]":
    """The script: what it returns has the value of each step."""
    values: list[Any] = []
    for place, node in enumerate(nodes):
        if isinstance(node, Leaf):

            def leaf(node: Leaf = node) -> Any:
                calls.append(node.name)
                if attempt <= node.fails:
                    raise ERRORS[node.error](f"{node.name} in attempt {attempt}")
                return (node.name, attempt)

            values.append(step(node.name, leaf, node.calls))
        elif isinstance(node, Group):
            values.append(step(node.name, lambda node=node: run(node.body, step, attempt, calls), node.calls))
        elif isinstance(node, Guard):
            try:
                values += run(node.body, step, attempt, calls)
            except ERRORS[node.error] as error:
                values.append(f"handled {type(error).__name__}: {error}")
                values += run(node.handler, step, attempt, calls)
                if node.wraps:
                    raise RuntimeError("wrapped") from error
        elif attempt <= node.fails:
            raise ERRORS[node.error](f"at {place} in attempt {attempt}")
    return values


@dataclass
class Outcome:
    """How an attempt has ended: cut, a value, or an error."""

    ending: str
    calls: "list[str]"
    value: Any = None


class Connection:
    """Takes the place of the one to the sidecar; the process is killed at one of its requests."""

    def __init__(self, job: JobSteps, execution: str, cut_at: int, is_stored: bool) -> None:
        self._job, self._execution = job, execution
        self._left, self._is_stored = cut_at, is_stored

    def request(self, operation: str, body: str) -> Any:
        if operation == "step":
            self._left -= 1
            if self._left == 0 and not self._is_stored:
                raise Cut
        fields = {"execution_id": self._execution, "op": operation, **json.loads(body)}
        status, answer = self._job.operate(self._execution, json.dumps(fields).encode())
        assert status == 200, answer
        if operation == "step" and self._left == 0:
            raise Cut
        return json.loads(json.dumps(answer))


def real(nodes: "list[Node]", job: JobSteps, attempt: int, cut_at: int, is_stored: bool, monkeypatch: Any) -> Outcome:
    """One attempt, with the code that scripts run with."""
    execution = f"exec_{attempt}"
    connection = Connection(job, execution, cut_at, is_stored)
    monkeypatch.setattr(step_history, "StoreConnection", lambda *_: connection)
    steps = Steps("", "agent.py", execution, bool(job.steps), Waits(_never, None))
    calls: list[str] = []
    try:
        value = run(nodes, lambda name, function, times: steps.step(name, function, (), times, 0, None), attempt, calls)
        steps.returned()
        return Outcome("returned", calls, json.loads(json.dumps(value)))
    except Cut:
        return Outcome("cut", calls)
    except Exception as error:
        error = steps.failed(error)  # type: ignore[assignment]
        ending = "diverged" if isinstance(error, ReplayDiverged) else type(error).__name__
        return Outcome(ending, calls)


@dataclass
class Known:
    """What is stored of a step: its outcome, and in which order of all."""

    name: str
    number: int
    execution: int
    value: Any = None
    error: Optional[Exception] = None


@dataclass
class Model:
    """The promises: a stored outcome is returned, one that ended an attempt isn't."""

    known: "dict[str, Known]" = field(default_factory=dict)
    # By execution: from here on it had taken a way that the script may leave.
    loose: "dict[int, int]" = field(default_factory=dict)
    number: int = 0
    every: "list[tuple[str, Known]]" = field(default_factory=list)

    def attempt(self, nodes: "list[Node]", attempt: int, cut_at: int, is_stored: bool) -> Outcome:
        view, loose = dict(self.known), dict(self.loose)
        asked: set[str] = set()
        over: set[str] = set()
        calls: list[str] = []
        branch: list[list[int]] = [[0]]
        prefixes = [""]
        left = cut_at
        stored_before = self.number

        def is_loose(known: Known) -> bool:
            return known.number > loose.get(known.execution, known.number)

        def forget(error: BaseException) -> "list[tuple[str, Known]]":
            """The stored failures behind an error are no longer known."""
            return [(path, each) for path, each in self.every if each.number in behind(error)]

        def step(name: str, function: "Callable[[], Any]", times: int) -> Any:
            nonlocal left
            branch[-1][0] += 1
            path = f"{prefixes[-1]}{branch[-1][0]}"
            asked.add(path)
            found = view.get(path)
            if found is not None and found.name != name:
                if not is_loose(found):
                    raise ReplayDiverged
                found = None
            elif found is not None:
                over.add(path)
                if found.error is None:
                    return found.value
                raise again(found)
            for call in range(1, times + 1):
                branch.append([0])
                prefixes.append(path + "/")
                try:
                    value, error = function(), None
                except ReplayDiverged:
                    raise
                except Exception as e:
                    value, error = None, e
                finally:
                    branch.pop()
                    prefixes.pop()
                if error is None or call == times:
                    left -= 1
                    if left == 0 and not is_stored:
                        raise Cut
                    self.number += 1
                    known = Known(name, self.number, attempt, json.loads(json.dumps(value)), error)
                    self.known[path] = view[path] = known
                    self.every.append((path, known))
                    if left == 0:
                        raise Cut
                    if error is None:
                        return known.value
                    mark(error, known.number)
                    raise error
                for inner, each in forget(error):
                    if view.get(inner) is each:
                        del view[inner]
                    loose[each.execution] = min(each.number, loose.get(each.execution, each.number))
            raise AssertionError

        try:
            value = run(nodes, step, attempt, calls)
            for path, each in view.items():
                inside = any(path.startswith(outer + "/") for outer in over)
                if each.number <= stored_before and path not in asked and not inside and not is_loose(each):
                    raise ReplayDiverged
            return Outcome("returned", calls, json.loads(json.dumps(value)))
        except Cut:
            return Outcome("cut", calls)
        except ReplayDiverged:
            return Outcome("diverged", calls)
        except Exception as error:
            for path, each in forget(error):
                if self.known.get(path) is each:
                    del self.known[path]
                self.loose[each.execution] = min(each.number, self.loose.get(each.execution, each.number))
            return Outcome(type(error).__name__, calls)


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
def test_each_attempt_does_what_the_model_does(part: int, monkeypatch: Any) -> None:
    endings: dict[str, int] = {}
    for seed in range(part * PROGRAMS // 5, (part + 1) * PROGRAMS // 5):
        chance = random.Random(seed)
        nodes = program(chance)
        job, model = JobSteps(_NoLock()), Model()
        for attempt in range(1, MOST_ATTEMPTS + 1):
            cut_at = chance.randint(1, 6) if chance.random() < 0.5 else -1
            is_stored = chance.random() < 0.5
            expected = model.attempt(nodes, attempt, cut_at, is_stored)
            outcome = real(nodes, job, attempt, cut_at, is_stored, monkeypatch)
            assert outcome == expected, f"seed {seed}, attempt {attempt}, cut at {cut_at}: {nodes}"
            endings[outcome.ending] = endings.get(outcome.ending, 0) + 1
            if outcome.ending in ("returned", "diverged"):
                break
    # The programs are such that each promise is at stake.
    assert {"returned", "cut", "ValueError", "RuntimeError"} <= set(endings), endings


def _never(_: object) -> NoReturn:
    raise AssertionError("nothing waits")


class _NoLock:
    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass
