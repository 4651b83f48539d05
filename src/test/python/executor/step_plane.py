"""The steps of the control plane for tests: the operations of docs/executor-link.md on jobs, in memory."""

import json
import threading
from typing import Any

from store_plane import Refused, without_duplicates

FIELDS = {
    "steps": {"after"},
    "step": {"seq", "path", "name", "attempts", "seconds"},
    "reopen_steps": {"steps"},
    "timer": {"seq", "path", "name", "until"},
    "call": {"seq", "path", "name", "agent", "payload"},
    "event": {"seq", "path", "name", "event"},
    "approval": {"seq", "path", "name", "title"},
    "outcomes": {"waits"},
}
OPTIONAL = {
    "result",
    "error_type",
    "error_message",
    "error_traceback",
    "error_arguments",
    "key",
    "timeout",
    "details",
    "form",
    "assignees",
    "files",
    "emitted",
}


class JobSteps:
    """`steps[n - 1]` is the step with number n, as the operation `steps` returns it. All executions are of one job."""

    def __init__(self, changed: threading.Condition) -> None:
        self.changed = changed
        self.steps: list[dict[str, Any]] = []
        self.page = 1000
        self.most = 10_000
        # Agents and payloads, in the order of the calls.
        self.called: list[tuple[str, Any]] = []
        # Identifiers by name, of each of these calls.
        self.called_with: list[dict[str, str]] = []
        # Names, keys and time-outs of the events that are waited for, by number.
        self.awaited: dict[int, tuple[str, Any, Any]] = {}
        # What is asked of people, by number.
        self.asked: dict[int, dict[str, Any]] = {}

    def names(self) -> "list[str]":
        return [step["name"] for step in self.steps]

    def operate(self, execution: str, body: bytes) -> "tuple[int, Any]":
        request = json.loads(body, object_pairs_hook=without_duplicates)
        assert request.pop("execution_id") == execution
        operation = request.pop("op")
        assert FIELDS[operation] <= set(request) <= FIELDS[operation] | OPTIONAL, request
        with self.changed:
            try:
                return 200, getattr(self, "_" + operation)(execution, request)
            except Refused as refused:
                return refused.answer

    def _steps(self, execution: str, request: "dict[str, Any]") -> Any:
        after = request["after"]
        return {"steps": self.steps[after : after + self.page], "more": len(self.steps) > after + self.page}

    def _step(self, execution: str, request: "dict[str, Any]") -> Any:
        number = request["seq"]
        assert ("result" in request) != ("error_type" in request)
        if number > self.most:
            raise Refused(413, "too_large", "too many steps")
        step = {"seq": number, "path": request["path"], "name": request["name"], "execution_id": execution}
        step["open"] = False
        if "emitted" in request:
            assert request["emitted"] > 0
            step["emitted"] = request["emitted"]
        if "result" in request:
            step["result"] = request["result"]
        else:
            kinds = ("type", "message", "traceback", "arguments")
            step["error"] = {kind: request.get(f"error_{kind}") for kind in kinds}
        self._add(step)
        return {}

    def _timer(self, execution: str, request: "dict[str, Any]") -> Any:
        number, until = request["seq"], request["until"]
        timer = {
            "seq": number,
            "path": request["path"],
            "name": request["name"],
            "execution_id": execution,
            "until": until,
        }
        timer["open"] = False
        self._add(timer)
        return {}

    def _call(self, execution: str, request: "dict[str, Any]") -> Any:
        if request["agent"] == "nobody":
            raise Refused(422, "validation_failed", "There is no agent with that name or identifier.")
        call = {key: request[key] for key in ("seq", "path", "name")}
        call.update(execution_id=execution, kind="call", open=False)
        self._add(call)
        self.called.append((request["agent"], request["payload"]))
        self.called_with.append(request.get("files", {}))
        return {"executor_job_id": f"xjob_{call['seq']}"}

    def end_call(self, number: int, value: Any = None, failure: str = "") -> None:
        """The job of a call has ended."""
        with self.changed:
            call = self.steps[number - 1]
            assert call["kind"] == "call"
            if failure:
                arguments = [f"xjob_{number}", "failed", "exception", failure]
                message = f"the job xjob_{number} failed: {failure}"
                kind = "roost_executor.script.step_errors.CallFailed"
                call["error"] = {"type": kind, "message": message, "arguments": json.dumps(arguments)}
            else:
                call["result"] = json.dumps(value)

    def _event(self, execution: str, request: "dict[str, Any]") -> Any:
        wait = {key: request[key] for key in ("seq", "path", "name")}
        wait.update(execution_id=execution, kind="event", open=False)
        if "timeout" in request:
            wait["until"] = "2000-01-01T00:00:00Z"
        self._add(wait)
        self.awaited[wait["seq"]] = (request["event"], request.get("key"), request.get("timeout"))
        return {}

    def send(self, number: int, data: Any = None) -> None:
        """An event comes for a wait."""
        with self.changed:
            assert self.steps[number - 1]["kind"] == "event"
            self.steps[number - 1]["result"] = json.dumps(data)

    def _approval(self, execution: str, request: "dict[str, Any]") -> Any:
        if request["title"] == "refused":
            raise Refused(422, "validation_failed", "The form has pattern, which forms can't have.")
        wait = {key: request[key] for key in ("seq", "path", "name")}
        wait.update(execution_id=execution, kind="approval", open=False)
        self._add(wait)
        self.asked[wait["seq"]] = {key: value for key, value in request.items() if key not in wait}
        return {}

    def decide(self, number: int, outcome: "dict[str, Any]") -> None:
        """Somebody decides."""
        with self.changed:
            assert self.steps[number - 1]["kind"] == "approval"
            self.steps[number - 1]["result"] = json.dumps(outcome)

    def time_out(self, number: int) -> None:
        """A wait for an event is over without one."""
        with self.changed:
            message = f"no event {self.awaited[number][0]} came in time"
            kind = "roost_executor.script.step_errors.WaitTimeout"
            self.steps[number - 1]["error"] = {"type": kind, "message": message, "arguments": json.dumps([message])}

    def _outcomes(self, execution: str, request: "dict[str, Any]") -> Any:
        calls = [self.steps[wait["seq"] - 1] for wait in request["waits"]]
        assert all(call["kind"] in ("call", "event", "approval") for call in calls)
        return {"outcomes": [call for call in calls if "result" in call or "error" in call]}

    def _add(self, step: "dict[str, Any]") -> None:
        if step["seq"] == len(self.steps) + 1:
            self.steps.append(step)
        elif self.steps[step["seq"] - 1] != step:
            raise Refused(409, "conflict", "another step has this number")

    def _reopen_steps(self, execution: str, request: "dict[str, Any]") -> Any:
        for number in (step["seq"] for step in request["steps"]):
            assert "error" in self.steps[number - 1]
            self.steps[number - 1]["open"] = True
        return {}
