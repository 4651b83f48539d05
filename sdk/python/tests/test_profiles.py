from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import roost
from roost import _profiles
from roost._settings import resolve

REMOTE = "https://roost.example"


def test_what_is_saved_is_loaded() -> None:
    assert _profiles.load() == {}
    odd = 'quote " backslash \\ é \x7f'
    _profiles.save("default", REMOTE, "key-1")
    _profiles.save("other", "http://127.0.0.1:1", odd)
    loaded = _profiles.load()
    assert [*loaded] == ["default", "other"]
    assert (loaded["default"].url, loaded["default"].api_key) == (REMOTE, "key-1")
    assert loaded["other"].api_key == odd
    assert "key-1" not in repr(loaded)


def test_nobody_else_can_read_the_file() -> None:
    path = _profiles.config_path()
    path.parent.mkdir(parents=True)
    path.write_text("", encoding="utf-8")
    path.chmod(0o644)
    assert _profiles.save("default", REMOTE, "key") == path
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["config.toml"]


def test_the_rest_of_the_file_stays() -> None:
    path = _profiles.config_path()
    path.parent.mkdir(parents=True)
    before = '# mine\n[theme]\ndark = true\n\n[profiles.a]\nurl = "http://a"\napi_key = "a"\n'
    path.write_text(before + '\n[profiles.b]\nurl = "http://b"\n', encoding="utf-8")
    _profiles.save("a", "http://new", "new")
    text = path.read_text(encoding="utf-8")
    assert text.startswith("# mine\n[theme]\ndark = true\n")
    assert {name: each.url for name, each in _profiles.load().items()} == {
        "a": "http://new",
        "b": "http://b",
    }
    assert _profiles.remove("a")
    assert not _profiles.remove("a")
    assert [*_profiles.load()] == ["b"]
    assert "dark = true" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "text",
    ["not toml", "profiles = 3", "[profiles]\ndefault = 3", "[profiles.a]\nurl = 3"],
)
def test_a_file_that_is_not_one_is_named(text: str) -> None:
    path = _profiles.config_path()
    path.parent.mkdir(parents=True)
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"config\.toml"):
        _profiles.load()
    with pytest.raises(roost.AuthenticationError, match=r"config\.toml"):
        resolve()


def test_a_profile_in_a_form_that_cannot_be_replaced_is_left_alone() -> None:
    path = _profiles.config_path()
    path.parent.mkdir(parents=True)
    text = 'profiles = { a = { url = "http://a" } }\n'
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"config\.toml"):
        _profiles.save("a", "http://b", "b")
    with pytest.raises(ValueError, match="edited automatically"):
        _profiles.remove("a")
    assert path.read_text(encoding="utf-8") == text


def test_a_name_that_would_need_quotes_is_refused() -> None:
    with pytest.raises(ValueError, match="letters"):
        _profiles.save("a b", REMOTE, "key")


def test_the_default_profile_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    _profiles.save("default", REMOTE + "/v1/", "from-profile")
    _profiles.save("other", "http://other", "from-other")
    assert (resolve().base_url, resolve().api_key) == (REMOTE, "from-profile")
    assert "default" in resolve().key_source
    monkeypatch.setenv("ROOST_PROFILE", "other")
    assert (resolve().base_url, resolve().api_key) == ("http://other", "from-other")
    monkeypatch.setenv("ROOST_API_KEY", "from-environment")
    assert (resolve().base_url, resolve().api_key) == ("http://other", "from-environment")
    monkeypatch.setenv("ROOST_PROFILE", "absent")
    with pytest.raises(roost.AuthenticationError, match="absent"):
        resolve()
    assert resolve("k", REMOTE).api_key == "k"


def test_a_profiles_key_is_for_its_server_only(monkeypatch: pytest.MonkeyPatch) -> None:
    _profiles.save("default", REMOTE, "from-profile")
    assert resolve(base_url=REMOTE + "/").api_key == "from-profile"
    for url in ("https://other.example", "http://roost.example", "http://127.0.0.1:8080"):
        with pytest.raises(roost.AuthenticationError):
            resolve(base_url=url)
    monkeypatch.setenv("ROOST_URL", "https://other.example")
    with pytest.raises(roost.AuthenticationError):
        resolve()


def test_a_relative_config_home_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert _profiles.config_path() == tmp_path / ".config/roost/config.toml"


def test_importing_brings_nothing_of_the_command_line() -> None:
    code = "import sys, roost; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    source = str(Path(roost.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": source}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert "roost" in loaded
    assert not loaded & {"click", "rich", "uv", "tomli", "tomllib"}


def test_aio_comes_with_the_package() -> None:
    code = "import roost; print(roost.aio.Agent)"
    environment = {**os.environ, "PYTHONPATH": str(Path(roost.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout == "<class 'roost.aio.Agent'>\n"
