"""Bundles: the files of projects."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import httpx
import pytest
from bundle_server import PART, BundleServer
from support import KEY, URL, FakeClock, agent, aio_client, problem

import roost


@pytest.fixture
def plane() -> BundleServer:
    return BundleServer()


@pytest.fixture
def client(plane: BundleServer) -> roost.Client:
    def handle(request: httpx.Request) -> httpx.Response:
        return plane.handle(request) or problem(404, "not_found")

    client = roost.Client(KEY, URL, http_client=httpx.Client(transport=httpx.MockTransport(handle)))
    client._transport.clock = FakeClock()
    return client


@pytest.fixture
def project(tmp_path: Path) -> Path:
    directory = tmp_path / "project"
    write(directory, {"main.py": "import pkg\n", "pkg/__init__.py": "", "data/a.txt": "aaa"})
    return directory


def write(directory: Path, files: dict[str, str | bytes]) -> None:
    for path, content in files.items():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)


def test_a_directory_is_sent_and_read_again(
    client: roost.Client, plane: BundleServer, project: Path
) -> None:
    (project / "main.py").chmod(0o755)
    bundle = roost.Bundle.upload(project, client=client)
    assert (bundle.id, bundle.files, bundle.size_bytes, bundle.packs) == ("bundle_1", 3, 14, 1)
    assert plane.files == {"file_1": b"aaaimport pkg\n"}
    assert plane.created[0]["base"] is None
    assert plane.created[0]["removed"] == []
    files = {file.path: file for file in bundle.manifest()}
    assert list(files) == ["data/a.txt", "main.py", "pkg/__init__.py"]
    assert files["main.py"].executable
    assert not files["data/a.txt"].executable
    assert isinstance(files["main.py"], roost.BundleFile)
    assert bundle.read("data/a.txt") == b"aaa"
    assert bundle.read("pkg/__init__.py") == b""
    with pytest.raises(roost.NotFound):
        bundle.read("nothing")
    assert roost.Bundle.retrieve("bundle_1", client=client).sha256 == bundle.sha256


def test_only_what_the_base_does_not_have_is_sent(
    client: roost.Client, plane: BundleServer, project: Path
) -> None:
    first = client.bundles.upload(project)
    assert client.bundles.upload(project, base=first) == first
    assert len(plane.created) == 1
    assert len(plane.files) == 1
    write(project, {"main.py": "new\n", "copy.py": "new\n", "pkg/empty": ""})
    (project / "data/a.txt").rename(project / "moved.txt")
    sent: list[tuple[int, int]] = []
    second = client.bundles.upload(
        project, base=first.id, on_progress=lambda done, of: sent.append((done, of))
    )
    assert plane.files["file_2"] == b"new\n"
    created = plane.created[1]
    assert created["base"] == "bundle_1"
    assert created["removed"] == ["data/a.txt"]
    assert [each["path"] for each in created["files"]] == [
        *("copy.py", "main.py", "moved.txt", "pkg/empty")
    ]
    assert second.packs == 2
    assert second.read("moved.txt") == b"aaa"
    assert sent[0] == (0, 4)
    assert sent[-1] == (4, 4)
    (project / "main.py").chmod(0o755)
    third = client.bundles.upload(project, base=second)
    assert plane.created[2]["pack"] is None
    assert len(plane.files) == 2
    assert third.sha256 != second.sha256


def test_a_base_with_many_packs_or_much_of_no_use_is_not_referred_to(
    client: roost.Client, plane: BundleServer, project: Path
) -> None:
    base = client.bundles.upload(project)
    write(project, {"data/b.txt": "b"})
    view = plane.bundles["bundle_1"]["view"]
    for change in ({"packs": 16}, {"stored_bytes": 29}):
        plane.bundles["bundle_1"]["view"] = {**view, **change}
        client.bundles.upload(project, base=base)
        assert plane.created[-1]["base"] is None
        assert list(plane.files.values())[-1] == b"aaabimport pkg\n"
    plane.bundles["bundle_1"]["view"] = {**view, "packs": 15, "stored_bytes": 28}
    client.bundles.upload(project, base=base)
    assert plane.created[-1]["base"] == "bundle_1"


def test_a_base_that_has_been_deleted_is_none(
    client: roost.Client, plane: BundleServer, project: Path
) -> None:
    assert client.bundles.upload(project, base="bundle_9").id == "bundle_1"
    before = plane.bundles["bundle_1"]
    write(project, {"main.py": "new"})

    def manifest(_: str) -> Any:
        del plane.bundles["bundle_1"]
        return list(before["files"].values())

    plane.entries = manifest  # type: ignore[method-assign,assignment]
    client.bundles.upload(project, base="bundle_1")
    assert [each["base"] for each in plane.created] == [None, "bundle_1", None]


def test_only_some_paths(client: roost.Client, project: Path) -> None:
    bundle = client.bundles.upload(project, paths=["main.py", "pkg/__init__.py"])
    assert [file.path for file in bundle.manifest()] == ["main.py", "pkg/__init__.py"]
    with pytest.raises(ValueError, match=r"no file other\.py"):
        client.bundles.upload(project, paths=["other.py"])


def test_a_file_that_changes_meanwhile_is_an_error(
    client: roost.Client, plane: BundleServer, project: Path
) -> None:
    def change(_: int, __: int) -> None:
        (project / "main.py").write_text("import xyz\n")

    with pytest.raises(ValueError, match=r"main\.py was changed while it was sent"):
        client.bundles.upload(project, on_progress=change)
    assert plane.created == []


def test_large_files_are_never_in_memory_as_a_whole(
    client: roost.Client, plane: BundleServer, project: Path
) -> None:
    write(project, {"large": os.urandom(5 * PART + 3), "small": b"x"})
    plane_part = plane._file

    def keep_nothing(request: httpx.Request, parts: list[str]) -> httpx.Response:
        if len(parts) > 2 and parts[2] == "parts":
            sizes.append(len(request.content))
            return httpx.Response(200, json={"id": parts[1]})
        if len(parts) > 2:
            return httpx.Response(200, json={"id": parts[1]})
        return plane_part(request, parts)

    sizes: list[int] = []
    plane._file = keep_nothing  # type: ignore[method-assign]
    plane._create = lambda body: httpx.Response(201, json={"id": "bundle_1"})  # type: ignore[method-assign]
    tracemalloc.start()
    client.bundles.upload(project)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sizes == [PART] * 5 + [3 + 1 + 14]
    assert peak < 4 * PART


def test_agents_get_a_bundle_or_its_id(server: Any) -> None:
    view = agent(bundle_id="bundle_1", script_path="main.py")
    server.on("POST", "/agents", view)
    bundle = roost.Bundle(server.client, {"id": "bundle_1"})
    created = server.client.agents.create(bundle=bundle, script_path="main.py", name="a")
    assert (created.bundle_id, created.script_path) == ("bundle_1", "main.py")
    sent = json.loads(server.sent("POST", "/agents")[0].content)
    assert sent == {"bundle_id": "bundle_1", "script_path": "main.py", "name": "a"}
    server.on("PATCH", "/agents/agent_1", view, agent(bundle_id=None, script_path=None))
    created.update(bundle="bundle_2")
    created.update(bundle=None, script="def main(): pass")
    assert created.bundle_id is None
    bodies = [json.loads(each.content) for each in server.sent("PATCH", "/agents/agent_1")]
    assert bodies == [{"bundle_id": "bundle_2"}, {"bundle_id": None, "script": "def main(): pass"}]
    with pytest.raises(TypeError, match="a bundle and a script_path"):
        server.client.agents.create(name="a")


@pytest.mark.anyio
async def test_asynchronously(plane: BundleServer, project: Path) -> None:
    client = aio_client(
        lambda request: plane.handle(request) or problem(404, "not_found"), FakeClock()
    )
    bundle = await client.bundles.upload(project)
    assert await bundle.read("data/a.txt") == b"aaa"
    assert await client.bundles.upload(project, base=bundle) == bundle
