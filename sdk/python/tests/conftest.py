from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from store_server import StoreServer
from support import Server

import roost
from roost._sync import _client


@pytest.fixture(autouse=True)
def _no_settings_from_outside(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if "live" in request.path.parts:
        return
    for name in ("ROOST_API_KEY", "ROOST_URL", "ROOST_PORT", "ROOST_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("ROOST_DATA", str(tmp_path / "roost"))
    monkeypatch.setattr(roost, "api_key", None)
    monkeypatch.setattr(roost, "base_url", None)
    monkeypatch.setattr(roost, "progress", False)
    monkeypatch.setattr(_client._default, "_current", None)


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    with server.client:
        yield server


@pytest.fixture
def stored() -> Iterator[StoreServer]:
    server = StoreServer()
    with server.client:
        yield server


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"
