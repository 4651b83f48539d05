"""Makes a layer of a container image: the environment with the requirements, packed.

Builds are reproducible: the same files from the index on the same base image make the same bytes.
So a registry stores a layer once, and a repeated build has the same digest.
"""

import argparse
import json
import shutil
import sys
import time
from pathlib import Path
from typing import Any

from roost_builder import archive, bytecode, lock
from roost_builder.packages import has_requirements, indexing, install, site_packages, size_bytes
from roost_builder.uv import Uv

# Files that uv leaves: locks, marks for backup programs, and how it built a package.
LEFTOVERS = (".lock", ".gitignore", "CACHEDIR.TAG")
BUILD_NOTES = ("uv_build.json", "uv_cache.json")


def build(uv: Uv, options: argparse.Namespace) -> dict[str, Any]:
    """Make the environment at its final path and write ``layer.tar`` and ``result.json``; return the latter."""
    options.output.mkdir(parents=True, exist_ok=True)
    packages: list[lock.Package] = []
    size = 0
    symbols = None
    if has_requirements(options.requirements):
        # It doesn't need to be relocatable, and a program's first line is easier to read so.
        uv.run("venv", "-q", "--no-project", "--python", sys.executable, str(options.prefix))
        packages = install(uv, options.prefix, options.requirements, options.directory / "pylock.toml")
        shutil.rmtree(uv.environment["UV_CACHE_DIR"], ignore_errors=True)  # Its space may be needed for the layer.
        tidy(options.prefix)
        with indexing(options.prefix, options.requirements, options.directory) as index:
            started = time.monotonic()
            modules = bytecode.compile_all(site_packages(options.prefix))
            print(f"Compiled {modules} modules in {time.monotonic() - started:.1f} s")
            symbols = index()
        size = size_bytes(options.prefix)
        archive.write(options.prefix, options.output / "layer.tar")
        print(f"Packed {size / 1e6:.1f} MB")
    else:
        print("No requirements: nothing to install")
    result: dict[str, Any] = {"packages": [package._asdict() for package in packages], "size_bytes": size}
    if symbols:
        result["symbols"] = symbols
    (options.output / "result.json").write_text(json.dumps({"outcome": "succeeded", **result}), encoding="utf-8")
    return result


def tidy(environment: Path) -> None:
    """Removes files that depend on the build, and sorts the lists of installed files."""
    for name in LEFTOVERS:
        (environment / name).unlink(missing_ok=True)
    packages = site_packages(environment)
    for directory in packages.rglob("__pycache__"):
        shutil.rmtree(directory)  # Compiled files of a package have other times of their sources.
    for information in packages.glob("*.dist-info"):
        for name in BUILD_NOTES:
            (information / name).unlink(missing_ok=True)
        record = information / "RECORD"
        lines = record.read_text(encoding="utf-8").splitlines()
        notes = tuple(f"{information.name}/{name}," for name in BUILD_NOTES)
        kept = sorted(line for line in lines if not line.startswith(notes))
        record.write_text("".join(line + "\n" for line in kept), encoding="utf-8")
