"""Pushing a layer: with the real crane and a registry in this process, and with a crane that fails on request."""

import base64
import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import registry as registries
from registry import Registry
from roost_builder import crane as crane_module
from roost_builder.command import parse_push, parse_resolve
from roost_builder.crane import Crane, CraneFailed
from roost_builder.failures import BuildFailed
from roost_builder.push import look_up, push

BUILDER = Path(__file__).resolve().parents[4] / "src" / "main" / "python" / "roost_builder"
PACKAGES = [{"name": "idna", "version": "3.10", "sha256": "9" * 64, "size_bytes": 8}]
needs_crane = pytest.mark.skipif(shutil.which("crane") is None, reason="there is no crane")


@pytest.fixture()
def registry() -> "Iterator[Registry]":
    with registries.serving() as served:
        yield served


@pytest.fixture()
def layer(tmp_path: Path) -> Path:
    directory = tmp_path / "layer"
    directory.mkdir()
    (directory / "result.json").write_text(
        json.dumps({"outcome": "succeeded", "packages": PACKAGES, "size_bytes": 12, "image": "forged"})
    )
    with tarfile.open(directory / "layer.tar", "w") as tar:
        entry = tarfile.TarInfo("opt/roost/env/hello")
        entry.size = 5
        tar.addfile(entry, io.BytesIO(b"hello"))
    return directory


def arguments(registry: Registry, layer: Path, **changed: str) -> "list[str]":
    options = {
        "base": f"{registry.address}/python:3.13-slim",
        "repository": f"{registry.address}/agents/images",
        "pull-repository": "registry.example/agents/images",
        "key": "key1",
        "platform": "linux/amd64",
        "layer": str(layer),
        **changed,
    }
    return [f"--{name}={value}" for name, value in options.items()] + ["--insecure"]


def pushed(registry: Registry, layer: Path, **changed: str) -> "dict[str, Any]":
    return push(parse_push(arguments(registry, layer, **changed)))


def failure(registry: Registry, layer: Path, **changed: str) -> BuildFailed:
    with pytest.raises(BuildFailed) as caught:
        pushed(registry, layer, **changed)
    return caught.value


@needs_crane
def test_the_layer_is_on_top_of_the_base_for_the_platform(registry: Registry, layer: Path) -> None:
    base = registry.add_base("python", "3.13-slim")
    result = pushed(registry, layer)
    manifest = registry.manifest(f"{registry.address}/agents/images:key1")
    below, added = manifest["layers"]
    assert gzip.decompress(registry.blobs[below["digest"]]) == b"amd64"
    assert gzip.decompress(registry.blobs[added["digest"]]) == (layer / "layer.tar").read_bytes()
    content = registry.manifests["agents/images/key1"][1]
    assert result == {
        "image": "registry.example/agents/images@sha256:" + hashlib.sha256(content).hexdigest(),
        "layer": added["digest"],
        "base": f"{registry.address}/python:3.13-slim@{base}",
        "packages": PACKAGES,
        "size_bytes": 12,
    }
    configuration = json.loads(registry.blobs[manifest["config"]["digest"]])
    assert configuration["config"] == {"Cmd": ["python3"]}


@needs_crane
def test_the_same_layer_again_has_the_same_digests(registry: Registry, layer: Path) -> None:
    registry.add_base("python", "3.13-slim")
    first, second = pushed(registry, layer), pushed(registry, layer, key="key2")
    assert (first["image"], first["layer"]) == (second["image"], second["layer"])


@needs_crane
def test_without_a_layer_the_image_is_the_base_by_digest(registry: Registry, layer: Path) -> None:
    base = registry.add_base("python", "3.13-slim")
    (layer / "layer.tar").unlink()
    result = pushed(registry, layer)
    assert result["image"] == result["base"] == f"{registry.address}/python:3.13-slim@{base}"
    assert result["layer"] is None
    assert not [name for name in registry.manifests if name.startswith("agents")]
    again = pushed(registry, layer, base=result["base"])
    assert again["base"] == result["base"]


@needs_crane
def test_a_base_image_that_is_not_there_is_named(registry: Registry, layer: Path) -> None:
    failed = failure(registry, layer)
    assert failed.reason == "python_version_unavailable"
    assert f"{registry.address}/python:3.13-slim" in failed.message


@needs_crane
def test_a_base_image_for_other_platforms_is_not_there(registry: Registry, layer: Path) -> None:
    registry.add_base("python", "3.13-slim", ("arm64",))
    assert failure(registry, layer).reason == "python_version_unavailable"


