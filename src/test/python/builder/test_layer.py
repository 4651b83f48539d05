"""Layers of images, made with a real uv from an index that asks for a password and has a certificate of its own."""

import hashlib
import json
import os
import shutil
import stat
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

import index
import pytest

BUILDER = Path(__file__).resolve().parents[4] / "src" / "main" / "python" / "roost_builder"
UV = os.environ.get("ROOST_TEST_UV") or shutil.which("uv")
BOTH = "sample-wheel==1.0\nsamplesource==1.0\n"

pytestmark = [
    pytest.mark.skipif(UV is None, reason="there is no uv"),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl to make certificates"),
]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[dict[str, str]]":
    with index.serving(tmp_path_factory.mktemp("index")) as environment:
        yield environment


class Layer:
    """One run of the builder; ``prefix`` is the same for all runs of a test, as it is in all containers."""

    def __init__(
        self, directory: Path, prefix: Path, requirements: str, served: "dict[str, str]", **variables: Optional[str]
    ) -> None:
        directory.mkdir(parents=True)
        environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("PIP_", "UV_", "SSL_")) and not key.endswith("_CA_BUNDLE")
        }
        changed = {**served, "REQUIREMENTS": requirements, **variables}
        environment.update({key: value for key, value in changed.items() if value is not None})
        for key in [key for key, value in changed.items() if value is None]:
            environment.pop(key, None)
        options = {
            "uv": UV, "directory": directory / "tmp", "requirements-variable": "REQUIREMENTS", "target": "layer",
            "prefix": prefix, "output": directory / "layer", "timeout": 60,
        }  # fmt: skip
        ended = subprocess.run(
            [sys.executable, "-I", "-B", str(BUILDER), *(f"--{name}={value}" for name, value in options.items())],
            env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            cwd=directory, timeout=120, check=False,
        )  # fmt: skip
        self.status = ended.returncode
        self.output = ended.stdout
        self.directory = directory / "layer"
        assert not (directory / "tmp").exists()

    def result(self) -> dict[str, Any]:
        assert self.status == 0, self.output
        return json.loads((self.directory / "result.json").read_text())

    def failure(self) -> dict[str, Any]:
        assert self.status == 1
        assert not (self.directory / "result.json").exists()
        return json.loads(self.output.splitlines()[-1])

    def tar(self) -> bytes:
        return (self.directory / "layer.tar").read_bytes()


def test_two_builds_at_different_times_and_places_make_the_same_bytes(tmp_path: Path, served: "dict[str, str]") -> None:
    prefix = tmp_path / "opt/roost/env"
    first = Layer(tmp_path / "first", prefix, BOTH, served, PYTHONHASHSEED="1", TZ="Asia/Tokyo", USER="one")
    shutil.rmtree(prefix)
    mask = os.umask(0o077)
    try:
        elsewhere = tmp_path / "second" / "further" / "away"
        turned = "\n".join(reversed(BOTH.splitlines()))
        second = Layer(elsewhere, prefix, turned, served, PYTHONHASHSEED="2", LANG="C", SOURCE_DATE_EPOCH="1700000000")
    finally:
        os.umask(mask)
    assert first.result() == second.result()
    assert hashlib.sha256(first.tar()).hexdigest() == hashlib.sha256(second.tar()).hexdigest()


def test_a_layer_holds_the_environment_and_nothing_of_the_machine(tmp_path: Path, served: "dict[str, str]") -> None:
    prefix = tmp_path / "opt/roost/env"
    layer = Layer(tmp_path / "build", prefix, BOTH, served)
    result = layer.result()
    assert result["outcome"] == "succeeded"
    assert [package["name"] for package in result["packages"]] == ["sample-wheel", "samplesource"]
    assert [package["sha256"] for package in result["packages"]] == [
        hashlib.sha256(index.FILES[name][1]).hexdigest() for name in ("sample-wheel", "samplesource")
    ]
    assert 0 < sum(package["size_bytes"] for package in result["packages"]) < result["size_bytes"]
    with tarfile.open(layer.directory / "layer.tar") as tar:
        entries = {"/" + entry.name: entry for entry in tar}
    top = Path("/", *prefix.parts[1:3])
    assert all(Path(name).is_relative_to(top) for name in entries)
    assert {(entry.uid, entry.gid, entry.uname, entry.gname, entry.mtime) for entry in entries.values()} == {
        (0, 0, "", "", 315_532_800)
    }
    assert {entry.mode for entry in entries.values()} <= {0o644, 0o755, 0o777}
    files = sum(entry.size for entry in entries.values() if entry.isreg())
    assert files <= result["size_bytes"] < files + 1000  # Links have a size too.
    names = {Path(name).name for name in entries}
    assert not names & {".lock", ".gitignore", "CACHEDIR.TAG", "uv_build.json", "uv_cache.json", "direct_url.json"}
    tag = sys.implementation.cache_tag
    assert {f"__init__.{tag}.pyc", f"samplesource.{tag}.pyc"} <= names
    assert f"python2.{tag}.pyc" not in names
    assert str(tmp_path / "build").encode() not in layer.tar()


