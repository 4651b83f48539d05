"""The cases under src/test/resources/contract: does a script and its work make these frames?"""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from executor import CONTRACT, Executor

TIME = "2026-01-01T00:00:00.000000Z"
WITHOUT_VERSIONS = ("syntax_error", "bad_signature")


def normalised(frames: "list[dict[str, Any]]") -> "list[dict[str, Any]]":
    """The frames without what differs from run to run; see the README beside the cases."""
    result: list[dict[str, Any]] = []
    for frame in json.loads(json.dumps(frames)):
        for part in [frame, *frame.get("entries", ())]:
            if "time" in part:
                part["time"] = TIME
        if "usage" in frame:
            assert frame["usage"]["cpu_seconds"] >= 0 and frame["usage"]["max_memory_bytes"] > 0
            frame["usage"] = {"cpu_seconds": 0.0, "max_memory_bytes": 0}
        if frame.get("error") and frame["reason"] not in WITHOUT_VERSIONS:
            frame["error"]["column"] = None
        if frame["type"] == "log" and result and result[-1]["type"] == "log":
            result[-1]["entries"] += frame["entries"]
        else:
            result.append(frame)
        frame["seq"] = len(result)
    return result


@pytest.mark.parametrize("preload", ["off", "auto"])
@pytest.mark.parametrize("case", sorted(p for p in CONTRACT.iterdir() if p.is_dir()), ids=lambda case: case.name)
def test_a_script_makes_these_frames(executor: Executor, case: Path, preload: str) -> None:
    script = (case / "script.py").read_text()
    work = json.loads((case / "work.json").read_text())
    work["agent"] = {**work.get("agent", {}), "script": script}
    if preload == "auto":
        work["agent"]["preload"] = {"modules": ["decimal", "email.message", "asyncio", "absent"]}
        executor.run("", **work)
        executor.plane.wait_for(lambda: executor.plane.preloaded)  # of the absent one; the template is there
        executor.plane.job.steps.clear()
    name = executor.submit("", **{**work, "execution_id": "exec_contract"})
    frames = normalised(executor.finished(name).frames)
    path = case / "frames.ndjson"
    if os.environ.get("ROOST_WRITE_CONTRACT") and preload == "off":
        path.write_text("".join(json.dumps(frame) + "\n" for frame in frames))
    expected = [json.loads(line) for line in path.read_text().splitlines()]
    assert frames == expected
