"""Deleting images: with the real crane and a registry in this process."""

import base64
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import registry as registries
from registry import MANIFEST, Registry
from roost_builder.command import parse_delete
from roost_builder.failures import BuildFailed
from roost_builder.removal import delete

BUILDER = Path(__file__).resolve().parents[4] / "src" / "main" / "python" / "roost_builder"
needs_crane = pytest.mark.skipif(shutil.which("crane") is None, reason="there is no crane")


@pytest.fixture()
def registry() -> "Iterator[Registry]":
    with registries.serving() as served:
        yield served


def pushed(registry: Registry, tag: str, repository: str = "agents/images") -> str:
    """An image with that tag, by digest; its content is the tag."""
    content = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST, "layers": [], "annotations": {"x": tag}})
    digest = registry.add_manifest(repository, tag, MANIFEST, content.encode())
    return f"{registry.address}/{repository}@{digest}"


def deleted(image: str, *more: str) -> "dict[str, Any]":
    return delete(parse_delete([f"--image={image}", "--insecure", *more]))


@needs_crane
def test_an_image_goes_with_its_tag_and_others_stay(registry: Registry) -> None:
    image = pushed(registry, "key1")
    other = pushed(registry, "key2")
    elsewhere = pushed(registry, "key1", "others/images")
    assert deleted(image) == {"found": "image"}
    left = {name for name in registry.manifests if not name.endswith("/key1")}
    assert left == {name.partition("/")[2].replace("@", "/") for name in (other, elsewhere)} | {"agents/images/key2"}
    assert "agents/images/key1" not in registry.manifests
    assert "others/images/key1" in registry.manifests


@needs_crane
def test_an_image_that_is_gone_is_no_failure(registry: Registry) -> None:
    image = pushed(registry, "key1")
    deleted(image)
    again = deleted(image)
    assert again["found"] == "missing"
    assert "MANIFEST_UNKNOWN" in again["message"]


@needs_crane
def test_a_registry_that_deletes_nothing_is_no_failure_and_is_reported(registry: Registry) -> None:
    image = pushed(registry, "key1")
    registry.keeps_all = True
    kept = deleted(image)
    assert kept["found"] == "unsupported"
    assert "UNSUPPORTED" in kept["message"]
    assert "agents/images/key1" in registry.manifests


@needs_crane
def test_a_refusal_is_a_failure(registry: Registry) -> None:
    image = pushed(registry, "key1")
    registry.read_only = True
    with pytest.raises(BuildFailed) as caught:
        deleted(image)
    assert caught.value.reason == "registry_unreachable"
    assert image in caught.value.message
    assert "check its credentials" in caught.value.message


@needs_crane
def test_the_command_prints_its_result_and_no_credentials(registry: Registry, tmp_path: Path) -> None:
    image = pushed(registry, "key1")
    registry.login = "pusher:opensesame-42"
    login = base64.b64encode(registry.login.encode()).decode()
    (tmp_path / "config.json").write_text(json.dumps({"auths": {registry.address: {"auth": login}}}))
    command = [sys.executable, "-I", "-B", str(BUILDER), "delete", f"--image={image}", "--insecure"]
    known = {**os.environ, "DOCKER_CONFIG": str(tmp_path)}
    ran = subprocess.run(command, env=known, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
    assert json.loads(ran.stdout.splitlines()[-1]) == {"outcome": "succeeded", "found": "image"}
    registry.login = "pusher:another"
    refused = subprocess.run(command, env=known, capture_output=True, text=True, check=False)
    assert refused.returncode == 1
    assert json.loads(refused.stdout.splitlines()[-1])["reason"] == "registry_unreachable"
    for text in (ran.stdout, ran.stderr, refused.stdout, refused.stderr):
        assert "opensesame" not in text
        assert login not in text
