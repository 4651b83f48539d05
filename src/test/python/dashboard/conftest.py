"""The dashboard in a real browser, of the Roost that ROOST_TEST_URL and ROOST_TEST_API_KEY name.

Every context that a test opens is watched (watch.py); a test fails with what was wrong in it.
"""

import os
from pathlib import Path
from typing import Any, Callable

import pytest
from browsers import browser_path, launch
from estate import Estate, make_estate
from figures import measured
from playwright.sync_api import Error, Page, expect, sync_playwright
from roost_client import Roost
from watch import Watch

DESKTOP = {"width": 1280, "height": 800}
TIMEOUT_MILLISECONDS = 60_000
# What pages say for some seconds only; see `saw_toast` of hands.py.
KEEP_TOASTS = """
window.toasts = [];
const keep = ({ classList, textContent }) => classList?.contains("toast") && window.toasts.push(textContent);
new MutationObserver((changes) => changes.forEach(({ addedNodes }) => addedNodes.forEach(keep)))
  .observe(document, { childList: true, subtree: true });
"""
# The dashboard with its script, or a page of the help.
HAS_COME = "customElements.get('roost-app') !== undefined || document.querySelector('.md-container') !== null"
expect.set_options(timeout=TIMEOUT_MILLISECONDS)


def pytest_report_header() -> str:
    return f"dashboard of {os.environ.get('ROOST_TEST_URL', '(ROOST_TEST_URL is not set)')}"


@pytest.fixture(scope="session")
def roost() -> Roost:
    """The Roost under test."""
    missing = [name for name in ("ROOST_TEST_URL", "ROOST_TEST_API_KEY") if not os.environ.get(name)]
    if missing:
        pytest.skip(f"needs a running Roost: {' and '.join(missing)} not set")
    return Roost(os.environ["ROOST_TEST_URL"], os.environ["ROOST_TEST_API_KEY"])


@pytest.fixture(scope="session")
def estate(roost) -> Estate:
    """A Roost in use; made once, for all tests that only look at it."""
    return make_estate(roost)


@pytest.fixture(scope="session")
def browser():
    with sync_playwright() as playwright:
        path = browser_path(playwright)
        if path is None:
            pytest.skip("no browser: neither Chromium nor Chrome on the PATH")
        browser = launch(playwright, path)
        yield browser
        browser.close()


def reload_when_cut_off(page: Page) -> None:
    """Goes to an address again, as a person would, when the document has not come, or without its script.

    Chromium ends what it is loading (ERR_NETWORK_CHANGED) when an interface of the machine comes or goes, and each
    pod of a cluster on this machine has one.
    """
    go = page.goto

    def goto(url: str, **options: Any) -> Any:
        answer = None
        for _ in range(5):
            try:
                answer = go(url, **options)
            except Error as e:
                if "ERR_NETWORK_CHANGED" not in str(e):
                    raise
                continue
            if page.evaluate(HAS_COME):
                break
        return answer

    page.goto = goto  # type: ignore[method-assign]


@pytest.fixture
def open_context(browser, roost, request):
    """Opens a browser context as a new visitor has it; keyword arguments are Playwright's."""
    watches: list[Watch] = []
    contexts: list[Any] = []

    def open_context(url: str = roost.url, **options: Any):
        settings = {"viewport": DESKTOP, "locale": "en-GB", "timezone_id": "UTC", "reduced_motion": "reduce"}
        context = browser.new_context(base_url=url, **{**settings, **options})
        context.set_default_timeout(TIMEOUT_MILLISECONDS)
        context.add_init_script(KEEP_TOASTS)
        context.on("page", reload_when_cut_off)
        watches.append(Watch(context, url))
        context.watch = watches[-1]
        contexts.append(context)
        return context

    yield open_context
    for context in contexts:
        for page in context.pages:
            context.watch.look(page)
    wrong = [line for watch in watches for line in watch.wrong]  # Closing ends requests, which is no mistake.
    if wrong or getattr(request.node, "failed", False):
        for watch in watches:
            print("no answer to:", *watch.unanswered or ["(all were answered)"], sep="\n  ")
    for context in contexts:
        if wrong or getattr(request.node, "failed", False):
            keep_pictures(request.node.name, context.pages)
        # A request that a test holds up, and that closing cuts off, is no mistake of the next test.
        for page in context.pages:
            page.unroute_all(behavior="ignoreErrors")
        context.unroute_all(behavior="ignoreErrors")
        context.close()
    assert not wrong, "in the browser:\n" + "\n".join(wrong)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    if call.when == "call":
        item.failed = outcome.get_result().failed


def keep_pictures(test: str, pages: "list[Page]") -> None:
    """What the pages of a failed test showed at its end."""
    kept = Path("target/dashboard-failures")
    kept.mkdir(parents=True, exist_ok=True)
    for number, page in enumerate(pages):
        page.screenshot(path=kept / f"{test.replace('/', '_')}-{number}.png")


@pytest.fixture
def sign_in(open_context, roost) -> "Callable[..., Page]":
    """Opens a page that a one-time link has signed in, in a context of its own."""

    def sign_in(by: Roost = roost, url: str = roost.url, **options: Any) -> Page:
        page = open_context(url, **options).new_page()
        page.goto(by.link().replace(by.url, url))
        expect(page.locator("nav#navigation")).to_be_attached()  # A phone hides it behind a button.
        return page

    return sign_in


@pytest.fixture
def page(open_context, roost) -> Page:
    """A page of somebody who has signed in, and goes to an address first of all."""
    return open_context(storage_state=roost.session()).new_page()


@pytest.fixture
def agent(roost, request) -> Any:
    """One with the script that the module calls AGENT, built, and named after the test."""
    made = roost.agent(request.node.name[:90], request.module.AGENT)
    roost.built(made)
    yield roost.get("/agents/" + made["id"])
    if roost.get("/agents?name=" + made["name"])["data"]:
        roost.delete("/agents/" + made["id"])


def pytest_terminal_summary(terminalreporter) -> None:
    for line in measured:
        terminalreporter.write_line(f"measured: {line}")
