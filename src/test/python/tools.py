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
import tempfile
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
            install(python, pinned)
            (directory / "complete").touch()
    return python


def install(python: Path, pinned: Path) -> None:
    """Installs what a file pins: by uv, which takes a quarter of pip's time, where pip can install it; else by pip."""
    hashed = ["-q", "--require-hashes", "-r"]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(of_uv(TOOLS.read_text(encoding="utf-8")))
        file.flush()
        subprocess.run([python, "-m", "pip", "install", *hashed, file.name], check=True)
    by_uv = [python, "-m", "uv", "pip", "install", "--python", python, *hashed, pinned]
    if subprocess.run(by_uv, check=False).returncode:
        # An index, a proxy or a certificate that only pip's settings name.
        subprocess.run([python, "-m", "pip", "install", *hashed, pinned], check=True)


def of_uv(requirements: str) -> str:
    """The lines of a file of requirements that pin uv, with its hashes."""
    lines = requirements.splitlines()
    first = next(number for number, line in enumerate(lines) if line.startswith("uv=="))
    last = next((n for n in range(first + 1, len(lines)) if not lines[n].startswith(" ")), len(lines))
    return "\n".join(lines[first:last])


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[:1] == ["--requirements"]:
        python, arguments = environment(Path(arguments[1])), arguments[2:]
    else:
        python = environment()
    os.execv(python, [str(python), *arguments])
