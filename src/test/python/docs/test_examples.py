"""Every example of the README and the documentation does what it says."""

import os
from pathlib import Path

import pytest
from examples import Reader, blocks, pattern

ROOT = Path(__file__).resolve().parents[4]
DOCUMENTS = sorted(
    [
        ROOT / "README.md",
        ROOT / "sdk/python/README.md",
        *(path for path in (ROOT / "docs").rglob("*.md") if "decisions" not in path.parts),
    ]
)
WITH_EXAMPLES = [path for path in DOCUMENTS if blocks(path.read_text(encoding="utf-8"))]


@pytest.mark.skipif("ROOST_TEST_URL" not in os.environ, reason="no server")
@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=[str(path.relative_to(ROOT)) for path in WITH_EXAMPLES])
def test_the_examples_of(path: Path, tmp_path: Path) -> None:
    url, key = os.environ["ROOST_TEST_URL"], os.environ["ROOST_TEST_API_KEY"]
    with Reader(str(path.relative_to(ROOT)), tmp_path, url, key) as reader:
        for block in blocks(path.read_text(encoding="utf-8")):
            reader.read(block)
    print(f"{len(reader.ran)} examples ran", *(f"not run: {left}" for left in reader.left), sep="\n  ")


def test_an_output_is_compared_but_for_what_differs_each_time() -> None:
    expected = '{"id":"exec_01m7zs7ad…", … "state":"succeeded",\n "running":0.408683}'
    assert pattern(expected).search('{"id":"exec_01aaaaaaaaaaaaaaaaaaaaaaaa","x":1,"state":"succeeded", "running":0.1234}')
    assert not pattern(expected).search('{"id":"exec_01aaaaaaaaaaaaaaaaaaaaaaaa","state":"failed","running":0.1234}')
    assert not pattern("Hello Ada!").search("Hello Bo!")


def test_a_block_knows_its_hints_and_its_output() -> None:
    found = blocks("<!-- example: status 2 -->\n```sh\nfalse\n```\n\n```\nout\n```\n\nText\n\n```\nan illustration\n```\n")
    assert [(block.language, block.hint("status"), block.output) for block in found] == [("sh", "2", "out")]
