"""What the documentation links to is there: files, and sections in them."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
PAGES = sorted(
    [*ROOT.glob("*.md"), ROOT / "sdk/python/README.md", ROOT / "bench/README.md", *(ROOT / "docs").rglob("*.md")]
)


def without_code(text: str) -> str:
    """The text of a page, without its fenced blocks."""
    return re.sub(r"^(> )?```.*?^(> )?```$", "", text, flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> "set[str]":
    """What sections of a page are called in links, as GitHub does it."""
    found: set[str] = set()
    for title in re.findall(r"^#+ (.+)$", without_code(page.read_text(encoding="utf-8")), re.MULTILINE):
        words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title.strip()).lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        number = 0
        while (name := f"{anchor}-{number}" if number else anchor) in found:
            number += 1
        found.add(name)
    return found


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_the_links_of(page: Path) -> None:
    text = re.sub(r"`[^`\n]*`", "", without_code(page.read_text(encoding="utf-8")))
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:|/", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert not broken
