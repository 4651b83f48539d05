"""A Roost for these tests: that of ROOST_TEST_URL and ROOST_TEST_API_KEY, or one from the package ROOST_TEST_JAR.

The fuzz changes and deletes whatever it finds there.
"""

import json
import os
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from server import server  # noqa: E402


class Live(NamedTuple):
    url: str
    key: str


@pytest.fixture(scope="session")
def live() -> Iterator[Live]:
    if "ROOST_TEST_URL" in os.environ:
        yield Live(os.environ["ROOST_TEST_URL"], os.environ["ROOST_TEST_API_KEY"])
    elif "ROOST_TEST_JAR" in os.environ:
        with server(Path(os.environ["ROOST_TEST_JAR"]).resolve(), ROOST_LOCAL_MAX_EXECUTORS="2") as (url, key):
            yield Live(url, key)
    else:
        pytest.skip("ROOST_TEST_URL or ROOST_TEST_JAR says which Roost")


@pytest.fixture(scope="session")
def document(live: Live) -> "dict[str, Any]":
    with urllib.request.urlopen(f"{live.url}/openapi?format=json", timeout=120) as answer:
        return json.load(answer)
