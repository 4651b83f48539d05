"""Confines the processes of a script, or of a build, on a machine that they share with Roost.

Landlock, a Linux security module that needs neither root nor namespaces, leaves them the files that they need, and
nothing of other processes: no memory, no environment, no signals. A seccomp filter refuses system calls that no
script needs and that kernel exploits start from. Capabilities, which only root has, are dropped. What a process is
confined to holds for all that it starts.

What the kernel lacks isn't confined: signals and abstract Unix sockets before Linux 6.12 (ABI 6). Unix sockets in the
file system never are. The network isn't unless it is turned off, or limited to ports of TCP (ABI 4): Landlock knows no
addresses.

`python -m roost_executor probe` prints as JSON what works on this machine.
"""

import contextlib
import ctypes
import errno
import json
import os
import stat
import struct
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Optional

from roost_executor import PACKAGE_DIRECTORY, bubblewrap, namespaces, seccomp, tasks
from roost_executor.seccomp import filters_calls
from roost_executor.temporary import TEMPORARY

_library = ctypes.CDLL(None, use_errno=True)

# Numbers of system calls; these are the same on every architecture.
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION_FLAG = 1
RULE_PATH, RULE_PORT = 1, 2
LOG_OFF = 1  # from ABI 7 on; a script could flood the kernel's log with what it is refused

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
MAKE_CHAR, MAKE_BLOCK = 1 << 6, 1 << 11
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
FIRST_RIGHTS = (1 << 13) - 1
SINCE = ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEV))
FOR_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV
READ = EXECUTE | READ_FILE | READ_DIR
CONNECT_TCP = 1 << 1
SCOPE_ABSTRACT_SOCKETS, SCOPE_SIGNALS = 1 << 0, 1 << 1
PORTS_SINCE = 4
SCOPES_SINCE = 6
LOG_OFF_SINCE = 7

READABLE = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix/store", "/gnu/store", "/proc"),
    *("/run/current-system", "/var/lib/ca-certificates", "/etc/resolv.conf", "/etc/hosts", "/etc/localtime"),
    *("/run/systemd/resolve", "/run/resolvconf"),  # directories, since the file is replaced when networks change
    *("/sys/devices", "/sys/class", "/sys/bus", "/sys/fs/cgroup", "/sys/kernel/mm"),
)
WRITABLE = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/shm")
# Root could read these.
PRIVATE = (
    *("/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d", "/etc/ssh"),
    *("/etc/ssl/private", "/etc/pki/tls/private", "/etc/kubernetes", "/etc/rancher"),
)
CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")

PR_CAPBSET_DROP, PR_SET_NO_NEW_PRIVS = 24, 38
CAPABILITY_VERSION = 0x20080522
# chown, dac_override, fowner, fsetid, kill, setgid, setuid, net_bind_service: those of an ordinary process of root.
KEPT_CAPABILITIES = sum(1 << number for number in (0, 1, 3, 4, 5, 6, 7, 10))
SETPCAP, CAPABILITIES = 8, 64

# How often the files of the system are looked at: one that was replaced needs a new rule.
CHECK_SECONDS = 1.0

_home = os.path.expanduser("~")
_set_up: "Optional[SetUp]" = None  # None: nothing is confined
_prepared: "Optional[Ruleset]" = None

# Device and inode of each path, or None.
Files = tuple[Optional[tuple[int, int]], ...]


class CannotConfine(OSError):
    """This process can't be confined as asked for; it must exit."""


class SetUp(NamedTuple):
    """Paths that every confined process gets, found once, before any of them can have a say in it."""

    readable: "list[str]"
    writable: "list[str]"
    network: bool
    ports: "Optional[list[int]]"
    tasks: "Optional[int]"
    # Whether the bounding set of capabilities was limited then, which every process started later inherits.
    bounded: bool


class Access(NamedTuple):
    """Paths that one process gets besides those of the `SetUp`."""

    readable: "tuple[str, ...]"
    writable: "tuple[str, ...]"


