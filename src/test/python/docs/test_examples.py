"""Every example of the README and the documentation does what it says.

The server of ROOST_TEST_URL should be there for tests alone: what has come to it while a document was read is deleted.
"""

import json
import os
import shutil
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from document import blocks, commands
from examples import Reader
from outputs import shows

ROOT = Path(__file__).resolve().parents[4]
DOCUMENTS = sorted([ROOT / "README.md", ROOT / "sdk/python/README.md", *(ROOT / "docs").rglob("*.md")])
WITH_EXAMPLES = [
    path
    for path in DOCUMENTS
    if any(block.language in ("sh", "console", "python") for block in blocks(path.read_text(encoding="utf-8")))
]
KINDS = ["schedules", "webhooks", "agents", "datastore", "keys"]


def call(method: str, path: str) -> dict:
    """What the server answers; {} for nothing."""
    headers = {"Authorization": f"Bearer {os.environ['ROOST_TEST_API_KEY']}"}
    request = urllib.request.Request(f"{os.environ['ROOST_TEST_URL']}/v1/{path}", method=method, headers=headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or b"{}")


def everything() -> "list[str]":
    """The paths of all that documents make; the newest 200 of each kind, which is more than a document makes."""
    return [f"{kind}/{one['id']}" for kind in KINDS for one in call("GET", f"{kind}?limit=200")["data"]]


@pytest.fixture
def tidy() -> "Iterator[None]":
    """Leaves the server as it was, so that no document depends on another."""
    before = set(everything())
    yield
    for path in everything():
        if path not in before:
            call("DELETE", f"{path}?force=true" if path.startswith("datastore/") else path)


@pytest.mark.skipif("ROOST_TEST_URL" not in os.environ, reason="no server")
@pytest.mark.skipif(shutil.which("jq") is None, reason="no jq on the PATH, which examples use")
@pytest.mark.usefixtures("tidy")
@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=[str(path.relative_to(ROOT)) for path in WITH_EXAMPLES])
def test_the_examples_of(path: Path, tmp_path: Path) -> None:
    url, key = os.environ["ROOST_TEST_URL"], os.environ["ROOST_TEST_API_KEY"]
    found = blocks(path.read_text(encoding="utf-8"))
    if shutil.which("jq") is None and any("| jq" in block.text or "jq -" in block.text for block in found):
        pytest.skip("no jq on the PATH")
    failures = []
    with Reader(str(path.relative_to(ROOT)), tmp_path, url, key) as reader:
        for block in found:
            try:
                reader.read(block)
            except AssertionError as failure:
                failures.append(str(failure))
    assert not failures, "\n\n".join(failures)
    print(f"{len(reader.ran)} examples ran", *(f"not run: {left}" for left in reader.left), sep="\n  ")


def test_an_output_is_compared_but_for_what_differs_each_time() -> None:
    expected = '{"id":"exec_01m7zs7ad…", … "state":"succeeded",\n "running":0.408683}'
    assert shows(expected, '{"id" : "exec_01aaaaaaaaaaaaaaaaaaaaaaaa","x":1,"state":"succeeded", "running":0.1234}')
    assert not shows(expected, '{"id":"exec_01aaaaaaaaaaaaaaaaaaaaaaaa","state":"failed","running":0.1234}')
    assert not shows(expected, '{"id":"xjob_01aaaaaaaaaaaaaaaaaaaaaaaa","state":"succeeded","running":0.1234}')
    assert not shows("Hello Ada!", "Hello Bo!")


def test_a_block_knows_its_hints_and_its_output() -> None:
    found = blocks(
        "<!-- example: status 2 -->\n```sh\nfalse\n```\n\n```\nout\n```\n\nText\n\n```\nan illustration\n```\n"
    )
    assert [(block.language, block.hint("status"), block.output) for block in found] == [("sh", "2", "out")]


def test_a_block_may_be_a_file() -> None:
    found = blocks(
        "Save it as `a.py`:\n\n```python\nx\n```\n\n```text\n# b/c.txt: or so\n```\n\n```python\n# no file\n```\n"
    )
    assert [block.file for block in found] == ["a.py", "b/c.txt", None]


def test_a_console_shows_what_is_typed_and_what_follows() -> None:
    assert commands("$ roost a\nx\ny\n$ roost b") == [("roost a", "x\ny\n"), ("roost b", "")]
