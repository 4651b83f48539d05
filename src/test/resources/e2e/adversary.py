# marker-in-the-script
import contextlib
import ctypes
import errno
import http.client
import json
import os
import secrets
import socket
import ssl
import tempfile


def attempt(action):
    """The name of the error that an action ends with, or "done"."""
    try:
        action()
        return "done"
    except OSError as error:
        return errno.errorcode.get(error.errno, type(error).__name__)


def started_with(process):
    """Names of the variables that a process shows to this one."""
    try:
        with open(f"/proc/{process}/environ", encoding="utf-8", errors="replace") as file:
            return [text.partition("=")[0] for text in file.read().split("\0") if text]
    except OSError:
        return []


def write(path):
    def action():
        with open(os.path.join(path, "planted"), "w") as file:
            file.write("x")

    return action


def syscall(name, *arguments):
    library = ctypes.CDLL(None, use_errno=True)

    def action():
        if getattr(library, name)(*arguments) != 0:
            raise OSError(ctypes.get_errno(), name)

    return action


def ask(method, url):
    """The status and the start of what is answered; the error's name when there is no answer."""
    # It looks like an executor's, but nobody has signed it.
    token = ".".join(["executor_01m800j6vxe00axq3xa27ezm62", "4102444800", "0" * 64])
    scheme, _, rest = url.partition("://")
    host, _, path = rest.partition("/")
    if scheme == "https":
        # A closed network may leave it without an answer; the control plane's answer must come.
        connection = http.client.HTTPSConnection(host, timeout=10, context=ssl._create_unverified_context())
    else:
        connection = http.client.HTTPConnection(host, timeout=60)
    try:
        # The path goes out as it is.
        connection.putrequest(method, "/" + path)
        if method == "POST":
            connection.putheader("Authorization", "Bearer " + token)
        connection.putheader("Content-Length", "2")
        connection.endheaders(b"{}")
        answer = connection.getresponse()
        return [answer.status, answer.read(2000).decode("utf-8", "replace")]
    except (OSError, http.client.HTTPException) as error:
        return [0, repr(error)]
    finally:
        connection.close()


def question(store, key):
    """What the sidecar answers to a script that speaks with it directly."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect("/run/roost/store.sock")
        body = json.dumps({"key": key})
        connection.sendall(f"get {store} {len(body)}\n{body}".encode())
        answer = connection.makefile("rb")
        status, length = map(int, answer.readline().split())
        return [status, json.loads(answer.read(length))]


def processes():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        # A process may end, and be collected, between the list and the read.
        with (
            contextlib.suppress(FileNotFoundError, ProcessLookupError),
            open(f"/proc/{pid}/cmdline", "rb") as file,
        ):
            found.append([int(pid), os.stat(f"/proc/{pid}").st_uid, file.read().replace(b"\0", b" ").decode()])
    return found


def search():
    """With the functions of snoop.py, which stands before this."""
    # To show that it finds what there is.
    with tempfile.NamedTemporaryFile("w", dir="/tmp", prefix="control") as control:
        control.write(f"eyJ{secrets.token_hex()}.eyJ{secrets.token_hex()}.{secrets.token_hex()}")
        control.flush()
        files, read = in_files()
        return {"control": control.name, "files": files, "read": read, "processes": in_processes()}


def main(request):
    asked = request.payload
    print("hello from the adversary")
    with open("/proc/self/status") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    with open("/proc/self/mountinfo") as file:
        mounts = [[line.split()[4], line.split()[5]] for line in file]
    findings = {
        "status": {name: value.strip() for name, value in status.items()},
        "variables": sorted({*os.environ, *started_with("self"), *started_with("1")}),
        "mounts": mounts,
        "writes": {path: attempt(write(path)) for path in asked.get("writes", [])},
        "readable": {path: attempt(lambda path=path: os.listdir(path)) for path in asked.get("readable", [])},
        "syscalls": {
            "setuid": attempt(lambda: os.setuid(0)),
            "chroot": attempt(lambda: os.chroot("/tmp")),
            "mount": attempt(syscall("mount", b"none", b"/tmp", b"tmpfs", 0, None)),
            "unshare": attempt(syscall("unshare", 0x10000000)),
            "mknod": attempt(lambda: os.mknod("/tmp/device", 0o60600, os.makedev(8, 0))),
        },
        "processes": processes(),
        "answers": [ask(*each) for each in asked.get("requests", [])],
        "stores": [question(*each) for each in asked.get("stores", [])],
        "left": sorted(os.listdir("/tmp") + os.listdir("/work") + os.listdir(os.getcwd())),
        "host": socket.gethostname(),
    }
    if asked.get("search"):
        findings["search"] = search()
    if asked.get("leave"):
        for place in ("/tmp", "/work"):
            with open(f"{place}/left-behind", "w") as file:
                file.write(asked["leave"])
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                os.execvp("python3", ["python3", "-c", "import time; time.sleep(600)", asked["leave"]])
            os._exit(0)
    if asked.get("gate"):
        socket.create_connection(asked["gate"]).recv(1)
    return findings
