"""Which files a lock names, and which of them an installed distribution came from.

The lock is the ``pylock.toml`` (PEP 751) that uv writes. ``tomllib`` came with Python 3.11, so it is read with a
few patterns that hold for uv's output: a key a line, a file a line or several on one.
"""

import csv
import itertools
import os
import re
from email.parser import HeaderParser
from pathlib import Path
from typing import NamedTuple, Optional
from urllib.parse import unquote, urlsplit

FILE = re.compile(r'\{[^{}]*?(?:url|path) = "([^"]+)"[^{}]*?hashes = \{[^{}]*?sha256 = "([0-9a-f]{64})"[^{}]*\}')
NAME = re.compile(r'^name = "([^"]+)"')


class File(NamedTuple):
    """A file of the index: its name and the SHA-256 that the lock gives for it."""

    name: str
    sha256: str


class Package(NamedTuple):
    """A distribution as the API lists it: with the hash of the file it came from, and the size of what it installed."""

    name: str
    version: str
    sha256: str
    size_bytes: int


def read(lock: Path) -> dict[str, list[File]]:
    """The files of each package, by its normalised name."""
    packages: dict[str, list[File]] = {}
    files: list[File] = []
    for line in lock.read_text(encoding="utf-8").splitlines():
        name = NAME.match(line)
        if line == "[[packages]]":
            files = []
        elif name:
            files = packages.setdefault(normalised(name.group(1)), files)
        else:
            files += [File(filename(url), sha256) for url, sha256 in FILE.findall(line)]
    return packages


def installed(site_packages: Path, lock: dict[str, list[File]]) -> list[Package]:
    """Every installed distribution, sorted by name."""
    packages = []
    for directory in site_packages.glob("*.dist-info"):
        metadata = headers(directory / "METADATA")
        name, version = metadata["Name"], metadata["Version"]
        wheel = headers(directory / "WHEEL")
        tags = frozenset(tag.strip() for line in wheel.get_all("Tag", []) for tag in expanded(line))
        source = source_of(lock.get(normalised(name), []), tags, wheel.get("Build"))
        if source is None:
            raise ValueError(f"{name} {version} was installed from a file that the lock doesn't name")
        packages.append(Package(name, version, source.sha256, size_bytes(site_packages, directory)))
    return sorted(packages, key=lambda package: normalised(package.name))


def size_bytes(site_packages: Path, information: Path) -> int:
    """The size of the files that a distribution lists as its own, without uv's notes of the installation.

    A file that several of them brought counts for each. Byte code is not listed.
    """
    with (information / "RECORD").open(encoding="utf-8", newline="") as record:
        names = [row[0] for row in csv.reader(record) if row]
    files = [site_packages / name for name in names if not name.startswith(f"{information.name}/uv_")]
    return sum(file.lstat().st_size for file in files if os.path.lexists(file))


def source_of(files: list[File], tags: frozenset[str], build: Optional[str]) -> Optional[File]:
    """The file that a distribution with these wheel tags was installed from.

    A wheel that was built here has tags of its own, which none of the lock's wheels has; then it was the sdist.
    """
    wheels = [file for file in files if file.name.endswith(".whl")]
    sources = [file for file in files if not file.name.endswith(".whl")]
    same = [file for file in wheels if wheel_tags(file.name) == tags]
    if build and len(same) > 1:
        same = [file for file in same if f"-{build}-" in file.name] or same
    if same:
        return max(same, key=lambda file: file.name)
    similar = sorted(wheels, key=lambda file: len(wheel_tags(file.name) & tags), reverse=True)
    if similar and wheel_tags(similar[0].name) & tags:
        return similar[0]
    if sources:
        return sources[0]
    return similar[0] if similar else None


def wheel_tags(name: str) -> frozenset[str]:
    """The tags in a wheel's file name (PEP 425, PEP 427)."""
    return frozenset(expanded("-".join(name[: -len(".whl")].split("-")[-3:])))


def expanded(tag: str) -> list[str]:
    """``py2.py3-none-any`` is ``py2-none-any`` and ``py3-none-any``."""
    return ["-".join(parts) for parts in itertools.product(*(part.split(".") for part in tag.strip().split("-")))]


def filename(url: str) -> str:
    """The last part of a URL's path, or of a path."""
    return unquote(urlsplit(url).path.rpartition("/")[2])


def normalised(name: str) -> str:
    """A name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def headers(file: Path):  # type: ignore[no-untyped-def]
    """The headers of a METADATA or WHEEL file."""
    return HeaderParser().parsestr(file.read_text(encoding="utf-8", errors="replace"))
