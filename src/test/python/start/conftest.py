"""What the tests of the start share."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def pytest_configure(config: pytest.Config) -> None:
    """Makes the marker known when these tests run alone."""
    config.addinivalue_line("markers", "slow: takes more than ten seconds")
