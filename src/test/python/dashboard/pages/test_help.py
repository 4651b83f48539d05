"""The documentation at /help, which needs no session."""

import re

import pytest
from hands import overview
from playwright.sync_api import expect
from test_every_page import everything_wrong

# The first page, one with code, and one with tables.
PAGES = ("", "guides/schedule-a-script/", "metrics/")


@pytest.fixture
def reader(open_context):
    """A page of somebody who hasn't signed in."""
    return open_context().new_page()


def test_the_search_finds_a_page(reader):
    reader.goto("/help/")
    reader.get_by_role("textbox", name="Search").click()
    reader.keyboard.type("cron expressions")
    found = reader.locator(".md-search-result__link").first
    expect(found).to_contain_text("Cron expressions")
    found.click()
    expect(reader.get_by_role("heading", level=1)).to_contain_text("Cron expressions")
    assert "/help/cron/" in reader.url


def test_enter_in_the_search_opens_the_first_result(reader):
    reader.goto("/help/")
    reader.get_by_role("textbox", name="Search").click()
    reader.keyboard.type("webhook")  # A decision has it in its title, too.
    expect(reader.locator(".md-search-result__link").first).to_be_visible()
    reader.keyboard.press("Enter")
    expect(reader.get_by_role("heading", level=1)).to_contain_text(re.compile("^Webhooks"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_colours_are_those_of_the_system(open_context, scheme):
    reader = open_context(color_scheme=scheme).new_page()
    reader.goto("/help/agents/")
    background = reader.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == {"light": "rgb(255, 255, 255)", "dark": "rgb(16, 19, 23)"}[scheme]


def test_a_section_has_an_address(reader):
    reader.goto("/help/agents/#retries")
    expect(reader.get_by_role("heading", name="Retries")).to_be_in_viewport()


def test_the_dashboard_leads_to_the_help_and_back(page):
    overview(page)
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Help", exact=True).click()
    reader = opened.value
    expect(reader).to_have_title("Documentation - Roost")
    expect(reader.get_by_role("contentinfo")).to_contain_text("Roost ")
    reader.get_by_role("link", name="Dashboard", exact=True).first.click()
    expect(reader.get_by_role("heading", name="Overview", level=1)).to_be_visible()


@pytest.mark.parametrize("address", PAGES)
def test_a_page_can_be_used_by_everybody_on_every_screen(reader, address):
    reader.goto(f"/help/{address}")
    expect(reader.get_by_role("heading", level=1)).to_be_visible()
    wrong = everything_wrong(reader)
    assert not wrong, "\n".join(wrong)
