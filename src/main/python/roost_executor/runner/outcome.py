"""Why an execution ended, as the fields of its last frame."""

import os
import signal
from typing import Any

from roost_executor.files import read_system_file

MEBIBYTE = 1024 * 1024
# Of the control group of this container: version 2, version 1.
KILL_COUNTS = ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control")


def failed(
    reason: str, message: "str | None", state: str = "failed", error: "dict[str, Any] | None" = None
) -> "dict[str, Any]":
    """The fields of a `failed` frame; a `message` of None leaves the cause to the control plane."""
    return {"type": "failed", "state": state, "reason": reason, "message": message, "error": error}


def timed_out(seconds: float) -> "dict[str, Any]":
    """The time-out has passed."""
    return failed("deadline_exceeded", f"the script ran longer than its timeout of {seconds:g} s", "timed_out")


def cancelled() -> "dict[str, Any]":
    """Someone cancelled the job."""
    return failed("cancelled", "the execution was cancelled", "cancelled")


def pod_ended() -> "dict[str, Any]":
    """SIGTERM has reached the executor's pod, which doesn't learn why. Another executor tries the execution again."""
    return failed("executor_lost", None, "lost")


def not_started(error: OSError) -> "dict[str, Any]":
    """No process for the script. The execution is lost, so that another executor tries it."""
    return failed("executor_lost", f"the executor couldn't start the script's process: {error}", "lost")


def lost_with(execution_id: str) -> "dict[str, Any]":
    """Its process was killed because of another execution in it. It is lost, so that another process tries it."""
    return failed(
        "executor_lost",
        f"the process was ended because another execution in it, {execution_id}, did not stop when it was cancelled",
        "lost",
    )


def out_of_memory(used_bytes: int, limit_mib: int) -> "dict[str, Any]":
    """All processes of the script together use more than they may."""
    return failed(
        "out_of_memory",
        f"the script used {used_bytes // MEBIBYTE:,} MiB of memory; its limit is {limit_mib:,} MiB",
    )


def out_of_disk(used_bytes: int, limit_mib: int) -> "dict[str, Any]":
    """Working directory and temporary directory hold more than they may."""
    return failed(
        "out_of_disk",
        f"the script's working and temporary directories hold {used_bytes // MEBIBYTE:,} MiB; "
        f"their limit is {limit_mib:,} MiB",
    )


def too_many_processes(count: int, limit: int) -> "dict[str, Any]":
    """The script started more processes than it may."""
    return failed(
        "too_many_processes",
        f"the script had {count:,} processes at once; its limit is {limit:,}",
    )


def of_record(record: "dict[str, Any]", kernel_killed: bool, memory_mib: int) -> "dict[str, Any]":
    """From the record that the script's process sent at its end.

    `kernel_killed`: a process that it had started was killed because memory had run out, which explains
    the exception better than its own message.
    """
    if "value" in record:
        return {"type": "returned", "value": record["value"]}
    if "waits" in record:
        return {"type": "suspended", "waits": record["waits"], "all": record["all"]}
    message = record["message"]
    if kernel_killed and record["reason"] == "exception":
        return failed(
            "out_of_memory",
            f"the kernel killed a process of the script because memory had run out; the script's limit is "
            f"{memory_mib:,} MiB. The script then failed: {message}",
            error=record["error"],
        )
    if record["reason"] == "out_of_memory":
        message = f"{message} (the script's limit is {memory_mib:,} MiB)"
    return failed(record["reason"], message, error=record["error"])


def of_status(status: int, kernel_killed: bool, memory_mib: int) -> "dict[str, Any]":
    """The script's process ended without a word, with this wait status."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        if number == signal.SIGKILL and kernel_killed:
            return failed(
                "out_of_memory",
                f"the kernel killed the script because memory had run out; the script's limit is {memory_mib:,} MiB",
            )
        try:
            name = f" ({signal.Signals(number).name})"
        except ValueError:
            name = ""
        return failed("exited", f"the script's process was killed by signal {number}{name}")
    code = os.WEXITSTATUS(status)
    return failed("exited", f"the script's process ended with status {code} before main returned")


def kernel_kills() -> int:
    """How many processes of this control group the kernel has killed because memory had run out; 0 if unknown."""
    for path in KILL_COUNTS:
        try:
            content = read_system_file(path)
            for line in content.splitlines():
                name, _, count = line.partition(b" ")
                if name == b"oom_kill":
                    return int(count)
        except (OSError, ValueError):
            continue
    return 0
