# Leaves something wherever it can (payload {"leave": true}), and tells what it finds of that otherwise.
import contextlib
import ctypes
import os
import socket
import subprocess
import sys
import time

NAME = "left-by-a-neighbour"
KEY = 0x7A11
PLACES = ("/tmp", "/var/tmp", "/work", "/dev/shm", "/dev/mqueue", "/run", "~", ".", "..", "script")
library = ctypes.CDLL(None, use_errno=True)


def directories():
    named = {"script": os.path.dirname(__file__), "~": os.path.expanduser("~")}
    return {place: os.path.abspath(named.get(place, place)) for place in PLACES}


def queues(flags):
    """System V's and POSIX's objects, by their names: made with flags, or found without."""
    opened = {
        "shm": library.shmget(KEY, 4096 if flags else 0, flags),
        "sem": library.semget(KEY, 1 if flags else 0, flags),
        "msg": library.msgget(KEY, flags),
        "mq": library.mq_open(f"/{NAME}".encode(), os.O_RDWR | (os.O_CREAT if flags else 0), 0o600, None),
    }
    return [kind for kind, number in opened.items() if number >= 0]


def leave():
    left = queues(0o1600)
    for place, path in directories().items():
        try:
            with open(f"{path}/{NAME}", "w") as file:
                file.write("x")
            os.makedirs(f"{path}/.{NAME}/below", 0o000)
            left.append(place)
        except OSError:
            continue
    script = os.path.dirname(__file__)
    with contextlib.suppress(OSError):  # on one machine the sandbox refuses it
        os.makedirs(f"{script}/__pycache__", exist_ok=True)
        for name in ("colorsys.py", f"__pycache__/colorsys.{sys.implementation.cache_tag}.pyc"):
            with open(f"{script}/{name}", "w") as file:
                file.write("raise SystemExit('a neighbour')\n")
        with open(__file__, "a") as file:
            file.write("\nraise SystemExit('a neighbour')\n")
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", NAME], start_new_session=True)
    return left


def find():
    import colorsys  # of the standard library, and nobody's own

    found = [f"queue {kind}" for kind in queues(0)]
    found += [f"module {colorsys.__file__}"] if os.path.dirname(__file__) in colorsys.__file__ else []
    for top in ("/", "/dev/shm", "/dev/mqueue"):
        for path, below, files in os.walk(top):
            found += [f"{path}/{name}" for name in below + files if NAME in name]
            below[:] = [name for name in below if os.path.join(path, name) not in ("/proc", "/sys", "/dev")]
    beside = set(os.listdir(os.path.dirname(__file__))) - {os.path.basename(__file__)}
    found += [f"beside the script: {name}" for name in beside]
    for process in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{process}/cmdline", "rb") as file:
            found += [f"process {process}"] if NAME.encode() in file.read() else []
    with open(__file__) as file:
        found += ["the script"] if file.read().endswith("('a neighbour')\n") else []
    return found


def main(request):
    asked = request.payload or {}
    result = {"host": socket.gethostname(), "found": find(), "left": leave() if asked.get("leave") else []}
    if asked.get("hold"):
        print("held:", result["left"], flush=True)
        time.sleep(600)
    return result
