"""Lists of a Roost in use: the chart above them, and their rows on a phone."""

import re

import pytest
from hands import SOON
from playwright.sync_api import expect


def test_a_bar_of_the_chart_shows_its_figures_and_leads_to_its_hour(page, estate):
    page.goto("/")
    # The latest bar with figures: a new hour may have begun since the executions.
    drawn = page.locator("bar-chart .area rect").last
    bar = page.locator("bar-chart .area a").nth(int(float(drawn.get_attribute("x"))))
    bar.hover()
    expect(page.locator("bar-chart .tip")).to_contain_text(re.compile(r"(succeeded|failed)\s*\d"))
    bar.click()
    field = page.get_by_role("combobox", name="Filter executions")
    expect(field).to_have_value(re.compile(r"^since:\d{4}-\S+ before:\d{4}-\S+$"))
    expect(page.get_by_role("region", name="List of executions").get_by_role("row").nth(1)).to_be_visible()


@pytest.mark.parametrize(("path", "most"), [("/agents", 100), ("/executions?q=state%3Asucceeded", 90)])
def test_rows_are_low_on_a_phone(sign_in, estate, path, most):
    page = sign_in(viewport={"width": 390, "height": 844})
    page.goto(path)
    line = page.locator("main tbody tr").first
    expect(line).to_be_visible(timeout=SOON)
    expect(page.locator("main [aria-busy=true]")).to_have_count(0)
    assert line.bounding_box()["height"] < most
