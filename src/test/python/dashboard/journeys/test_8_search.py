"""From words of an error to the line in its execution's log."""

import pytest
from playwright.sync_api import expect
from roost_client import until

AGENT = """\
import logging


def main(request):
    for number in range(400):
        print("step", number)
    logging.error("Connection to zebra_db_17 was reset by peer")
    for number in range(400):
        print("later", number)
    return {"customer": "zebra_customer"}
"""


@pytest.fixture
def executed(roost, agent):
    """An execution with the line in the middle of its log, which the search finds already."""
    execution = roost.run(agent, {})
    path = f"/search?q=zebra_db_17&agent_id={agent['id']}"
    until("the index", lambda: len(roost.get(path)["data"]) == 1)
    return execution


def test_a_line_is_found_from_the_palette_and_shown_in_its_log(page, executed):
    page.goto("/")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill('zebra_db_17 "was reset"')
    page.get_by_role("option", name="Search logs for").click()

    group = page.get_by_role("region", name=f"Execution {executed['id']}")
    expect(group.locator("li.found")).to_contain_text("Connection to zebra_db_17 was reset by peer")
    expect(group.locator("li.found")).to_have_class("found error")
    expect(group.locator("mark")).to_have_text(["zebra_db_17", "was reset"])
    expect(group.locator("li.near")).to_contain_text(["step 398", "step 399", "later 0", "later 1"])

    group.get_by_role("link", name="Open line 401").click()
    line = page.locator("log-view .log-marked")
    expect(line).to_contain_text("zebra_db_17")
    expect(line).to_be_in_viewport()


def test_filters_are_in_the_address(page, agent, executed):
    page.goto("/search")
    field = page.get_by_role("searchbox")
    expect(field).to_be_focused()
    expect(page.get_by_role("heading", name="Search all executions")).to_be_visible()
    field.fill("zebra_customer")
    field.press("Enter")
    found = page.get_by_role("region", name=f"Execution {executed['id']}")
    expect(found.get_by_role("link", name="Open the return value")).to_be_visible()
    page.get_by_label("Where").select_option("Logs")
    expect(page.get_by_role("heading", name="No results")).to_be_visible()
    assert "in=logs" in page.url
    assert "q=zebra_customer" in page.url
    page.get_by_role("button", name="Clear").click()
    expect(found).to_be_visible()
    page.get_by_label("Agent").fill(agent["name"])
    page.get_by_label("Agent").press("Enter")
    expect(found).to_be_visible()
    page.reload()
    expect(found).to_be_visible()


def test_a_bad_query_says_what_to_change(page):
    page.goto("/search?q=ab*")
    expect(page.get_by_role("alert")).to_contain_text("at least 3 letters or digits before *")


def test_results_fit_a_phone(page, executed):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/search?q=zebra_db_17")
    expect(page.locator("li.found").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
