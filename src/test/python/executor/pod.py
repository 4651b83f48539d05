"""An executor as a pod runs it: sidecar and runner are started apart from each other.

As root and where the kernel has namespaces each gets a container: a root file system that it can't write to, its own
process ids, its own user, and the directory in which they meet, which the runner can only read. Elsewhere they are
plain processes with the same command lines.
"""

import contextlib
import functools
import json
import os
import shlex
import signal
import subprocess
from pathlib import Path
from typing import Optional

from control_plane import WAIT_SECONDS, ControlPlane
from executor import PACKAGE, PYTHON, Jobs, processes_of, wait_until

RUNNER_USER = 10001
SIDECAR_USER = 10002
SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc", "/dev")
UNSHARE = ["unshare", "--mount", "--pid", "--ipc", "--fork", "--propagation", "private"]
BOOT = (PACKAGE / "boot.py").read_text(encoding="ascii")
Mounts = "list[tuple[Path, str, bool]]"


@functools.lru_cache
def why_no_containers() -> str:
    """Empty where containers can be made."""
    if os.geteuid() != 0:
        return "containers need root"
    if subprocess.run([*UNSHARE, "--mount-proc", "true"], capture_output=True, check=False).returncode:
        return "containers need mount and process namespaces"
    return ""


@functools.lru_cache
def interpreter() -> "tuple[str, str]":
    """The interpreter under test without its virtual environment: (installation, executable)."""
    code = (
        "import sys; print(sys.base_prefix, f'{sys.base_prefix}/bin/python{sys.version_info[0]}.{sys.version_info[1]}')"
    )
    prefix, executable = subprocess.check_output([PYTHON, "-I", "-c", code], text=True).split()
    return prefix, executable


def containerized(root: Path, user: int, mounts: Mounts, command: "list[str]") -> "list[str]":
    """The command line that runs `command` as the first process of a container.

    `root`: an empty directory. `mounts`: (source, target, read-only).
    """
    prefix, _ = interpreter()
    system = [*SYSTEM, prefix] if not prefix.startswith("/usr") else SYSTEM
    steps = ["mount -t tmpfs -o mode=755 none ."]
    for source in (directory for directory in system if os.path.isdir(directory)):
        steps += [f"mkdir -p .{source}", f"mount --rbind {source} .{source}"]
    for source, target, read_only in mounts:
        steps += [f"mkdir -p .{target}", f"mount --bind {shlex.quote(str(source))} .{target}"]
        if read_only:
            steps.append(f"mount -o remount,bind,ro .{target}")
    # What Kubernetes gives the pod or the container alone; a mount above takes its place.
    for temporary in ("tmp", "dev/shm"):
        if f"/{temporary}" not in [target for _, target, _ in mounts]:
            steps += [f"mkdir -p {temporary}", f"mount -t tmpfs -o mode=1777,size=64m none {temporary}"]
    steps += ["mkdir -p proc", "mount -t proc proc proc", "mount -o remount,ro ."]
    steps.append(f"exec chroot --userspec={user}:{user} --groups= . {shlex.join(command)}")
    # The mount of the first step hides the directory, so the shell has to enter it anew.
    steps.insert(1, f"cd {shlex.quote(str(root))}")
    return [*UNSHARE, "sh", "-ec", f"cd {shlex.quote(str(root))}; " + "; ".join(steps)]


class MemoryGroup:
    """A control group with a limit. Raises OSError where none can be made."""

    def __init__(self, name: str, limit_bytes: int) -> None:
        unified = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
        self.seen_at = "/sys/fs/cgroup" if unified else "/sys/fs/cgroup/memory"
        self.path = Path(self.seen_at, name)
        self.path.mkdir()
        try:
            file = "memory.max" if unified else "memory.limit_in_bytes"
            (self.path / file).write_text(str(limit_bytes))
        except OSError:
            self.close()
            raise

    def close(self) -> None:
        """Removes it; its processes have ended."""
        self.path.rmdir()


def children(process: int) -> "list[int]":
    """Processes that it has started; none when it has ended."""
    try:
        return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def leftovers(runner: int) -> "list[int]":
    """What executions have left running below a runner, which has two forks of its own.

    One is for the next execution, the other is the template.
    """
    command = Path(f"/proc/{runner}/cmdline").read_bytes()
    left, forks = [], []
    for process in children(runner):
        try:
            forked = Path(f"/proc/{process}/cmdline").read_bytes() == command
        except OSError:
            continue  # it has ended
        (forks if forked else left).append(process)
    return left + forks[2:]


