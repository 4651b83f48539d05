"""What a run needs before it can start: the packages of the client, and the packaged server."""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
JAR = ROOT / "target/quarkus-app/quarkus-run.jar"
SDK = ROOT / "sdk/python/src"


def enter(script: Path) -> None:
    """Continues in the benchmark's own environment, which is created if needed: this process becomes its Python."""
    pinned = ROOT / "bench/requirements.txt"
    redis = ROOT / "bench/requirements-redis.txt"
    key = hashlib.sha256(pinned.read_bytes() + redis.read_bytes() + sys.version.encode()).hexdigest()[:16]
    directory = ROOT / "target/bench" / key
    if Path(sys.prefix) == directory:
        return
    python = directory / "bin/python"
    if not (directory / "complete").exists():
        print("… installing the client's packages", file=sys.stderr, flush=True)
        shutil.rmtree(directory, ignore_errors=True)
        venv.create(directory, with_pip=True)
        install = [python, "-m", "pip", "install", "-q", "--require-hashes"]
        subprocess.run([*install, "-r", pinned], check=True)
        # Not everywhere is there a wheel with a server: then its rows are left out. What else it depends on isn't used.
        subprocess.run([*install, "--no-deps", "--only-binary", ":all:", "-r", redis], check=False)
        # The SDK as it is in the source tree, so that a change of it is measured at once.
        packages = next(directory.glob("lib/python*/site-packages"))
        (packages / "roost-sdk.pth").write_text(f"{SDK}\n", encoding="utf-8")
        (directory / "complete").touch()
    os.execv(python, [str(python), str(script.resolve()), *sys.argv[1:]])


def build_application() -> None:
    """Packages the server unless that was done before."""
    if JAR.exists():
        return
    print("… building the application", file=sys.stderr, flush=True)
    wrapper = ROOT / "mvnw"
    maven = str(wrapper) if wrapper.exists() else "mvn"
    subprocess.run([maven, "-q", "-B", "package", "-DskipTests"], cwd=ROOT, check=True, stdout=sys.stderr)
