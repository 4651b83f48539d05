"""Waiting for the end of a child."""

import os
import signal
import sys

import pytest
from executor import PACKAGE

sys.path.insert(0, str(PACKAGE.parent))

from roost_executor import processes  # noqa: E402


@pytest.fixture(params=["pidfd", "polling"])
def _way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on every kernel, and as on one that doesn't tell of a child's end."""
    if request.param == "polling":
        monkeypatch.delattr(os, "pidfd_open", raising=False)


@pytest.mark.usefixtures("_way")
def test_a_child_that_is_killed_is_reaped_with_its_status() -> None:
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(1)
    os.kill(child, signal.SIGKILL)
    [(process, status, cpu_seconds, peak_bytes)] = processes.reap_one(child)
    assert (process, os.WTERMSIG(status)) == (child, signal.SIGKILL)
    assert cpu_seconds >= 0
    assert peak_bytes > 0


@pytest.mark.usefixtures("_way")
def test_a_child_that_ends_on_its_own_is_waited_for() -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(writer)
        os.read(reader, 1)  # until the test closes its end
        os._exit(3)
    os.close(reader)
    os.close(writer)
    [(process, status, _, _)] = processes.reap_one(child)
    assert (process, os.waitstatus_to_exitcode(status)) == (child, 3)
    assert processes.reap_one(child) == []  # no more a child


@pytest.mark.usefixtures("_way")
def test_a_child_that_does_not_end_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "REAP_LIMIT_SECONDS", 0.05)
    child = os.fork()
    if child == 0:
        signal.pause()
        os._exit(1)
    assert processes.reap_one(child) == []
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
