import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).resolve().parents[1])]

from executor import Executor, wait_until  # noqa: E402
from pod import MemoryGroup, Pod, why_no_containers  # noqa: E402


def pytest_configure(config: Any) -> None:
    config.addinivalue_line("markers", "slow: takes more than ten seconds")


@pytest.fixture
def make_executor(tmp_path: Path) -> "Iterator[Callable[..., Executor]]":
    made: list[Executor] = []

    def make(**arguments: Any) -> Executor:
        made.append(Executor(tmp_path / f"executor{len(made)}", **arguments))
        return made[-1]

    yield make
    for executor in made:
        executor.close()


@pytest.fixture
def executor(make_executor: "Callable[..., Executor]") -> Executor:
    return make_executor()


@pytest.fixture(params=["containers", "processes"])
def make_pod(request: Any, tmp_path: Path) -> "Iterator[Callable[[], Pod]]":
    isolated = request.param == "containers"
    if isolated and why_no_containers():
        pytest.skip(why_no_containers())
    with contextlib.ExitStack() as ends:

        def make() -> Pod:
            pod = Pod(tmp_path / "pod", isolated)
            ends.callback(pod.close)
            return pod

        yield make


@pytest.fixture
def pod(make_pod: Callable[[], Pod]) -> Pod:
    return make_pod().start()


@pytest.fixture
def memory() -> "Iterator[MemoryGroup]":
    try:
        group = MemoryGroup(f"roost-test-{os.getpid()}", 120 << 20)
    except OSError as error:
        pytest.skip(f"no control group can be created: {error}")
    yield group
    wait_until(lambda: not (group.path / "cgroup.procs").read_text())
    group.close()
