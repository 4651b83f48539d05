"""The help at /help has every page of the documentation, and all its links lead somewhere."""

import importlib.util
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[4]
SITE = ROOT / "target/classes/META-INF/resources/help"
# Addresses of Roost outside the help.
DASHBOARD = "/"


class Names(HTMLParser):
    """The links, the files and the anchors of a page, and scripts and styles that aren't in files."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: set[str] = set()
        self.anchors: set[str] = set()
        self.inline: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: "list[tuple[str, str | None]]") -> None:
        named = dict(attributes)
        self.anchors.update(filter(None, (named.get("id"), named.get("name"))))
        self.links.update(filter(None, (named.get("href"), named.get("src"))))
        data = named.get("type") == "application/json"
        if tag == "style" or "style" in named or (tag == "script" and "src" not in named and not data):
            self.inline.append(self.get_starttag_text() or tag)
        self.inline += [name for name in named if name.startswith("on")]


@pytest.fixture(scope="module")
def site() -> "dict[str, Names]":
    """Every page of the site that is packaged, by its path."""
    version = re.search(r"^  <version>(.+)</version>", (ROOT / "pom.xml").read_text(encoding="utf-8"), re.MULTILINE)
    command = [sys.executable, ROOT / "src/main/help/build.py", version[1], SITE]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert not done.stderr, done.stderr
    return {
        page.relative_to(SITE).as_posix(): Names(page.read_text(encoding="utf-8"))
        for page in sorted(SITE.rglob("*.html"))
    }


def test_every_page_of_the_documentation_is_in_the_navigation():
    staged = (ROOT / "src/main/help/mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    named = re.findall(r"([\w/*.-]+\.md)$", staged, re.MULTILINE)
    pages = [page.relative_to(ROOT / "docs") for page in (ROOT / "docs").rglob("*.md")]
    assert len(pages) > 50
    missing = [str(page) for page in pages if not any(page.match(name) for name in named)]
    assert not missing
    assert len(named) == len(set(named))


def test_every_page_has_an_address(site):
    pages = [page.relative_to(ROOT / "docs").with_suffix("").as_posix() for page in (ROOT / "docs").rglob("*.md")]
    addresses = [re.sub(r"(^|/)README$", "", page) for page in pages]
    assert not [address for address in addresses if (f"{address}/index.html").lstrip("/") not in site]


def test_every_link_and_picture_of_the_site_is_there(site):
    broken = []
    checked = 0
    for path, page in site.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link == DASHBOARD:
                continue
            checked += 1
            place = (
                SITE / parts.path[len("/help/") :]
                if parts.path.startswith("/help/")
                else (SITE / path).parent / parts.path
            )
            target = (place if parts.path else SITE / path).resolve()
            target = target / "index.html" if target.is_dir() else target
            name = target.relative_to(SITE).as_posix() if SITE in target.parents else ""
            anchor = unquote(parts.fragment)
            if not (name and target.exists()) or (anchor and name in site and anchor not in site[name].anchors):
                broken.append(f"{path}: {link}")
    assert checked > 1000
    assert not broken


def test_pages_have_no_inline_script_or_style(site):
    """The Content-Security-Policy allows none."""
    assert {path: page.inline for path, page in site.items() if page.inline} == {}


def test_pages_load_nothing_from_other_hosts():
    """Of what the browser loads by itself; links may lead elsewhere."""
    loaded = re.compile(r"<(?:script|img|link|iframe|source)[^>]*?(?:src|href)=[\"']?(?:https?:)?//[^>]*>")
    assert not [found for page in SITE.rglob("*.html") for found in loaded.findall(page.read_text(encoding="utf-8"))]
    imported = re.compile(r"url\([\"']?(?:https?:)?//|@import")
    assert not [file for file in SITE.rglob("*.css") if imported.search(file.read_text(encoding="utf-8"))]


def test_every_picture_is_shown_by_a_page():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    shown = {
        (page.parent / name).resolve()
        for page in pages
        for name in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", page.read_text(encoding="utf-8"))
    }
    pictures = {picture for picture in (ROOT / "docs/images").rglob("*") if picture.is_file()}
    assert pictures == shown


@pytest.fixture
def build(tmp_path, monkeypatch):
    """The program that builds the help, with nothing built yet and without a package index."""
    spec = importlib.util.spec_from_file_location("build_help", ROOT / "src/main/help/build.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "WORK", tmp_path / "work")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    return module


def test_without_a_package_index_a_page_says_what_is_wrong(build, tmp_path, capsys):
    site = tmp_path / "site"
    build.main("1.0", site)
    assert "The help was not built" in capsys.readouterr().err
    for name in ("index.html", "404.html"):
        assert "No matching distribution found" in (site / name).read_text(encoding="utf-8")
    (site / "index.html").write_text("of an earlier build", encoding="utf-8")
    build.main("1.0", site)
    assert "The help was not built" in capsys.readouterr().err, "each build tries again"
    assert (site / "index.html").read_text(encoding="utf-8") == "of an earlier build"


def test_a_link_to_a_file_that_the_site_does_not_have_is_found(build):
    files = build.sources()
    assert "../sdk/" in (ROOT / "docs/events.md").read_text(encoding="utf-8")
    assert "](sdk.md#events)" in build.page("docs/events.md", files)
    del files["sdk/python/README.md"]
    with pytest.raises(build.NotBuilt, match="docs/events.md links to ../sdk/python/README.md"):
        build.page("docs/events.md", files)
