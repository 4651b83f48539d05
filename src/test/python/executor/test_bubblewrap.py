"""The command line that starts the runner in bubblewrap."""

import sys
from pathlib import Path

from executor import PACKAGE

sys.path.insert(0, str(PACKAGE.parent))

from roost_executor import bubblewrap  # noqa: E402


def test_what_is_private_is_hidden_but_for_what_the_runner_needs(tmp_path: Path) -> None:
    data, key = tmp_path / "data", tmp_path / "key"
    (data / "executors/one").mkdir(parents=True)
    key.write_text("secret")
    link = ("/data/executors/one/tmp", "/tmp/roost-1")
    line = bubblewrap.command(
        "/usr/bin/bwrap",
        private=[str(data), str(key), str(tmp_path / "missing")],
        writable=[str(data / "executors/one")],
        readable=[str(data / "builds/mine"), "/usr"],
        links=[link, ("/x", "/var/tmp/roost-2")],
    )
    assert line == [
        "/usr/bin/bwrap",
        *("--die-with-parent", "--unshare-pid", "--unshare-ipc", "--ro-bind", "/", "/"),
        *("--dev", "/dev", "--mqueue", "/dev/mqueue", "--proc", "/proc", "--tmpfs", "/tmp"),
        *("--tmpfs", str(data), "--ro-bind", "/dev/null", str(key)),
        *("--ro-bind-try", str(data / "builds/mine"), str(data / "builds/mine")),
        *("--bind-try", str(data / "executors/one"), str(data / "executors/one")),
        *("--symlink", *link, "--"),
    ]


def test_the_control_group_is_joined_outside() -> None:
    line = bubblewrap.command("/usr/bin/bwrap", group="/sys/fs/cgroup/pids/roost/cgroup.procs")
    assert line[:5] == ["/bin/sh", "-c", bubblewrap.JOIN, "/sys/fs/cgroup/pids/roost/cgroup.procs", "/usr/bin/bwrap"]