def test_an_unpacked_layer_works_at_its_prefix(tmp_path: Path, served: "dict[str, str]") -> None:
    prefix = tmp_path / "opt/roost/env"
    layer = Layer(tmp_path / "build", prefix, BOTH, served)
    shutil.rmtree(prefix)
    subprocess.run(["tar", "-x", "--no-same-owner", "-C", "/", "-f", layer.directory / "layer.tar"], check=True)
    code = "import samplesource, sample_wheel; print(samplesource.KNOWN['epoch'], sample_wheel.__cached__)"
    ran = subprocess.run([prefix / "bin/python", "-I", "-v", "-c", code], capture_output=True, text=True, check=True)
    epoch, cached = ran.stdout.split()
    assert epoch == "315532800"
    assert f"code object from '{cached}'" in ran.stderr.replace('"', "'")
    assert Path(cached).read_bytes()[4:8] == b"\1\0\0\0"  # An unchecked hash, PEP 552.
    program = prefix / "bin/sample"
    assert program.read_text().startswith(f"#!{prefix}/bin/python")
    assert program.stat().st_mode & stat.S_IXOTH


def test_no_requirements_make_no_layer(tmp_path: Path, served: "dict[str, str]") -> None:
    layer = Layer(tmp_path / "build", tmp_path / "opt/roost/env", "", served)
    assert layer.result() == {"outcome": "succeeded", "packages": [], "size_bytes": 0}
    assert [file.name for file in layer.directory.iterdir()] == ["result.json"]


def test_credentials_are_nowhere(tmp_path: Path, served: "dict[str, str]") -> None:
    prefix = tmp_path / "opt/roost/env"
    layer = Layer(tmp_path / "build", prefix, BOTH, served)
    secrets = [index.PASSWORD, "reader", served["NETRC"]]
    for text in (layer.output, json.dumps(layer.result()), layer.tar().decode("latin-1")):
        assert not [secret for secret in secrets if secret in text]


def test_a_source_package_that_reveals_the_password_is_not_quoted_with_it(
    tmp_path: Path, served: "dict[str, str]"
) -> None:
    layer = Layer(tmp_path / "build", tmp_path / "opt/roost/env", "talkative==1.0", served)
    failure = layer.failure()
    assert failure["reason"] == "build_from_source_failed"
    assert "password ***" in failure["message"]
    assert index.PASSWORD not in layer.output


def test_failures_are_the_last_line_and_end_with_status_1(tmp_path: Path, served: "dict[str, str]") -> None:
    prefix = tmp_path / "opt/roost/env"
    unknown = Layer(tmp_path / "unknown", prefix / "1", "sample-wheel==2.0", served)
    assert unknown.failure()["reason"] == "requirement_not_found"
    refused = Layer(tmp_path / "refused", prefix / "2", BOTH, served, NETRC=None, HOME=str(tmp_path))
    assert refused.failure()["reason"] == "index_unreachable"
    untrusted = Layer(tmp_path / "untrusted", prefix / "3", BOTH, served, ROOST_CA_FILE=None)
    assert untrusted.failure()["reason"] == "index_unreachable"
    unreadable = Layer(tmp_path / "unreadable", prefix / "4", BOTH, served, ROOST_CA_FILE="/nowhere.crt")
    assert unreadable.failure()["reason"] == "runtime_unavailable"