class Ruleset(NamedTuple):
    """What `access` allows, as the kernel takes it. Whoever holds the descriptor can allow more."""

    access: Access
    descriptor: int
    # What the paths led to, of `access` and of the `SetUp`: the kernel remembers files, not names.
    files: Files
    common_files: Files
    # When the latter were looked at; in seconds of time.monotonic.
    checked_at: float


def set_up(text: str = "{}", runner: bool = False) -> "tuple[str, ...]":
    """From now on `confine` works as the option `--sandbox` says, a JSON object.

    `readable` and `writable`: further paths; `private`: directories that stay out of reach even where a readable
    one holds them; `network`: false for none, also not this machine's own; `ports`: null, or those of TCP that alone
    can be connected to, at whatever address; `processes`: null, or how many may be started (see `tasks.py`).
    `bubblewrap`: the program that the runner was started by. `shared_memory_mib`: how much it gets of its own, where it
    can enter namespaces. Both are for a `runner`; returned are the directories that it has then for itself alone.
    """
    global _set_up  # noqa: PLW0603 - one process, one setting, which every fork inherits
    options = json.loads(text)
    private = [os.path.realpath(path) for path in options.get("private", ())]
    if os.geteuid() == 0:
        private += PRIVATE
    certificates = [os.environ[name] for name in CERTIFICATES if os.environ.get(name)]
    given = {os.path.realpath(path) for path in (*READABLE, *certificates, *options.get("readable", ()))}
    readable = [part for path in given for part in _without(path, private)]
    own: tuple[str, ...] = ()
    if runner and options.get("bubblewrap"):
        own = bubblewrap.OWN
    elif runner and options.get("shared_memory_mib"):
        own = namespaces.enter(options["shared_memory_mib"])
    given = {os.path.realpath(path) for path in (*own, *options.get("writable", ()))}
    writable = [part for path in given for part in _without(path, private)]
    network = bool(options.get("network", True))
    most = tasks.limit_for(options["processes"]) if options.get("processes") else None
    readable += _interpreter_paths()
    if runner:
        _limit_bounding_set()
        if filters_calls():
            seccomp.instructions_for(network, options.get("ports") is not None)  # kept, for all executions
    _set_up = SetUp(readable, [*WRITABLE, *writable], network, options.get("ports"), most, bounded=runner)
    return own


def prepare_script(readable: "tuple[str, ...]", directory: str, variables: "Mapping[str, str]") -> bool:
    """Makes what `confine_script` needs in forks of this process that set `variables`, unless it is there.

    Adding a rule for each path costs more than the fork itself; with this, only the first execution pays for it.
    Returns whether it was there, so that a fork made since the last call is confined to what the paths lead to now.
    """
    global _prepared  # noqa: PLW0603 - inherited by every fork
    if _set_up is None:
        return True
    access = _access(readable, directory, _temporary({**os.environ, **variables}))
    files = _files(access.readable, access.writable)
    now = time.monotonic()
    if _prepared is not None and (_prepared.access, _prepared.files) == (access, files):
        if now - _prepared.checked_at < CHECK_SECONDS:
            return True
        if _prepared.common_files == _files(_set_up.readable, _set_up.writable):
            _prepared = _prepared._replace(checked_at=now)
            return True
    if _prepared is not None:
        os.close(_prepared.descriptor)
        _prepared = None
    with contextlib.suppress(CannotConfine):  # the fork says so
        common_files = _files(_set_up.readable, _set_up.writable)
        _prepared = Ruleset(access, _ruleset(access), files, common_files, now)
    return False


def confine_script(readable: "tuple[str, ...]", directory: str) -> None:
    """Confines this process, which is about to run a script in a directory within `directory`.

    `readable`: the directories of the script. Does nothing unless that was set up. Raises CannotConfine.
    """
    if _set_up is None:
        return
    temporary = _temporary(os.environ)
    access = _access(readable, directory, temporary)
    if not any(_is_in(temporary, place) for place in (*access.writable, *_set_up.writable)):
        os.environ["TMPDIR"] = directory
    if os.environ.get("HOME") == _home:
        os.environ["HOME"] = directory
    if _set_up.ports is not None:
        os.environ["RES_OPTIONS"] = "use-vc"  # names are looked up over TCP: resolv.conf(5)
    confine(*access)


