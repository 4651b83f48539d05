"""Resolves requirements and installs them into an environment, for every target."""

import os
import re
import sys
from pathlib import Path

from roost_builder import lock
from roost_builder.failures import UNKNOWN_VERSION, BuildFailed
from roost_builder.uv import Uv


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
