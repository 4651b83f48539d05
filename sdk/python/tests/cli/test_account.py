from __future__ import annotations

import json
import stat
from typing import Any, Callable

import httpx
import pytest
from support import KEY, URL, problem

import roost
from roost import _profiles

SESSION = {
    "key": {"id": "key_1", "name": "laptop", "role": "write"},
    "created_at": "2026-11-02T09:00:00.000001Z",
    "expires_at": None,
}


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[httpx.Response], list[httpx.Request]]:
    """Have every client answered so; return what is asked."""

    def use(response: httpx.Response) -> list[httpx.Request]:
        asked: list[httpx.Request] = []

        def handle(request: httpx.Request) -> httpx.Response:
            asked.append(request)
            return response

        transport = httpx.MockTransport(handle)
        made = roost.Client.__init__

        def init(self: roost.Client, *args: Any, **settings: Any) -> None:
            made(self, *args, http_client=httpx.Client(transport=transport), **settings)

        monkeypatch.setattr(roost.Client, "__init__", init)
        return asked

    return use


def test_login_tries_the_key_and_keeps_it_to_itself(cli: Any, answer: Any) -> None:
    asked = answer(httpx.Response(200, json=SESSION))
    done = cli("login", "--url", URL, "--key", "-", stdin=f"{KEY}\n")
    assert done.code == 0
    assert str(asked[0].url) == f"{URL}/v1/session"
    assert asked[0].headers["Authorization"] == f"Bearer {KEY}"
    assert "laptop (key_1)" in done.out
    assert KEY not in done.out + done.err
    kept = _profiles.load()["default"]
    assert (kept.url, kept.api_key) == (URL, KEY)
    assert stat.S_IMODE(_profiles.config_path().stat().st_mode) == 0o600


def test_a_key_that_does_not_work_is_not_kept(cli: Any, answer: Any) -> None:
    answer(problem(401, "unauthenticated", "There is no such key."))
    done = cli("login", "--url", URL, "--key", "-", stdin=f"{KEY}\n")
    assert done.code == 3
    assert "There is no such key." in done.err
    assert _profiles.load() == {}


def test_a_key_among_the_arguments_is_refused(cli: Any) -> None:
    done = cli("login", "--url", URL, "--key", KEY)
    assert done.code == 2
    assert "--key -" in done.err
    assert KEY not in done.err


def test_without_a_terminal_it_does_not_wait_for_a_key(cli: Any) -> None:
    done = cli("login", "--url", URL)
    assert (done.code, "Use --key -" in done.err) == (2, True)


def test_a_profile_is_chosen_over_the_environment(
    cli: Any, answer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = answer(httpx.Response(200, json=SESSION))
    cli("login", "--profile", "staging", "--url", URL, "--key", "-", stdin=KEY)
    monkeypatch.setenv("ROOST_URL", "http://elsewhere.test")
    monkeypatch.setenv("ROOST_API_KEY", "roost_another_key")
    for arguments in (("whoami", "--profile", "staging"), ("--profile", "staging", "whoami")):
        done = cli(*arguments, "--json")
        assert json.loads(done.out) == {"url": URL, **SESSION}
        assert asked[-1].headers["Authorization"] == f"Bearer {KEY}"
    done = cli("whoami", "--profile", "stagin")
    assert (done.code, 'Did you mean "staging"?' in done.err) == (2, True)


def test_logout_forgets_one_profile(cli: Any) -> None:
    _profiles.save("default", URL, KEY)
    _profiles.save("staging", URL, KEY)
    assert cli("logout").code == 0
    assert set(_profiles.load()) == {"staging"}
    done = cli("logout")
    assert (done.code, 'there is no profile "default"' in done.err) == (4, True)
