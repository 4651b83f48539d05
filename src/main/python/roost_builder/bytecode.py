"""Compiles the modules of an environment so that the same sources give the same bytes."""

import os
import subprocess
import sys
from pathlib import Path

from roost_builder.failures import failure_of

COMPILER = Path(__file__).with_name("compiler.py")


def compile_all(directory: Path) -> int:
    """Compile every module below the directory, and return how many compiled; raise BuildFailed.

    ``-I`` can't be used, since it ignores the hash seed. An environment of these two variables, no ``site`` and the
    root directory do the same.
    """
    ended = subprocess.run(
        [sys.executable, "-s", "-S", "-B", "-W", "ignore", str(COMPILER), str(directory)],
        cwd="/",
        env={"PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if ended.returncode != 0:
        lines = ended.stderr.splitlines() or [f"The compiler of {os.fspath(directory)} ended without output."]
        raise failure_of(ended.returncode, lines)
    return int(ended.stdout)
