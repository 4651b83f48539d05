"""What CONTRIBUTING.md and the architecture page name exists: classes, methods, packages, files."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[4]
PAGES = [ROOT / "CONTRIBUTING.md", ROOT / "docs/architecture.md"]
JAVA = ROOT / "src/main/java/dev/roost"
SOURCES = [*(ROOT / "src").rglob("*.java"), *(ROOT / "src/main/resources/web/app").rglob("*.ts")]
# `Retry`, `retention/Retention`, `Retry.decide`: a class, after packages, before a member; not ROOST_DATA or GET.
CLASS = re.compile(r"`(?:[\w.]+[/.])*([A-Z]\w*[a-z]\w*)(?:[.#](\w+))?`")
PACKAGE = re.compile(r"^\| ((?:`[a-z.]+`(?:, )?)+) \|", re.MULTILINE)
EXTENSIONS = {"java", "sql"}
# A member that stands for any.
EXAMPLE = ("BuildIT", "method")


def declared() -> "dict[str, str]":
    """The sources that declare a class, record, interface or enum of each name."""
    declaration = re.compile(r"\b(?:class|record|interface|enum) ([A-Z]\w*)")
    found: dict[str, str] = {}
    for source in SOURCES:
        text = source.read_text(encoding="utf-8")
        for name in declaration.findall(text):
            found[name] = found.get(name, "") + text
    return found


def exists(name: str, member: str, classes: "dict[str, str]") -> bool:
    if member in EXTENSIONS:
        return any((ROOT / "src/main").rglob(f"{name}.{member}"))
    if (name, member) == EXAMPLE:
        member = ""
    return name in classes and re.search(rf"\b{member}", classes[name]) is not None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_classes_and_members_exist(page: Path) -> None:
    classes = declared()
    named = set(CLASS.findall(page.read_text(encoding="utf-8")))
    assert len(named) > 15, "the pattern finds names"
    missing = [f"{name}.{member}" for name, member in sorted(named) if not exists(name, member, classes)]
    assert missing == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_package_has_its_row(page: Path) -> None:
    rows = " ".join(PACKAGE.findall(page.read_text(encoding="utf-8")))
    packages = {directory.name for directory in JAVA.iterdir() if directory.is_dir()}
    assert packages - set(re.findall(r"[a-z]+", rows)) == set()
