"""Resolves requirements and installs them into an environment, for every target."""

import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Callable, Optional

from roost_builder import lock
from roost_builder.failures import UNKNOWN_VERSION, BuildFailed
from roost_builder.uv import Uv

INDEXER = Path(__file__).with_name("symbols.py")
INDEX_SECONDS = 20.0
REQUIRED = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def has_requirements(file: Path) -> bool:
    """Whether the file names any package."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return any(line.strip() and not line.lstrip().startswith("#") for line in lines)


def install(uv: Uv, environment: Path, requirements: Path, locked: Path, *flags: str) -> list[lock.Package]:
    """Resolve into a lock, install from that into an environment, and return what is installed.

    flags: further options of ``uv pip sync``.
    """
    python = str(environment / "bin" / "python")
    resolve(uv, python, requirements, locked)
    # Only files whose hashes are in the lock: what was resolved is what is installed.
    uv.run("pip", "sync", "--python", python, "--require-hashes", *flags, str(locked))
    return lock.installed(site_packages(environment), lock.read(locked))


def resolve(uv: Uv, python: str, requirements: Path, locked: Path) -> None:
    """Writes the lock: every distribution that will be installed, with the hashes of its files."""
    try:
        uv.run(
            "pip", "compile", "-q", "--python", python, "--format", "pylock.toml", "-o", str(locked), str(requirements)
        )
    except BuildFailed as failure:
        unknown = UNKNOWN_VERSION.search(failure.message)
        if failure.reason == "requirement_not_found" and unknown:
            near = nearby_versions(uv, python, *unknown.groups())
            if near:
                hint = "The nearest that exist: " + ", ".join(near)
                raise BuildFailed(failure.reason, f"{failure.message}\n{hint}") from failure
        raise


def nearby_versions(uv: Uv, python: str, name: str, version: str) -> list[str]:
    """The nearest versions below and above one that doesn't exist."""
    compile_one = ["pip", "compile", "-q", "--python", python, "--no-deps", "--no-header", "--no-annotate"]
    below = uv.output(*compile_one, "-", given=f"{name}<{version}\n")
    above = uv.output(*compile_one, "--resolution", "lowest", "-", given=f"{name}>{version}\n")
    return [line.rpartition("==")[2] for line in below + above if re.match(r"[A-Za-z0-9._-]+==\S+$", line)]


def site_packages(environment: Path) -> Path:
    """Where the environment's packages are."""
    return environment / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"


def size_bytes(directory: Path) -> int:
    """The size of all files below a directory, links not followed."""
    total = 0
    for folder, _, files in os.walk(directory):
        total += sum(os.lstat(os.path.join(folder, file)).st_size for file in files)
    return total


@contextlib.contextmanager
def indexing(environment: Path, requirements: Path, directory: Path) -> "Iterator[Callable[[], Optional[str]]]":
    """Indexes the public names of the packages while the block does other work.

    Yields a function that waits for the index, as ``symbols`` writes it; it returns None when there is none. In a
    process of its own: sources may be such that parsing them crashes the interpreter. A build doesn't fail for want of
    an index, which only helps people to write scripts.
    """
    output = directory / "symbols"
    lines = requirements.read_text(encoding="utf-8").splitlines()
    required = [found[0] for found in map(REQUIRED.match, lines) if found]
    command = [sys.executable, "-I", "-B", "-W", "ignore", str(INDEXER), str(site_packages(environment)), str(output)]
    try:
        process = subprocess.Popen(
            [*command, *required],
            cwd="/",
            env={"LC_ALL": "C.UTF-8"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
    except OSError as error:
        cause = str(error)
        yield lambda: _not_indexed(cause)
        return

    def result() -> Optional[str]:
        started = time.monotonic()
        try:
            _, errors = process.communicate(timeout=INDEX_SECONDS)
            if process.returncode == 0:
                print(f"Indexed the packages for the editor, in {time.monotonic() - started:.1f} s more")
                return output.read_text(encoding="ascii")
            said = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
            return _not_indexed(said or f"status {process.returncode}")
        except (OSError, subprocess.TimeoutExpired, ValueError) as error:
            return _not_indexed(str(error))

    with process:
        try:
            yield result
        finally:
            process.kill()


def _not_indexed(cause: str) -> None:
    print(f"The packages were not indexed for the editor: {cause}")
