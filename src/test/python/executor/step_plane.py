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
}
OPTIONAL = {"result", "error_type", "error_message", "error_traceback", "error_arguments"}


class JobSteps:
    """`steps[n - 1]` is the step with number n, as the operation `steps` returns it. All executions are of one job."""

    def __init__(self, changed: threading.Condition) -> None:
        self.changed = changed
        self.steps: list[dict[str, Any]] = []
        self.page = 1000
        self.most = 10_000

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
        if "result" in request:
            step["result"] = request["result"]
        else:
            kinds = ("type", "message", "traceback", "arguments")
            step["error"] = {kind: request.get(f"error_{kind}") for kind in kinds}
        if number == len(self.steps) + 1:
            self.steps.append(step)
        elif self.steps[number - 1] != step:
            raise Refused(409, "conflict", "another step has this number")
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
        if number == len(self.steps) + 1:
            self.steps.append(timer)
        elif self.steps[number - 1] != timer:
            raise Refused(409, "conflict", "another step has this number")
        return {}

    def _reopen_steps(self, execution: str, request: "dict[str, Any]") -> Any:
        for number in (step["seq"] for step in request["steps"]):
            assert "error" in self.steps[number - 1]
            self.steps[number - 1]["open"] = True
        return {}