def _temporary(variables: "Mapping[str, str]") -> str:
    return os.path.realpath(variables.get("TMPDIR", "/tmp"))


def _access(readable: "tuple[str, ...]", directory: str, temporary: str) -> Access:
    """What the script gets that runs with this temporary directory."""
    places = [directory]
    if temporary == os.path.join(os.path.dirname(directory), TEMPORARY):
        places.append(temporary)  # the runner has made it for its executions
    return Access((PACKAGE_DIRECTORY, *readable), tuple(places))


def use_directory(directory: str) -> None:
    """Makes an execution's own directory what `confine_script` has put into `TMPDIR` and `HOME`, if it has."""
    for name in ("TMPDIR", "HOME"):
        if _set_up is not None and os.environ.get(name) == os.path.dirname(directory):
            os.environ[name] = directory


def confine(readable: "Iterable[str]", writable: "Iterable[str]") -> None:
    """Confines this thread, and all that it starts, to these paths besides those that were set up.

    Raises CannotConfine when Landlock isn't there.
    """
    abi = landlock_abi()
    if abi < 1 or _set_up is None:
        raise CannotConfine(errno.EOPNOTSUPP, why_no_landlock())
    if _set_up.tasks is not None:
        tasks.bound(_set_up.tasks)
    ruleset = _take_ruleset(Access(tuple(readable), tuple(writable)))
    try:
        if not _set_up.bounded:
            _limit_bounding_set()
        _drop_capabilities()
        if _library.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
            raise CannotConfine(ctypes.get_errno(), "no_new_privs can't be set")
        _call(RESTRICT_SELF, ruleset, LOG_OFF if abi >= LOG_OFF_SINCE else 0)
    finally:
        os.close(ruleset)
    if filters_calls():
        error = seccomp.install(_set_up.network, _set_up.ports is not None)
        if error is not None:
            raise CannotConfine(error, "the filter of system calls can't be installed")


def _take_ruleset(access: Access) -> int:
    """The prepared ruleset if it is for this access, else a new one. The caller closes it: no script may have it."""
    global _prepared  # noqa: PLW0603 - see `prepare_script`
    prepared, _prepared = _prepared, None
    if prepared is not None:
        if prepared.access == access:
            return prepared.descriptor
        os.close(prepared.descriptor)
    return _ruleset(access)


def _ruleset(access: Access) -> int:
    """A new ruleset, as a descriptor. Raises CannotConfine."""
    abi = landlock_abi()
    if abi < 1 or _set_up is None:
        raise CannotConfine(errno.EOPNOTSUPP, why_no_landlock())
    limited = not _set_up.network or _set_up.ports is not None
    if limited and not filters_calls():
        raise CannotConfine(errno.EOPNOTSUPP, "there is no filter of system calls for this processor")
    if _set_up.ports is not None and abi < PORTS_SINCE:
        raise CannotConfine(errno.EOPNOTSUPP, "Landlock knows no ports before Linux 6.7")
    rights = _rights(abi)
    ruleset = _create_ruleset(abi, rights, _set_up.ports is not None)
    try:
        for path in (*_set_up.readable, *access.readable):
            _allow(ruleset, path, READ)
        for path in (*_set_up.writable, *access.writable):
            _allow(ruleset, path, rights & ~(MAKE_CHAR | MAKE_BLOCK))
        for port in _set_up.ports or ():
            _call(ADD_RULE, ruleset, RULE_PORT, struct.pack("=QQ", CONNECT_TCP, port), 0)
    except BaseException:
        os.close(ruleset)
        raise
    return ruleset


def _files(readable: "Iterable[str]", writable: "Iterable[str]") -> Files:
    """What the paths lead to. A ruleset holds its files, so no other file gets the same numbers meanwhile."""
    return tuple(map(_file, (*readable, *writable)))


