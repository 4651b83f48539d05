import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from executor import Executor  # noqa: E402


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
