"""What a person does on the pages, where that takes more than one step."""

import re
from typing import Any

from playwright.sync_api import Locator, Page, Route, expect
from roost_client import until

SOON = 180_000  # ms; for what a build and a cold start have to end before


def wait_until(page: Page, condition: str, arg: Any = None) -> None:
    """Returns when an expression of JavaScript is true.

    Page.wait_for_function would evaluate a string in the page for each look but the first, which the
    Content Security Policy of the dashboard refuses."""
    until(condition, lambda: page.evaluate(condition, arg))


def overview(page: Page) -> None:
    """Goes to the first page; a phone hides its navigation behind a button."""
    page.goto("/")
    expect(page.locator("nav#navigation")).to_be_attached()


def editor(page: Page, label: str) -> Locator:
    """The text of a code editor."""
    return page.get_by_role("textbox", name=label, exact=True)


def write(page: Page, label: str, text: str) -> None:
    """Replaces the text of a code editor as a person does who has the new one in the clipboard."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("(text) => navigator.clipboard.writeText(text)", text)
    editor(page, label).focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+v")


def search(page: Page, text: str) -> None:
    """Types into the search, which its shortcut opens."""
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Search pages")).to_be_focused()
    page.keyboard.type(text)


def saw_toast(page: Page, text: str) -> None:
    """Returns when the page has said so in passing; that may be gone again."""
    wait_until(page, "(text) => window.toasts.some((each) => each.includes(text))", text)


def press(page: Page, name: str) -> None:
    """Clicks a button by the words that it begins with; its shortcut may stand behind them."""
    page.get_by_role("button", name=name).first.click()


def returned(page: Page) -> Locator:
    return page.get_by_role("group", name="Return value")


def marked_line(page: Page) -> Locator:
    """The line of a script that is marked as wrong."""
    return page.locator("code-editor.script .cm-line:has(.cm-lintRange-error)")


def logged(page: Page, text: str) -> None:
    """Returns when the log shows it."""
    expect(page.locator("log-view .cm-line", has_text=text).first).to_be_visible(timeout=SOON)


def credentials(page: Page) -> "dict[str, str]":
    """The headers by which the page's browser shows its session."""
    (cookie,) = (each for each in page.context.cookies() if each["name"].startswith("roost_session"))
    token = page.evaluate("localStorage.getItem('roost-page-token')")
    return {"Cookie": f"{cookie['name']}={cookie['value']}", "Roost-Page-Token": token}


def preloaded(page: Page, agent: Any, report: Any) -> None:
    """Lets the page read an agent as if an executor had reported what it has imported in advance."""

    def answer(route: Route) -> None:
        if route.request.method != "GET":
            route.fallback()
            return
        found = route.fetch()
        route.fulfill(response=found, json={**found.json(), "preloaded": report})

    page.route(re.compile(rf"/v1/agents/{agent['id']}(\?|$)"), answer)


def row(page: Page, text: str) -> Locator:
    """The row of a table that has a text."""
    return page.get_by_role("row").filter(has_text=text)
