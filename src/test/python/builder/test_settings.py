"""Which package index a build uses."""

from pathlib import Path

import pytest
from roost_builder.credentials import hide
from roost_builder.settings import uv_environment


@pytest.fixture()
def home(tmp_path: Path) -> Path:
    (tmp_path / ".config" / "pip").mkdir(parents=True)
    (tmp_path / ".config" / "pip" / "pip.conf").write_text(
        "[global]\nindex-url = https://from-file/simple\ncert = /from-file.pem\nfind-links = /wheels\n"
    )
    return tmp_path


def test_the_setting_comes_first_and_is_not_passed_on_itself(home: Path) -> None:
    own = {"HOME": str(home), "ROOST_BUILDS_INDEX_URL": "https://u:p@roost/simple", "UV_INDEX_URL": "https://uv/simple"}
    environment = uv_environment(own)
    assert environment["UV_DEFAULT_INDEX"] == "https://u:p@roost/simple"
    assert not {"ROOST_BUILDS_INDEX_URL", "UV_INDEX_URL"} & environment.keys()


def test_uvs_own_variables_come_before_pips_settings(home: Path) -> None:
    environment = uv_environment({"HOME": str(home), "UV_INDEX_URL": "https://uv/simple"})
    assert environment["UV_INDEX_URL"] == "https://uv/simple"
    assert "UV_DEFAULT_INDEX" not in environment


def test_pips_settings_serve_where_uv_has_none(home: Path) -> None:
    environment = uv_environment({"HOME": str(home)})
    assert environment["UV_DEFAULT_INDEX"] == "https://from-file/simple"
    assert environment["SSL_CERT_FILE"] == "/from-file.pem"
    assert "UV_FIND_LINKS" not in environment
    variable = uv_environment({"HOME": str(home), "PIP_INDEX_URL": "https://from-variable/simple"})
    assert variable["UV_DEFAULT_INDEX"] == "https://from-variable/simple"
    assert "PIP_INDEX_URL" not in variable


def test_a_configuration_of_uvs_own_keeps_pips_out(home: Path) -> None:
    (home / ".config" / "uv").mkdir()
    (home / ".config" / "uv" / "uv.toml").write_text("")
    assert "UV_DEFAULT_INDEX" not in uv_environment({"HOME": str(home)})


def test_no_credentials_are_printed() -> None:
    line = "Failed to fetch: https://user:secret@index.example/simple/ and https://token@x/"
    assert hide(line) == "Failed to fetch: https://***@index.example/simple/ and https://***@x/"
