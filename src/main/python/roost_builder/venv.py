"""Makes a virtual environment that holds the requirements."""

import argparse
import errno
import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

from roost_builder import lock
from roost_builder.failures import UNKNOWN_VERSION, BuildFailed
from roost_builder.uv import Uv


def build(uv: Uv, options: argparse.Namespace) -> dict[str, Any]:
    """Make the environment, put it where it belongs, and tell what is in it.

    It is relocatable, so that the rename does it no harm.
    """
    environment = options.directory / "environment"
    uv.run("venv", "-q", "--relocatable", "--no-project", "--python", sys.executable, str(environment))
    packages: list[lock.Package] = []
    if has_requirements(options.requirements):
        python = str(environment / "bin" / "python")
        locked = options.directory / "pylock.toml"
        resolve(uv, python, options.requirements, locked)
        # Only files whose hashes are in the lock: what was resolved is what is installed.
        uv.run("pip", "sync", "--python", python, "--require-hashes", "--compile-bytecode", str(locked))
        packages = lock.installed(site_packages(environment), lock.read(locked))
    size = size_bytes(environment)
    publish(environment, options.output)
    return {"packages": [package._asdict() for package in packages], "size_bytes": size}


def has_requirements(file: Path) -> bool:
    """Whether the file names any package."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return any(line.strip() and not line.lstrip().startswith("#") for line in lines)


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
    """The next version below and the next above one that doesn't exist, where there are such."""
    compile_one = ["pip", "compile", "-q", "--python", python, "--no-deps", "--no-header", "--no-annotate"]
    below = uv.ask(*compile_one, "-", given=f"{name}<{version}\n")
    above = uv.ask(*compile_one, "--resolution", "lowest", "-", given=f"{name}>{version}\n")
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


def publish(environment: Path, output: Path) -> None:
    """Rename the finished environment to its place, once its files are on the disk."""
    output.parent.mkdir(parents=True, exist_ok=True)
    os.sync()
    try:
        os.rename(environment, output)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        shutil.rmtree(environment)  # Another build of the same requirements was first.
        return
    parent = os.open(output.parent, os.O_RDONLY)
    try:
        os.fsync(parent)
    finally:
        os.close(parent)
