"""What an import may leave in a process that its forks would lack, or share by mistake."""

import os
import resource
import signal
import threading
import time
import warnings
from typing import Any, NamedTuple

from roost_executor.linux import flush_c_streams
from roost_executor.processes import children, resident_bytes
from roost_executor.script.output import flush_streams
from roost_executor.script.randomness import numpy_generators

MEBIBYTE = 1024 * 1024
# A thread that has ended is listed for a moment longer.
THREAD_END_SECONDS = 0.1
LIMITS = tuple(name for name in dir(resource) if name.startswith("RLIMIT_"))
TIMERS = (signal.ITIMER_REAL, signal.ITIMER_VIRTUAL, signal.ITIMER_PROF)
SIGNAL_MASKS = (b"SigBlk:", b"SigIgn:", b"SigCgt:")
# Not those that the C library reserves for its threads.
SIGNALS = sum(1 << (number - 1) for number in signal.valid_signals())


class ProcessState(NamedTuple):
    """What of a process is compared before and after an import."""

    threads: int
    processes: "list[int]"
    printed_bytes: int
    descriptors: "dict[int, str]"
    signals: "tuple[Any, ...]"
    limits: "list[tuple[int, int]]"
    timers: "tuple[Any, ...]"
    directory: str
    umask: int
    generators: int


def process_state(outputs: "tuple[int, ...]") -> ProcessState:
    """The state of this process. `outputs`: the files that it prints to.

    Threads are counted after a fork has been tried: OpenBLAS, for one, ends its threads before a fork, and starts
    them again when they are needed.
    """
    _try_fork()
    flush_streams()
    flush_c_streams()
    return ProcessState(
        threads=_threads(),
        processes=children(os.getpid()),
        printed_bytes=sum(os.fstat(descriptor).st_size for descriptor in outputs),
        descriptors=_descriptors(),
        signals=(*(signal.getsignal(number) for number in sorted(signal.valid_signals())), *_signal_masks()),
        limits=[resource.getrlimit(getattr(resource, name)) for name in LIMITS],
        timers=(*(signal.getitimer(timer)[0] > 0 for timer in TIMERS), _posix_timers()),
        directory=os.getcwd(),
        umask=_umask(),
        generators=numpy_generators(),
    )


def why_unsafe(before: ProcessState, after: ProcessState, memory_mib: int) -> "str | None":
    """Why executions must not be forked from a process with the state `after`; None if they may be.

    `memory_mib`: what this process may use, as the script may.
    """
    if after.threads > before.threads:
        names = [thread.name for thread in threading.enumerate() if thread is not threading.main_thread()]
        return f"starts a thread ({', '.join(names[:3])})" if names else "starts a thread"
    if after.processes != before.processes:
        return "starts a process"
    if after.printed_bytes != before.printed_bytes:
        return "prints when it is imported"
    if after.descriptors != before.descriptors:
        changed = dict(set(after.descriptors.items()) ^ set(before.descriptors.items()))
        return f"opens or closes a file descriptor ({', '.join(sorted(set(changed.values()))[:3])})"
    if after.signals != before.signals:
        return "changes a signal handler"
    if after.limits != before.limits:
        return "changes a resource limit"
    if after.timers != before.timers:
        return "starts a timer"
    if after.directory != before.directory:
        return "changes the working directory"
    if after.umask != before.umask:
        return "changes the umask"
    if after.generators != before.generators:
        return "creates a generator of random numbers of NumPy's"
    used_mib = resident_bytes([os.getpid()]) // MEBIBYTE
    if used_mib > memory_mib:
        return f"needs more memory than the agent has ({used_mib:,} MiB of {memory_mib:,} MiB)"
    return None


def _try_fork() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python 3.12 and later warn of threads
        process = os.fork()
    if process == 0:
        os._exit(0)
    os.waitpid(process, 0)


def _threads() -> int:
    """How many threads this process has, apart from those that are just ending."""
    end = time.monotonic() + THREAD_END_SECONDS
    while True:
        count = len(os.listdir("/proc/self/task"))
        if count == 1 or time.monotonic() > end:
            return count
        time.sleep(0.001)


def _descriptors() -> "dict[int, str]":
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue  # the listing's own
    return found


def _signal_masks() -> "list[int]":
    """Those that C code has set, too."""
    with open("/proc/self/status", "rb") as file:
        return [int(line.split()[1], 16) & SIGNALS for line in file if line.startswith(SIGNAL_MASKS)]


def _posix_timers() -> bytes:
    try:
        with open("/proc/self/timers", "rb") as file:
            return file.read()
    except OSError:
        return b""  # a kernel that doesn't list them


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
