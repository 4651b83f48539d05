"""The contract's cases without a server: do a script and its work make this Execution?

The expectations are those of the Java tests (src/test/resources/contract).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from roost._run.local_run import Execution, Job, LocalRun
from roost._run.stores import Stores

CONTRACT = Path(__file__).resolve().parents[4] / "src/test/resources/contract"
CASES = sorted(path for path in CONTRACT.iterdir() if path.is_dir())
TIME = "2026-01-01T00:00:00.000000Z"
# The column of other errors depends on the version of Python; see the README beside the cases.
WITH_COLUMN = ("syntax_error", "bad_signature")
WAIT_SECONDS = 180


def run(case: Path, environment: Path, stores: Stores) -> Execution:
    work = json.loads((case / "work.json").read_text(encoding="utf-8"))
    agent = work.pop("agent", {})
    job = Job(
        script=(case / "script.py").read_text(encoding="utf-8"),
        payload=work.pop("payload", None),
        env_vars=agent.get("env_vars", {}),
        stores=["main"],
        timeout=work.pop("timeout_seconds", 60.0),
        changes=work,
    )
    with LocalRun(job, environment, stores) as running:
        execution = running.wait(WAIT_SECONDS)
    assert execution is not None, "it didn't end"
    return execution


def normalised(execution: Execution) -> dict[str, Any]:
    """The Execution as `expected.json` has it, without what differs from run to run."""
    outcome = execution.outcome
    error = outcome.error
    if error is not None and outcome.reason not in WITH_COLUMN:
        error = {**error, "column": None}
    assert outcome.usage is not None
    assert outcome.usage["max_memory_bytes"] > 0
    return {
        "state": outcome.state,
        "reason": outcome.reason,
        "message": outcome.message,
        "error": error,
        "return_value": outcome.return_value,
        "entered": execution.entered_at and TIME,
        "finished_at": TIME,
        "cpu_seconds": 0.0,
        "max_memory_bytes": 0,
        "logs_truncated": outcome.logs_truncated,
        "log": [{**entry, "time": TIME} for entry in execution.log],
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_script_and_its_work_make_this_execution(
    case: Path, environment: Path, stores: Stores
) -> None:
    expected = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    assert normalised(run(case, environment, stores)) == expected


def test_the_document_has_the_exact_return_value(environment: Path, stores: Stores) -> None:
    case = CONTRACT / "numbers"
    expected = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    document = run(case, environment, stores).document(with_logs=True)
    assert f'"return_value": {expected["return_value"]}, ' in document
    assert json.loads(document)["state"] == "succeeded"