@needs_crane
def test_the_credentials_of_docker_config_are_used_and_never_printed(
    registry: Registry, layer: Path, tmp_path: Path
) -> None:
    registry.add_base("python", "3.13-slim")
    registry.login = "pusher:opensesame-42"
    login = base64.b64encode(registry.login.encode()).decode()
    (tmp_path / "config.json").write_text(json.dumps({"auths": {registry.address: {"auth": login}}}))
    command = [sys.executable, "-I", "-B", str(BUILDER), "push", *arguments(registry, layer)]
    known = {**os.environ, "DOCKER_CONFIG": str(tmp_path)}
    ran = subprocess.run(command, env=known, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
    assert json.loads(ran.stdout.splitlines()[-1])["outcome"] == "succeeded"
    registry.login = "pusher:another"
    refused = subprocess.run(command, env=known, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert json.loads(refused.stdout.splitlines()[-1])["reason"] == "registry_unreachable"
    for text in (ran.stdout, ran.stderr, refused.stdout, refused.stderr):
        assert "opensesame" not in text
        assert login not in text


@needs_crane
def test_a_registry_that_refuses_the_push_says_so(registry: Registry, layer: Path) -> None:
    registry.add_base("python", "3.13-slim")
    registry.read_only = True
    failed = failure(registry, layer)
    assert failed.reason == "registry_unreachable"
    assert f"{registry.address}/agents/images:key1" in failed.message
    assert "check its credentials" in failed.message


@needs_crane
def test_a_registry_out_of_reach_is_tried_again(
    registry: Registry, layer: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    registry.add_base("python", "3.13-slim")
    monkeypatch.setattr(crane_module, "PAUSES_SECONDS", (0.0, 0.0))
    assert failure(registry, layer, repository="127.0.0.1:9/images").reason == "registry_unreachable"
    assert capsys.readouterr().out.count("trying again in 0 s") == 2


@needs_crane
@pytest.mark.parametrize("name", ["layer.tar", "result.json"])
def test_a_link_that_a_build_has_left_is_not_followed(registry: Registry, layer: Path, name: str) -> None:
    registry.add_base("python", "3.13-slim")
    (layer / name).rename(layer / "secret")
    (layer / name).symlink_to(layer / "secret")
    failed = failure(registry, layer)
    assert failed.reason == "runtime_unavailable"
    assert name in failed.message
    assert not [each for each in registry.manifests if each.startswith("agents")]


def test_without_a_result_nothing_is_pushed(registry: Registry, layer: Path) -> None:
    for content in ("", "[]", '{"packages": [{"name": "x"}], "size_bytes": 1}'):
        (layer / "result.json").write_text(content)
        assert failure(registry, layer, crane="/bin/false").reason == "runtime_unavailable"


def fake(directory: Path, script: str) -> Crane:
    """A crane that does what a script says."""
    file = directory / "crane"
    file.write_text("#!/bin/sh\n" + script)
    file.chmod(0o755)
    return Crane(str(file), "linux/amd64", False, os.environ)


def test_a_transient_error_is_retried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(crane_module, "PAUSES_SECONDS", (0.0, 0.0))
    script = f"""
    echo x >> {tmp_path}/tries
    [ $(wc -l < {tmp_path}/tries) = 3 ] && echo "2026/01/01 10:00:00 pushed blob: 1" >&2 && echo sha256:1 && exit
    echo "Error: GET https://user:secret@registry/v2/: unexpected status code 503 Service Unavailable" >&2; exit 1
    """
    assert fake(tmp_path, script).digest("image") == "sha256:1"
    output = capsys.readouterr().out
    assert output.endswith("pushed blob: 1\n")
    assert "secret" not in output


@pytest.mark.parametrize("said", ["GET https://r/v2/: UNAUTHORIZED: authentication required", "MANIFEST_UNKNOWN: x"])
def test_a_lasting_error_is_reported_at_once(tmp_path: Path, said: str) -> None:
    with pytest.raises(CraneFailed) as caught:
        fake(tmp_path, f"echo x >> {tmp_path}/tries; echo 'Error: {said}' >&2; exit 1").digest("image")
    assert caught.value.message == said
    assert (tmp_path / "tries").read_text() == "x\n"


def test_a_push_that_takes_too_long_is_ended(registry: Registry, layer: Path, tmp_path: Path) -> None:
    fake(tmp_path, "exec sleep 100")
    options = [*arguments(registry, layer, crane=str(tmp_path / "crane")), "--timeout=0.2"]
    ran = subprocess.run(
        [sys.executable, "-I", "-B", str(BUILDER), "push", *options], capture_output=True, text=True, timeout=30,
        check=False,
    )  # fmt: skip
    assert ran.returncode == 1
    assert json.loads(ran.stdout)["reason"] == "deadline_exceeded"


@needs_crane
def test_the_digest_of_a_tag_is_looked_up(registry: Registry) -> None:
    digest = registry.add_base("python", "3.13-slim")
    base = f"{registry.address}/python:3.13-slim"
    assert look_up(parse_resolve([f"--base={base}", "--platform=linux/amd64", "--insecure"])) == {"digest": digest}
    with pytest.raises(BuildFailed) as failed:
        look_up(parse_resolve([f"--base={base}-gone", "--platform=linux/amd64", "--insecure"]))
    assert failed.value.reason == "python_version_unavailable"
