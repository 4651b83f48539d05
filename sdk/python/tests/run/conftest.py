from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from roost._run import builds
from roost._run.interpreters import Interpreter
from roost._run.stores import Stores


@pytest.fixture(scope="session")
def variables(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """This process's environment, with a separate cache."""
    return {**os.environ, "XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}


@pytest.fixture(scope="session")
def environment(variables: Mapping[str, str]) -> Path:
    """An environment without packages, of the Python that runs the tests."""
    version = "{}.{}.{}".format(*sys.version_info[:3])
    name = "python{}.{}".format(*sys.version_info[:2])
    interpreter = Interpreter(version, Path(sys.base_prefix, "bin", name).resolve())
    place = builds.place_of(interpreter, [], variables)
    said: list[str] = []
    uv = builds.find_uv(variables)
    assert uv is not None
    builds.build(place, interpreter, [], uv, variables, said.append)
    assert builds.is_built(place), said
    return place


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[Stores]:
    stores = Stores(tmp_path / ".roost/stores.db")
    yield stores
    stores.close()