class Container:
    """One of the two processes."""

    def __init__(self, command: "list[str]", output: Path, isolated: bool) -> None:
        environment = {"PATH": os.environ["PATH"], "HOME": "/tmp", "KUBERNETES_SERVICE_HOST": "10.96.0.1"}
        with open(output, "ab") as file:
            self.process = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT, env=environment)
        self.output = output
        self._isolated = isolated

    @property
    def id(self) -> int:
        """The id of its first process, as seen from outside; waits until that has begun its own program."""
        if not self._isolated:
            return self.process.pid

        def first() -> int:
            for child in children(self.process.pid):
                if b"python" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0")[0]:
                    return child
            return 0

        return int(wait_until(first))

    def send(self, number: int) -> None:
        """Sends a signal, as the kubelet does."""
        os.kill(self.id, number)

    def kill(self) -> None:
        """Ends it, however far it has come."""
        if self.process.poll() is None:
            for process in [*children(self.process.pid), self.process.pid]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
        self.process.wait(WAIT_SECONDS)

    def ended(self, seconds: float = WAIT_SECONDS) -> int:
        """Waits for its end; its exit status."""
        status = self.process.wait(seconds)
        return 128 - status if status < 0 else status


class Pod(Jobs):
    """`start_sidecar` and `start_runner` start the containers, in any order; `close` ends them."""

    def __init__(self, directory: Path, isolated: bool, plane: "Optional[ControlPlane]" = None) -> None:
        super().__init__()
        self.isolated = isolated
        self.plane = plane or ControlPlane()
        self.directory = directory
        for name in ("link", "work", "sidecar", "bundle", "secret", "runner-root", "sidecar-root"):
            (directory / name).mkdir(parents=True)
        for name in ("link", "work", "sidecar", "bundle"):
            (directory / name).chmod(0o777)
        (directory / "secret/token").write_text("secret\n")
        (directory / "secret/token").chmod(0o444)
        self.link = directory / "link"
        self._containers: list[Container] = []

    def start(self) -> "Pod":
        """Starts both."""
        self.start_sidecar()
        self.start_runner()
        return self

    def start_sidecar(self) -> Container:
        """The container `sidecar`."""
        link, temporary, bundle, secret, code = self._seen(
            {"link": "/run/roost", "sidecar": "/tmp", "bundle": "/bundle", "secret": "/run/secrets/roost"},
            str(PACKAGE.parent),
        )
        # By name, as a Service has one.
        command = [interpreter()[1], "-I", "-B", f"{code}/roost_executor", "sidecar"]
        command += ["--url", f"http://localhost:{self.plane.port}", "--executor", "executor_1"]
        command += ["--token-file", f"{secret}/token", "--directory", f"{temporary}/roost"]
        command += ["--sockets", link, "--publish-code", f"{link}/code", "--bundle", bundle]
        mounts = [(self.link, link, False), (self.directory / "sidecar", temporary, False)]
        mounts.append((self.directory / "bundle", bundle, False))
        mounts += [(self.directory / "secret", secret, True), (PACKAGE.parent, code, True)]
        self.sidecar = self._run("sidecar", SIDECAR_USER, mounts, command)
        return self.sidecar

    def start_runner(self, memory: "Optional[MemoryGroup]" = None) -> Container:
        """The container `agent`, in this control group."""
        link, work, bundle, _ = self._seen({"link": "/run/roost", "work": "/work", "bundle": "/bundle"}, "")
        command = [interpreter()[1], "-I", "-B", "-c", BOOT, f"{link}/code"]
        command += ["runner", "--directory", work, "--sockets", link]
        if self.isolated:  # elsewhere they are everybody's
            command += ["--clean", "/tmp:/dev/shm:/dev/mqueue"]
        mounts = [(self.link, link, True), (self.directory / "work", work, False)]
        mounts.append((self.directory / "bundle", bundle, True))
        if memory is not None:
            mounts.append((memory.path, memory.seen_at, True))
        self.runner = self._run("runner", RUNNER_USER, mounts, command)
        if memory is not None:
            (memory.path / "cgroup.procs").write_text(str(self.runner.id))
        return self.runner

    def _seen(self, places: "dict[str, str]", code: str) -> "list[str]":
        """Where the process finds its directories."""
        if self.isolated:
            return [*places.values(), "/opt/roost/code"]
        return [*(str(self.directory / name) for name in places), code]

    def _run(self, name: str, user: int, mounts: Mounts, command: "list[str]") -> Container:
        if self.isolated:
            command = containerized(self.directory / f"{name}-root", user, mounts, command)
        container = Container(command, self.directory / f"{name}.out", self.isolated)
        self._containers.append(container)
        return container

    def frames_printed(self) -> "list[dict[str, object]]":
        """What the sidecar's log holds."""
        lines = self.sidecar.output.read_text().splitlines()
        return [json.loads(line)["frame"] for line in lines if line.startswith("{")]

    def close(self) -> None:
        """Ends both; nothing of them may be left."""
        for container in self._containers:
            container.kill()
        self.plane.stop()
        wait_until(lambda: not processes_of(self.directory))
