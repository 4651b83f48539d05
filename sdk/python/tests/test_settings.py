from __future__ import annotations

import traceback
from pathlib import Path

import httpx
import pytest
from support import KEY, URL

import roost
from roost._settings import resolve
from roost._sync._client import default_client


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "roost" / "api_key"
    path.parent.mkdir()
    path.write_text("from-file\n", encoding="utf-8")
    return path


def test_the_nearest_key_wins(monkeypatch: pytest.MonkeyPatch, key_file: Path) -> None:
    assert resolve().api_key == "from-file"
    monkeypatch.setenv("ROOST_API_KEY", "from-environment")
    assert resolve().api_key == "from-environment"
    monkeypatch.setattr(roost, "api_key", "from-module")
    assert resolve().api_key == "from-module"
    assert resolve("explicit").api_key == "explicit"


def test_the_nearest_url_wins(monkeypatch: pytest.MonkeyPatch, key_file: Path) -> None:
    assert resolve("k").base_url == "http://127.0.0.1:8080"
    monkeypatch.setenv("ROOST_URL", "http://environment/")
    assert resolve("k").base_url == "http://environment"
    monkeypatch.setattr(roost, "base_url", "http://module/v1/")
    assert resolve("k").base_url == "http://module"
    assert resolve("k", "https://explicit/roost").base_url == "https://explicit/roost"


def test_the_port_of_the_server_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROOST_PORT", "18080")
    assert resolve("k").base_url == "http://127.0.0.1:18080"
    monkeypatch.setenv("ROOST_URL", "http://environment")
    assert resolve("k").base_url == "http://environment"


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1", "٣"])
def test_a_port_that_cannot_be_one_is_refused(monkeypatch: pytest.MonkeyPatch, port: str) -> None:
    monkeypatch.setenv("ROOST_PORT", port)
    with pytest.raises(ValueError, match="ROOST_PORT must be a port"):
        resolve("k")


@pytest.mark.parametrize("key", ["", " \n"])
def test_an_empty_key_is_not_the_key_of_this_machine(
    monkeypatch: pytest.MonkeyPatch, key_file: Path, key: str
) -> None:
    with pytest.raises(roost.AuthenticationError, match="api_key is empty"):
        roost.Client(api_key=key)
    monkeypatch.setattr(roost, "api_key", key)
    with pytest.raises(roost.AuthenticationError, match=r"roost\.api_key is empty"):
        roost.Client()


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080", "http://[::1]", "http://localhost:1"])
def test_the_key_file_is_for_this_machine(key_file: Path, url: str) -> None:
    assert resolve(base_url=url).api_key == "from-file"


@pytest.mark.parametrize("url", ["http://roost.example", "http://10.0.0.1", "http://127.example"])
def test_the_key_file_is_for_no_other_machine(key_file: Path, url: str) -> None:
    with pytest.raises(roost.AuthenticationError, match="ROOST_API_KEY"):
        resolve(base_url=url)


def test_a_missing_key_names_the_ways_to_give_one(tmp_path: Path) -> None:
    with pytest.raises(roost.AuthenticationError) as raised:
        roost.Agent.list()
    message = str(raised.value)
    for way in ("roost.api_key", "ROOST_API_KEY", "api_key=", str(tmp_path / "roost" / "api_key")):
        assert way in message


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "clé"])
def test_a_key_that_cannot_be_one_is_not_shown(key: str) -> None:
    with pytest.raises(roost.AuthenticationError) as raised:
        roost.Client(key)
    assert key not in "".join(traceback.format_exception(None, raised.value, None))


@pytest.mark.parametrize("url", ["roost.example", "ftp://roost", "http://u:p@roost", "http://"])
def test_a_url_that_cannot_be_one_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="base URL"):
        roost.Client("k", url)


def test_a_changed_key_takes_effect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roost, "api_key", "one")
    first = default_client()
    assert default_client() is first
    monkeypatch.setattr(roost, "api_key", "two")
    second = default_client()
    assert second is not first
    monkeypatch.setattr(roost, "base_url", "http://127.0.0.1:9")
    assert default_client().base_url == "http://127.0.0.1:9"
    assert default_client() is not second


def test_the_key_is_in_no_repr_and_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        assert request.headers["Authorization"] == f"Bearer {KEY}"
        raise httpx.LocalProtocolError("no")

    monkeypatch.setenv("ROOST_API_KEY", KEY)
    http = httpx.Client(transport=httpx.MockTransport(refuse))
    client = roost.Client(base_url=URL, http_client=http)
    with pytest.raises(roost.APIConnectionError) as raised:
        client.runtime()
    shown = "".join(
        traceback.TracebackException.from_exception(raised.value, capture_locals=True).format()
    )
    assert KEY not in shown
    assert KEY not in repr(client) + repr(vars(client)) + repr(vars(client._transport))
    assert KEY not in repr(resolve())


def test_a_new_key_is_shown_by_its_field_alone() -> None:
    key = roost.Key(None, {"id": "key_1", "name": "ci", "role": "read", "key": KEY})
    assert key.key == KEY
    assert KEY not in repr(key) + str(key)


def test_no_proxy_is_used_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.invalid:1")
    with roost.Client("k") as client:
        assert not client._transport._http._mounts
    with roost.Client("k", URL) as client:
        assert client._transport._http._mounts
