"""Makes a virtual environment that holds the requirements."""

import argparse
import errno
import os
import shutil
import sys
from pathlib import Path
from typing import Any

from roost_builder import lock
from roost_builder.packages import has_requirements, indexing, install, size_bytes
from roost_builder.uv import Uv


def build(uv: Uv, options: argparse.Namespace) -> dict[str, Any]:
    """Make the environment, move it to its place, and return what is in it.

    It is relocatable, so that it works after the rename.
    """
    environment = options.directory / "environment"
    uv.run("venv", "-q", "--relocatable", "--no-project", "--python", sys.executable, str(environment))
    packages: list[lock.Package] = []
    symbols = None
    if has_requirements(options.requirements):
        locked = options.directory / "pylock.toml"
        packages = install(uv, environment, options.requirements, locked, "--compile-bytecode")
        with indexing(environment, options.requirements, options.directory) as index:
            os.sync()  # which mostly waits for the disk, and leaves `publish` little to wait for
            symbols = index()
    size = size_bytes(environment)
    publish(environment, options.output)
    result = {"packages": [package._asdict() for package in packages], "size_bytes": size}
    return {**result, "symbols": symbols} if symbols else result


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
