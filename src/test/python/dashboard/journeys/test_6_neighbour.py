"""Another program on the machine: browsers send Roost's cookie to it, too."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

import httpx
import pytest
from hands import credentials, overview
from playwright.sync_api import expect


class Neighbour:
    """Listens on another port of Roost's host and keeps the cookies that it gets."""

    def __init__(self, host: str) -> None:
        self.cookies: list[str] = []
        neighbour = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                neighbour.cookies.append(self.headers.get("Cookie", ""))
                page = b"<!doctype html><link rel=icon href=data:,><title>another program</title>"
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://{host}:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def neighbour(roost):
    neighbour = Neighbour(urlsplit(roost.url).hostname)
    yield neighbour
    neighbour.close()


def test_a_program_on_another_port_gets_the_cookie_and_can_do_nothing_with_it(page, roost, neighbour):
    overview(page)
    page.context.watch.hosts.add(urlsplit(neighbour.url).netloc)
    session = credentials(page)
    assert httpx.get(roost.url + "/v1/session", headers=session).status_code == 200
    page.goto(neighbour.url)
    assert session["Cookie"] in neighbour.cookies
    stolen = {"Cookie": session["Cookie"], "Sec-Fetch-Site": "same-origin", "Origin": roost.url}
    assert httpx.get(roost.url + "/v1/session", headers=stolen).status_code == 401
    key = {"name": "a neighbour's", "role": "write"}
    assert httpx.post(roost.url + "/v1/keys", headers=stolen, json=key).status_code == 401
    assert page.evaluate("localStorage.length") == 0, "the page token is none of its"
    httpx.delete(roost.url + "/v1/session", headers=stolen)
    page.goto("/agents")
    expect(page.get_by_role("heading", name="Agents", level=1)).to_be_visible()


def test_signing_in_as_somebody_else_in_one_tab_goes_for_the_others(page, roost):
    other = page.context.new_page()
    other.goto("/agents")
    expect(other.get_by_role("heading", name="Agents", level=1)).to_be_visible()
    page.goto(roost.link())
    expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()
    other.get_by_role("link", name="Builds").first.click()
    expect(other.get_by_role("heading", name="Builds", level=1)).to_be_visible()
    expect(other.locator("main .notice.failed")).to_have_count(0)


def test_a_tab_that_was_signed_out_resumes_when_another_tab_signs_in(page, roost):
    overview(page)
    other = page.context.new_page()
    other.goto("/agents")
    expect(other.get_by_role("heading", name="Agents", level=1)).to_be_visible()
    page.evaluate("localStorage.setItem('roost-page-token', 'of a session that has ended')")
    other.get_by_role("link", name="Builds").first.click()
    expect(other.get_by_text("Your session has ended.")).to_be_visible()
    page.goto(roost.link())
    expect(other.get_by_role("heading", name="Builds", level=1)).to_be_visible()
    expect(other.get_by_text("Your session has ended.")).to_have_count(0)


def test_the_api_reference_asks_with_the_session(page):
    page.goto("/docs/")
    page.locator("#operations-Sessions-getSession").get_by_role("button").first.click()
    page.get_by_role("button", name="Try it out").click()
    with page.expect_response("**/v1/session") as answer:
        page.get_by_role("button", name="Execute", exact=True).click()
    assert answer.value.status == 200
