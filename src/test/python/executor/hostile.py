"""An agent's script that does what it shouldn't: `payload` names a function, whose result is the return value.

Run without a payload it is the neighbour, which must find nothing of what the others have done.
"""

import ctypes
import glob
import json
import marshal
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

MEBIBYTE = 1024 * 1024
TOUCHED = False
library = ctypes.CDLL(None, use_errno=True)


def main(request, store):
    if request.payload:
        return globals()[request.payload["run"]](**request.payload.get("with", {}))
    import colorsys  # of the standard library, and nobody's own

    return {
        "source": open(__file__).read() == request.stores["main"].get("source"),
        "touched": TOUCHED,
        "module": colorsys.__file__.startswith(os.path.dirname(__file__)),
        "beside": sorted(os.listdir(os.path.dirname(__file__))),
        "here": os.listdir("."),
        "temporary": os.listdir(tempfile.gettempdir()),
        "arguments": sys.argv == [__file__],
    }


def change_script():
    """Changes the file of the script, and what Python might take for its compiled form or a module."""
    directory = os.path.dirname(__file__)
    with open(__file__, "a") as file:
        file.write("\nTOUCHED = True\n")
    os.mkdir(f"{directory}/__pycache__")
    with open(f"{directory}/__pycache__/agent.{sys.implementation.cache_tag}.pyc", "wb") as file:
        code = compile("def main(): return 'mine'", __file__, "exec")
        file.write(__import__("importlib.util").util.MAGIC_NUMBER + struct.pack("<III", 0, 0, 0) + marshal.dumps(code))
    for name in ("colorsys.py", "json.py", "linecache.py"):
        with open(f"{directory}/{name}", "w") as file:
            file.write("raise SystemExit('mine')\n")


def replace_directory():
    """Puts a link in place of the script's directory."""
    directory = os.path.dirname(__file__)
    evil = os.path.join(os.path.dirname(directory), f"evil{os.getpid()}")
    shutil.copytree(directory, evil)
    with open(f"{evil}/agent.py", "a") as file:
        file.write("\nTOUCHED = True\n")
    shutil.rmtree(directory)
    os.symlink(evil, directory)


def replace_file():
    """Puts a pipe in place of the script: whoever reads it waits for ever."""
    os.unlink(__file__)
    os.mkfifo(__file__)


def replace_work():
    """Puts a link in place of the directory of working directories."""
    work = os.path.dirname(os.getcwd())
    elsewhere = tempfile.mkdtemp()
    os.rename(work, f"{work}.old{os.getpid()}")
    os.symlink(elsewhere, work)


def forge_code():
    """Writes compiled code, and a result, to every pipe that is open."""
    code = marshal.dumps(compile("def main(): return 'mine'", __file__, "exec"))
    record = b"C" + code
    packet = struct.pack("<IH?", os.getpid(), len(record), True) + record
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, packet)
        except OSError:
            continue


def forge_result(execution):
    """Says that another execution has ended, over whatever is open."""
    line = json.dumps({"execution_id": execution, "type": "returned", "seq": 1, "value": '"forged"'}).encode() + b"\n"
    for descriptor in range(3, 64):
        try:
            os.write(descriptor, line)
        except OSError:
            continue


def leave_files(places):
    """Leaves files wherever it can."""
    left = []
    for place in (*places, os.path.dirname(os.getcwd()), tempfile.gettempdir()):
        try:
            with open(f"{place}/left", "wb") as file:
                file.write(b"x" * 30 * MEBIBYTE)
            os.makedirs(f"{place}/.left/below", 0o000)
            left.append(place)
        except OSError:
            continue
    return left


def find_left(places):
    """What an earlier execution has left."""
    return [place for place in places if glob.glob(f"{place}/left") or glob.glob(f"{place}/.left")]


def fill_shared_memory():
    """Takes more than half of the 64 MiB of shared memory."""
    with open("/dev/shm/left", "wb") as file:
        for _ in range(40):
            file.write(b"x" * MEBIBYTE)


def leave_queues():
    """Leaves a segment of shared memory, a semaphore and a message queue of System V."""
    made = [library.shmget(0x7001, 4096, 0o1600), library.semget(0x7002, 1, 0o1600), library.msgget(0x7003, 0o1600)]
    return [number >= 0 for number in made]


def leave_processes():
    """Leaves processes that have gone as far from it as they can; returns their ids."""
    code = (
        "import os, signal, time\n"
        "for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):\n    signal.signal(number, signal.SIG_IGN)\n"
        "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0:\n        os.chdir('/')\n"
        "        print(os.getpid(), flush=True)\n        os.close(1)\n        time.sleep(600)\n"
    )
    return [int(subprocess.check_output([sys.executable, "-c", code])) for _ in range(3)]


def look_into(process):
    """Tries to open another process: its memory, its files, its descriptors. Returns what it could."""
    done = []
    for file in ("mem", "environ", "fd/0", "fd/1", "fd/2", "fd/3", "fd/4", "fd/5", "cwd/x", "root/x", "maps"):
        try:
            os.close(os.open(f"/proc/{process}/{file}", os.O_RDONLY))
            done.append(file)
        except FileNotFoundError:
            done += [] if file[:2] == "fd" else [file]
        except OSError:
            continue
    if library.ptrace(16, process, None, None) == 0:  # PTRACE_ATTACH
        done.append("ptrace")
        os.waitpid(process, 0x40000000)
        library.ptrace(17, process, None, None)
    descriptor = library.syscall(434, process, 0)  # pidfd_open
    if descriptor >= 0 and library.syscall(438, descriptor, 1, 0) >= 0:  # pidfd_getfd
        done.append("pidfd_getfd")
    buffer = ctypes.create_string_buffer(8)
    vector = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
    remote = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 8)
    if library.process_vm_readv(process, vector, 1, remote, 1, 0) == 8:
        done.append("process_vm_readv")
    return done


def look_into_parent():
    """The runner."""
    return look_into(os.getppid())


def look_into_itself():
    """Its own /proc, which must be its own."""
    child = os.fork()
    if child == 0:
        time.sleep(600)
    done = [os.access("/proc/self/fd", os.R_OK), os.stat("/proc/self/mem").st_uid == os.getuid(), look_into(child)]
    os.kill(child, signal.SIGKILL)
    return done
