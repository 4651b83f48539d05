"""What `request.step` raises by itself; other exceptions are those of the step's function.

    StepError
    ├── StepTimeout     a step took longer than its timeout
    ├── StepFailed      a step failed in an earlier attempt, with an exception that can't be created again
    ├── WaitTimeout     a wait for an event or an approval took longer than its timeout
    ├── CallFailed      a job that was called has failed, or was cancelled
    └── ReplayDiverged  this attempt asks for other steps than the job has stored

The history of a step's failure is in the exception's attribute `FAILURES`: the numbers of the stored failures that it
stands for, so that a retry of the job runs these steps again when the exception has ended the script.
"""

import contextlib
import importlib
import sys
from typing import Any

from roost_executor.script.failures import ScriptFile, message_of, script_frames, traceback_text, type_name
from roost_executor.script.jsonvalue import NotJson, decode, encode

FAILURES = "__roost_failures__"
# The longest chain of causes that is looked at.
MOST_CAUSES = 100


class StepError(Exception):
    """A step can't be run, or its result can't be stored."""


class StepTimeout(StepError, TimeoutError):  # noqa: N818
    """A step took longer than its timeout."""


class StepFailed(StepError):  # noqa: N818
    """Stands for the exception of a step that failed in an earlier attempt.

    `type` and `message` are those of the exception, as strings.
    """

    def __init__(self, type: str, message: str) -> None:  # noqa: A002
        super().__init__(type, message)
        self.type = type
        self.message = message

    def __str__(self) -> str:
        return f"{self.type}: {self.message}" if self.message else self.type


class CallFailed(StepError):  # noqa: N818
    """A job that `request.call` or `request.map` has submitted didn't succeed.

    `job_id`; `state` is "failed" or "cancelled"; `reason` and `message` are those of the job.
    """

    def __init__(self, job_id: str, state: str, reason: str, message: "str | None") -> None:
        super().__init__(job_id, state, reason, message)
        self.job_id = job_id
        self.state = state
        self.reason = reason
        self.message = message

    def __str__(self) -> str:
        # As the control plane writes it.
        how = "failed" if self.state == "failed" else "was cancelled"
        return f"the job {self.job_id} {how}" + (f": {self.message}" if self.message else "")


class WaitTimeout(StepError, TimeoutError):  # noqa: N818
    """No event, or no decision, came within the timeout of `request.wait_for_event` or `request.approval`."""


class ReplayDiverged(StepError):  # noqa: N818
    """This attempt asks for other steps than the job has stored."""


def error_record(error: Exception, script: ScriptFile) -> "dict[str, Any]":
    """What is stored of a step's exception, as `exception_of` takes it. Never raises."""
    trace = script_frames(error.__traceback__, script.path)
    try:
        arguments: str | None = encode(error.args)
    except (NotJson, MemoryError):
        arguments = None
    return {
        "type": type_name(error),
        "message": message_of(error),
        "traceback": traceback_text(error, trace, script),
        "arguments": arguments,
    }


def exception_of(record: "dict[str, Any]") -> Exception:
    """The exception of a record: of its own class, if an equal one can be created; otherwise a StepFailed."""
    kind, message = record["type"], record["message"]
    if record.get("arguments") is not None:
        try:
            found = _class_of(kind)
            if isinstance(found, type) and issubclass(found, Exception):
                error = found(*decode(record["arguments"]))
                if message_of(error) == message:
                    return error
        except Exception:
            pass  # a class that is gone, or whose instances take something else than their arguments
    return StepFailed(kind, message)


def _class_of(name: str) -> Any:
    """The class of a name as `type_name` gives it; None if there is no such class."""
    module, _, rest = "", "", name
    parts = name.split(".")
    for count in range(len(parts) - 1, -1, -1):
        module, rest = ".".join(parts[:count]) or "builtins", ".".join(parts[count:])
        if module not in sys.modules:
            try:
                importlib.import_module(module)
            except ImportError:
                continue
        found: Any = sys.modules[module]
        for part in rest.split("."):
            found = getattr(found, part, None)
        if found is not None:
            return found
    return None


def note_failure(error: BaseException, number: int) -> None:
    """Says that `error` stands for the stored failure with this number."""
    with contextlib.suppress(Exception):  # one without a dictionary: a retry raises it again
        setattr(error, FAILURES, [*getattr(error, FAILURES, ()), number])


def failures_behind(error: "BaseException | None") -> "set[int]":
    """The numbers of the stored failures that `error`, its causes, contexts and members stand for."""
    numbers: set[int] = set()
    seen: set[int] = set()
    waiting = [error]
    while waiting and len(seen) < MOST_CAUSES:
        current = waiting.pop()
        if current is None or id(current) in seen:
            continue
        seen.add(id(current))
        numbers.update(getattr(current, FAILURES, ()))
        waiting += [current.__cause__, current.__context__, *(getattr(current, "exceptions", None) or ())]
    return numbers
