"""Files that scripts read and make."""

import os

from executor import Executor, Result
from file_plane import PART_BYTES

LARGE = os.urandom(2 * PART_BYTES + 12_345)


def run(executor: Executor, script: str) -> Result:
    return executor.run(script, files=executor.plane.files.work())


def test_a_script_reads_files_by_their_names(executor: Executor) -> None:
    executor.plane.files.inputs = {"large": LARGE, "small": b"a,b\n", "empty": b"", "whole": bytes(PART_BYTES)}
    end = run(
        executor,
        """
        import hashlib

        def main(request):
            files = request.files
            large = files["large"]
            assert files["large"] is large and large.name == "large.bin"
            assert files.get("missing") is None and "small" in files
            try:
                files["missing"]
            except KeyError:
                pass
            assert len(files["whole"].read_bytes()) == 4 * 1024 * 1024
            with open(files["small"]) as file:
                text = file.read()
            return [hashlib.sha256(large.read_bytes()).hexdigest(), text, files["empty"].read_bytes().hex(), list(files)]
        """,
    )
    import hashlib

    assert end.value == [hashlib.sha256(LARGE).hexdigest(), "a,b\n", "", ["large", "small", "empty", "whole"]]
    reads = executor.plane.files.reads
    assert reads == [("large", 0), ("large", 1), ("large", 2), ("whole", 0), ("small", 0)], "each part once"


def test_a_file_that_is_not_asked_for_is_not_fetched(executor: Executor) -> None:
    executor.plane.files.inputs = {"large": LARGE}
    assert run(executor, "def main(request):\n    return len(request.files)").value == 1
    assert executor.plane.files.reads == []


def test_artifacts_are_paths_or_bytes(executor: Executor) -> None:
    executor.plane.files.inputs = {"large": LARGE}
    end = run(
        executor,
        """
        import pathlib

        def main(request):
            pathlib.Path("table.csv").write_text("a\\n1\\n")
            return [
                request.artifact("table.csv"),
                request.artifact(pathlib.Path("table.csv"), name="other.txt", type="text/x-other"),
                request.artifact(request.files["large"], name="copy"),
                request.artifact(b"", name="empty.json"),
                request.artifact(bytearray(b"{}"), name="empty.json"),
                request.artifact(b"", name="table.csv.gz"),
                request.artifact(b"", name="table.parquet"),
            ]
        """,
    )
    assert end.value == [f"file_{number:026}" for number in range(1, 8)]
    assert executor.plane.files.artifacts == {
        "table.csv": (b"a\n1\n", "text/csv"),
        "other.txt": (b"a\n1\n", "text/x-other"),
        "copy": (LARGE, "application/octet-stream"),
        "empty.json": (b"{}", "application/json"),
        "table.csv.gz": (b"", "application/octet-stream"),
        "table.parquet": (b"", "application/vnd.apache.parquet"),
    }


def test_mistakes_are_told_from_failures(executor: Executor) -> None:
    end = executor.run(
        """
        def main(request):
            errors = []
            for content, options in [
                (b"x", {}),
                (7, {"name": "n"}),
                ("missing.txt", {}),
                (b"x", {"name": "a/b"}),
            ]:
                try:
                    request.artifact(content, **options)
                except (TypeError, OSError, request.FileError) as error:
                    errors.append(f"{type(error).__name__}: {error}")
            return errors
        """
    )
    assert end.value == [
        "TypeError: an artifact that is bytes needs a name",
        "TypeError: an artifact is a path or bytes, not int",
        "FileNotFoundError: [Errno 2] No such file or directory: 'missing.txt'",
        "FileError: name must have no slashes.",
    ]


def test_parts_are_sent_again_when_the_control_plane_does_not_answer(executor: Executor) -> None:
    failures = iter([(503, {"code": "unavailable"})] * 2)
    executor.plane.fault = lambda what: next(failures, None) if what == "files" else None
    end = executor.run(
        """
        def main(request):
            return request.artifact(b"x", name="n")
        """
    )
    assert end.value == f"file_{1:026}"
    assert executor.plane.files.artifacts["n"][0] == b"x"
