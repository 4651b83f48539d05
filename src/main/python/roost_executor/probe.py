"""What can confine scripts on this machine, found out by trying it."""

import json
import os
import subprocess
import sys
import tempfile
from typing import Any, Optional

from roost_executor import PACKAGE_DIRECTORY, bubblewrap, namespaces, sandbox

LIMIT_SECONDS = 20


def print_probe(program: "Optional[str]") -> None:
    """Prints it as JSON. `program`: bubblewrap's, inside of which it is to be."""
    print(json.dumps(probe() if program is None else probe_inside(program)), flush=True)


def probe() -> "dict[str, Any]":
    """Confines a new process and checks what it can access."""
    abi = sandbox.landlock_abi()
    if abi < 1:
        return none(sandbox.why_no_landlock())
    with tempfile.TemporaryDirectory(prefix="roost-probe-") as directory:
        mine, others = os.path.join(directory, "mine"), os.path.join(directory, "secret")
        os.mkdir(mine)
        with open(others, "wb"):
            pass
        process = os.fork()
        if process == 0:
            _look_around(mine, others)
        _, status = os.waitpid(process, 0)
    if status:
        return none("Landlock doesn't keep what it promises here", abi)
    mechanism = "landlock+seccomp" if sandbox.filters_calls() else "landlock"
    missing = None if abi >= sandbox.SCOPES_SINCE else "Signals to other processes are not confined before Linux 6.12."
    return {"mechanism": mechanism, "landlock_abi": abi, "message": missing, "private_ipc": namespaces.works()}


def probe_inside(program: str) -> "dict[str, Any]":
    """The same inside of bubblewrap."""
    around = bubblewrap.command(program, readable=[os.path.dirname(PACKAGE_DIRECTORY), sys.prefix, sys.base_prefix])
    try:
        run = subprocess.run(
            [*around, sys.executable, "-I", "-B", PACKAGE_DIRECTORY, "probe"],
            capture_output=True,
            text=True,
            timeout=LIMIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return none(f"{program} can't be run: {error}")
    if run.returncode:
        return none(f"{program} doesn't work here: {run.stderr.strip()[-500:]}")
    found: dict[str, Any] = json.loads(run.stdout)
    if found["mechanism"] != "none":
        found.update(mechanism="bubblewrap+" + found["mechanism"], private_ipc=True)
    return found


def none(message: str, abi: int = 0) -> "dict[str, Any]":
    """The result where nothing can be confined."""
    return {"mechanism": "none", "landlock_abi": abi, "message": message, "private_ipc": False}


def _look_around(mine: str, others: str) -> None:
    status = 1
    try:
        sandbox.set_up()
        sandbox.confine([], [mine])
        with open(os.path.join(mine, "file"), "wb"), open("/dev/null", "rb"):
            pass
        try:
            open(others, "rb").close()
        except PermissionError:
            status = 0
    except OSError as error:
        print(f"roost: sandbox: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(status)
