"""The pinned tools of `requirements.txt`, in an environment under `target/python`.

    python3 src/test/python/tools.py -m pytest src/test/python/dashboard

makes that environment when it isn't there, and becomes its Python with the arguments given. `--requirements FILE`
before these takes what another file pins.
"""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
TOOLS = ROOT / "src/test/python/requirements.txt"


def environment(pinned: Path = TOOLS) -> Path:
    """The Python with what a file pins; made when it isn't there or the pinned versions have changed."""
    key = hashlib.sha256(pinned.read_bytes() + sys.version.encode()).hexdigest()[:16]
    directory = ROOT / "target/python" / key
    python = directory / "bin/python"
    directory.parent.mkdir(parents=True, exist_ok=True)
    with open(directory.with_suffix(".lock"), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Several test runs may need it at the same time.
        if not (directory / "complete").exists():
            shutil.rmtree(directory, ignore_errors=True)
            venv.create(directory, with_pip=True)
            install = [python, "-m", "pip", "install", "-q", "--require-hashes", "-r", pinned]
            subprocess.run(install, check=True)
            (directory / "complete").touch()
    return python


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["--requirements"]:
        python, arguments = environment(Path(arguments[1])), arguments[2:]
    else:
        python = environment()
    os.execv(python, [str(python), *arguments])
