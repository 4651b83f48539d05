"""Files that a local run reads and makes."""

from __future__ import annotations

from pathlib import Path

from roost._run.local_run import Job, LocalRun
from roost._run.stores import Stores

WAIT_SECONDS = 60
SCRIPT = """
def main(request):
    data = request.files["data"].read_bytes()
    request.artifact(data[::-1], name="reversed.bin")
    request.artifact(b"", name="empty")
    request.artifact(b"one", name="same")
    request.artifact(b"two", name="same")
    return [request.files["data"].name, sorted(request.files)]
"""


def test_a_script_reads_files_and_makes_some(
    environment: Path, stores: Stores, tmp_path: Path
) -> None:
    data = bytes(range(256)) * (5 * 1024 * 4) + b"end"
    path = tmp_path / "data.bin"
    path.write_bytes(data)
    made: list[Path] = []
    directory = tmp_path / "new" / "artifacts"
    job = Job(SCRIPT, files={"data": path})
    with LocalRun(
        job, environment, stores, artifacts=directory, on_artifact=made.append
    ) as running:
        execution = running.wait(WAIT_SECONDS)
    assert execution is not None, "it didn't end"
    assert execution.outcome.return_value == '["data.bin", ["data"]]', execution.outcome
    assert [each.name for each in made] == ["reversed.bin", "empty", "same", "same"]
    assert (directory / "reversed.bin").read_bytes() == data[::-1]
    assert (directory / "same").read_bytes() == b"two"
    assert sorted(each.name for each in directory.iterdir()) == ["empty", "reversed.bin", "same"]


def test_an_artifact_chooses_no_directory(
    environment: Path, stores: Stores, tmp_path: Path
) -> None:
    script = (
        "def main(request):\n"
        "    try:\n"
        "        request.artifact(b'x', name='../x')\n"
        "    except request.FileError as error:\n"
        "        return str(error)\n"
    )
    directory = tmp_path / "artifacts"
    with LocalRun(Job(script), environment, stores, artifacts=directory) as running:
        execution = running.wait(WAIT_SECONDS)
    assert execution is not None, "it didn't end"
    assert "isn't a name" in (execution.outcome.return_value or ""), execution.outcome
    assert not (tmp_path / "x").exists()
