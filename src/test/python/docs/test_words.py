"""Texts that users read have the words of CONTRIBUTING.md: the documentation, and strings of the sources.

Only words whose other use is unlikely in these texts are searched for.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
PAGES = [ROOT / "README.md", ROOT / "sdk/python/README.md", ROOT / "bench/README.md", *(ROOT / "docs").rglob("*.md")]
SOURCES = {
    "java": [*(ROOT / "src/main/java").rglob("*.java")],
    "py": [*(ROOT / "src/main/python").rglob("*.py"), *(ROOT / "sdk/python/src").rglob("*.py")],
    "ts": [*(ROOT / "src/main/resources/web/app").rglob("*.ts")],
}
AVOIDED = re.compile(
    r"\b(mend(s|ed|ing)?|patience|to be had|ways home|lookout|complaints?|passing errors?|receipts?"
    r"|by the clock(?! of)|goes on without|told|ordered(?! by| map|=|\b: ))\b",
    re.IGNORECASE,
)
COMMENT_OR_STRING = re.compile(
    r"/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\\n])'|(\"\"\".*?\"\"\"|\"(?:\\.|[^\"\\\n])*\"|`(?:\\.|[^`\\])*`)", re.DOTALL
)


def avoided(text: str) -> "list[str]":
    """The words to avoid that the text has."""
    return [found[0] for found in AVOIDED.finditer(re.sub(r"\s+", " ", text))]


def strings(path: Path) -> "Iterator[str]":
    """The string literals of a source; single words are names, and left out."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        nodes = ast.walk(ast.parse(text))
        found = (node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str))
    else:
        found = (literal[1] for literal in COMMENT_OR_STRING.finditer(text) if literal[1])
    return (each for each in found if " " in each)


def test_words_are_found() -> None:
    assert avoided("A job is ordered\nby the clock. Entries ordered by key, map(ordered=False).") == ["by the clock"]
    assert avoided("the job was ordered; mend it, or be told") == ["ordered", "mend", "told"]


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_the_words_of_page(page: Path) -> None:
    assert not avoided(re.sub(r"\]\([^)]*\)", "]", page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("kind", SOURCES)
def test_the_words_of_strings(kind: str) -> None:
    assert SOURCES[kind]
    found = [(str(path.relative_to(ROOT)), *avoided(each)) for path in SOURCES[kind] for each in strings(path)]
    assert not [each for each in found if len(each) > 1]