def _file(path: str) -> "Optional[tuple[int, int]]":
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def landlock_abi() -> int:
    """The version of Landlock's interface; 0 where there is none."""
    return max(0, _library.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION_FLAG))


def why_no_landlock() -> str:
    """For people; right after `landlock_abi` has returned 0."""
    if _library.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), VERSION_FLAG) >= 0:
        return ""
    if ctypes.get_errno() == errno.EOPNOTSUPP:
        return "Landlock is turned off on this machine: its kernel was started without it (lsm=landlock,…)"
    return "this kernel has no Landlock, which came with Linux 5.13"


def _interpreter_paths() -> "list[str]":
    """Where this interpreter and its packages are, its virtual environment's included."""
    home = os.path.realpath(_home)
    paths = [os.path.dirname(os.__file__), os.path.realpath(sys.executable)]
    for prefix in {sys.prefix, sys.exec_prefix, sys.base_prefix, sys.base_exec_prefix}:
        path = os.path.realpath(prefix)
        if _is_in(home, path):  # a directory that holds much besides
            paths += [os.path.join(path, name) for name in ("bin", "lib", "lib64", "include")]
        else:
            paths.append(path)
    return paths


def _is_in(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def _without(path: str, private: "list[str]") -> "Iterator[str]":
    """`path`, or, when it holds something private, all that is in it but that."""
    inside = [one for one in private if _is_in(one, path)]
    if not inside:
        if not any(_is_in(path, one) for one in private):
            yield path
        return
    with contextlib.suppress(OSError), os.scandir(path) as entries:
        for entry in entries:
            # What a link leads to is allowed where that is.
            if entry.path not in inside and not entry.is_symlink():
                yield from _without(entry.path, inside)


def _rights(abi: int) -> int:
    """All rights that this version knows."""
    rights = FIRST_RIGHTS
    for since, right in SINCE:
        if abi >= since:
            rights |= right
    return rights


def _create_ruleset(abi: int, rights: int, ports: bool) -> int:
    scopes = SCOPE_ABSTRACT_SOCKETS | SCOPE_SIGNALS if abi >= SCOPES_SINCE else 0
    attributes = struct.pack("=QQQ", rights, CONNECT_TCP if ports else 0, scopes)
    return _call(CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)


def _allow(ruleset: int, path: str, rights: int) -> None:
    """What isn't there isn't allowed, and isn't missed."""
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= FOR_FILES
        _call(ADD_RULE, ruleset, RULE_PATH, struct.pack("=Qi", rights, descriptor), 0)
    finally:
        os.close(descriptor)


def _call(number: int, *arguments: Any) -> int:
    result: int = _library.syscall(number, *arguments)
    if result < 0:
        error = ctypes.get_errno()
        raise CannotConfine(error, f"Landlock: {os.strerror(error)}")
    return result


def _limit_bounding_set() -> None:
    """What root's programs can gain from now on is what root keeps; others have no say in it."""
    if _capabilities()[0] & 1 << SETPCAP:
        for number in range(CAPABILITIES):
            if not KEPT_CAPABILITIES >> number & 1:
                _library.prctl(PR_CAPBSET_DROP, number, 0, 0, 0)


def _drop_capabilities() -> None:
    """Root keeps what concerns files and users, and loses what reaches devices, the kernel, other processes."""
    effective, permitted = _capabilities()
    if permitted & ~KEPT_CAPABILITIES:
        header = struct.pack("=Ii", CAPABILITY_VERSION, 0)
        kept = struct.pack("=6I", effective & KEPT_CAPABILITIES, permitted & KEPT_CAPABILITIES, 0, 0, 0, 0)
        if _library.capset(header, kept):
            raise CannotConfine(ctypes.get_errno(), "the capabilities can't be dropped")


def _capabilities() -> "tuple[int, int]":
    """This thread's effective and permitted ones, as bits."""
    data = ctypes.create_string_buffer(24)
    if _library.capget(struct.pack("=Ii", CAPABILITY_VERSION, 0), data):
        return 0, 0
    low = struct.unpack("=6I", data.raw)
    return low[0] | low[3] << 32, low[1] | low[4] << 32
