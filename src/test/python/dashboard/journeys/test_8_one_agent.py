"""The page of one agent: what is wrong with it, and where that is put right."""

import re

import pytest
from cut_line import CutLine
from hands import SOON, editor, marked_line, press, wait_until, write
from playwright.sync_api import Locator, Page, expect
from roost_client import until

AGENT = "def main(request):\n    return request.payload\n"
# Its last line is far below what an editor shows.
LONG = (
    "def main(request):\n    numbers = []\n" + "    numbers.append(1)\n" * 120 + "    return numbers[request.payload]\n"
)
FAILING_LINE = "    return numbers[request.payload]"


def marked_requirement(page: Page) -> Locator:
    return page.locator("code-editor.requirements .cm-line:has(.cm-lintRange-error)")


def test_the_requirement_that_failed_is_marked_until_it_is_edited(page, roost):
    agent = roost.agent("unsorted", AGENT, requirements="# pinned\nsix==1.17.0\nhumanize==99.99.99  # the newest\n")
    roost.built(agent)
    page.goto(f"/agents/{agent['id']}")
    expect(marked_requirement(page)).to_have_text("humanize==99.99.99  # the newest")
    write(page, "Requirements", "six==1.17.0\n\nhumanize==99.99.99\n")
    expect(marked_requirement(page)).to_have_text("humanize==99.99.99")
    write(page, "Requirements", "six==1.17.0\n\nhumanize==4.13.0\n")
    expect(marked_requirement(page)).to_have_count(0)
    press(page, "Save and run")
    expect(page.get_by_role("status").filter(has_text="succeeded")).to_be_visible(timeout=SOON)
    write(page, "Requirements", "humanize==99.99.99")
    expect(marked_requirement(page)).to_have_count(0)
    roost.delete("/agents/" + agent["id"])


def test_a_failing_line_is_in_sight_and_edit_leads_to_it(page, roost):
    agent = roost.agent("long-script", LONG)
    execution = roost.run(agent, 500)
    page.goto(f"/executions/{execution['id']}")
    expect(marked_line(page)).to_have_text(FAILING_LINE)
    assert is_in_middle(marked_line(page))
    assert page.evaluate("window.scrollY") == 0
    # Saved since then: the line has moved.
    roost.call("PATCH", f"/agents/{agent['id']}", {"script": '"""Numbers."""\n\n' + LONG})
    page.get_by_role("link", name="Edit", exact=True).click()
    expect(page).to_have_url(re.compile(rf"/agents/{agent['id']}\?execution="))
    expect(marked_line(page)).to_have_text(FAILING_LINE)
    expect(editor(page, "Script")).to_be_focused()
    assert is_in_middle(marked_line(page))
    failure = page.get_by_role("list", name="Failure")
    expect(failure).to_contain_text("Revision 1 failed here: IndexError: list index out of range")
    expect(failure.get_by_role("button")).to_contain_text("line 125")
    page.keyboard.type("#")
    expect(failure.get_by_role("listitem")).to_have_count(0)
    roost.delete("/agents/" + agent["id"])


def test_a_run_that_fails_shows_its_line(page, roost):
    agent = roost.agent("long-failing", LONG)
    roost.built(agent)
    page.goto(f"/agents/{agent['id']}")
    expect(editor(page, "Script")).to_contain_text("def main")
    write(page, "Payload, JSON", "500")
    press(page, "Run")
    expect(marked_line(page)).to_have_text(FAILING_LINE, timeout=SOON)
    assert is_in_middle(marked_line(page))
    roost.delete("/agents/" + agent["id"])


def is_in_middle(line: Locator) -> bool:
    """Whether the line of an editor is in sight, and not at the edge of the editor, or at its end."""
    expect(line).to_be_in_viewport()
    return line.evaluate(IN_MIDDLE)


IN_MIDDLE = """(line) => {
  const scroller = line.closest(".cm-scroller");
  const [seen, place] = [scroller.getBoundingClientRect(), line.getBoundingClientRect()];
  const atEnd = scroller.scrollTop + scroller.clientHeight >= scroller.scrollHeight - 1;
  return place.top > seen.top && place.bottom <= seen.bottom && (atEnd || Math.abs(
    (place.top + place.bottom) / 2 - (seen.top + seen.bottom) / 2) < 2 * place.height);
}"""


def test_values_of_variables_are_hidden_until_a_person_shows_them(page, roost):
    agent = roost.agent("secretive", AGENT, env_vars="API_TOKEN=s3cret-one\nREGION=europe")
    roost.built(agent)
    page.goto(f"/agents/{agent['id']}")
    variables = editor(page, "Variables")
    expect(variables).to_contain_text("API_TOKEN=••••••••")
    assert "s3cret" not in everything_in(page)
    variables.get_by_label("hidden value").first.click()
    expect(variables).to_contain_text("API_TOKEN=s3cret-one")
    expect(variables).to_contain_text("REGION=••••••••")
    page.keyboard.press("Control+End")
    page.keyboard.type("\nNEW=typed")
    expect(variables).to_contain_text("NEW=typed")
    editor(page, "Script").focus()
    expect(variables).to_contain_text("NEW=••••••••")
    assert "s3cret" not in everything_in(page)
    assert copied(page, "Variables") == "API_TOKEN=s3cret-one\nREGION=europe\nNEW=typed"
    page.get_by_role("button", name="Show values").click()
    expect(variables).to_contain_text("REGION=europe")
    press(page, "Save")
    until("the save", lambda: "NEW=typed" in roost.get("/agents/" + agent["id"])["env_vars"])
    roost.call("PATCH", f"/agents/{agent['id']}", {"env_vars": "API_TOKEN=s3cret-two\nREGION=europe"})
    page.goto(f"/agents/{agent['id']}/revisions")
    changes = page.get_by_role("region", name="Changes: Variables")
    expect(changes).to_contain_text("API_TOKEN=•••••••• (changed)")
    assert "s3cret" not in everything_in(page)
    page.get_by_role("button", name="Show values").click()
    expect(changes).to_contain_text("API_TOKEN=s3cret-two")
    roost.delete("/agents/" + agent["id"])


def test_the_hint_about_tab_covers_nothing(page, agent):
    page.goto(f"/agents/{agent['id']}")
    hint = page.locator("code-editor.requirements").get_by_text("Esc, then Tab to leave")
    write(page, "Requirements", "six==1.17.0\nhumanize==4.13.0")
    expect(hint).to_have_count(0)
    page.keyboard.press("Tab")
    expect(hint).to_be_visible()
    last = editor(page, "Requirements").locator(".cm-line").last
    assert last.bounding_box()["y"] + last.bounding_box()["height"] <= hint.bounding_box()["y"] + 1
    page.keyboard.press("Escape")
    expect(hint).to_have_count(0)
    page.keyboard.press("Tab")
    expect(editor(page, "Requirements")).not_to_be_focused()


def test_a_schedule_begins_at_a_time_of_its_own_zone(sign_in, roost, agent):
    page = sign_in(timezone_id="America/New_York", locale="en-US")
    page.goto(f"/agents/{agent['id']}/schedules")
    press(page, "New schedule")
    form = page.get_by_role("dialog")
    form.get_by_label("Cron expression").fill("0 9 * * *")
    form.get_by_label("Time zone").fill("Asia/Tokyo")
    form.get_by_text("Name, missed runs, overlap, time range").click()
    begin = form.get_by_label("Not before")
    begin.fill("9 o'clock")
    press(page, "Create schedule")
    expect(form.locator("#starts-at-mistakes")).to_contain_text("Write a date and a time")
    begin.fill("2030-07-01 09:00")
    expect(form.locator("#starts-at-hint")).to_contain_text("Asia/Tokyo")
    press(page, "Create schedule")
    expect(form).to_have_count(0)
    (schedule,) = roost.get(f"/schedules?agent_id={agent['id']}")["data"]
    assert schedule["starts_at"].startswith("2030-07-01T00:00:00")
    press(page, "Edit")
    expect(begin).to_have_value("2030-07-01 09:00")
    # The same time in another zone is another instant.
    form.get_by_label("Time zone").fill("Europe/Berlin")
    form.get_by_role("button", name="Save").click()
    expect(form).to_have_count(0)
    changed = roost.get("/schedules/" + schedule["id"])
    assert (changed["time_zone"], changed["starts_at"][:16]) == ("Europe/Berlin", "2030-07-01T07:00")


def everything_in(page: Page) -> str:
    """The document's source, with what is in shadow roots."""
    return page.evaluate("""() => {
      const roots = [...document.querySelectorAll("*")].flatMap(({ shadowRoot }) => shadowRoot ?? []);
      return [document.documentElement, ...roots].map(({ innerHTML }) => innerHTML).join("\\n");
    }""")


def copied(page: Page, label: str) -> str:
    """What is in the clipboard when everything in an editor is copied."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    editor(page, label).focus()
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+c")
    return page.evaluate("navigator.clipboard.readText()")


def test_an_agent_whose_runs_fail_is_not_shown_as_well(page, roost):
    agent = roost.agent("never-works", "def main():\n    raise ValueError\n")
    page.goto(f"/agents/{agent['id']}")
    facts = page.get_by_role("list", name="Agent details")
    expect(facts).to_contain_text("no runs yet")
    roost.run(agent)
    roost.run(agent)
    expect(facts.locator(".state.failed")).to_have_text("last 2 runs: 2 failed")
    expect(facts.get_by_role("link", name="built", exact=True)).to_be_visible()
    expect(facts.locator(".state.succeeded")).to_have_count(0)
    roost.delete("/agents/" + agent["id"])


@pytest.fixture
def line(roost):
    line = CutLine(roost.url)
    yield line
    line.close()


def test_errors_of_an_outage_end_with_it(sign_in, agent, line):
    page = sign_in(url=line.url)
    page.goto(f"/agents/{agent['id']}")
    expect(editor(page, "Script")).to_contain_text("def main")
    expect(page.get_by_role("region", name="Run").get_by_role("button", name="Run")).to_be_visible()
    page.context.watch.expects_lost_connection = True
    line.cut()
    press(page, "Run")
    errors = page.get_by_role("alert").filter(has_text="can't be")
    expect(errors).to_be_visible()
    line.restore()
    expect(errors).to_have_count(0)


def test_errors_of_a_run_end_when_a_later_revision_is_saved(page, roost, agent):
    page.goto(f"/agents/{agent['id']}")
    expect(editor(page, "Script")).to_contain_text("def main")
    problem = {"title": "Too many requests", "status": 429, "code": "rate_limited", "detail": "Wait a moment."}
    page.route("**/execute", lambda route: route.fulfill(status=429, json=problem))
    press(page, "Run")
    error = page.get_by_role("alert").filter(has_text="Wait a moment.")
    expect(error).to_be_visible()
    write(page, "Script", AGENT + "\n\nNEW = 1\n")
    press(page, "Save")
    expect(error).to_have_count(0)


def test_on_a_phone_run_and_all_tabs_are_in_sight(sign_in, agent):
    page = sign_in(viewport={"width": 390, "height": 844})
    page.goto(f"/agents/{agent['id']}")
    expect(page.get_by_role("button", name="Run")).to_be_in_viewport(ratio=1)
    tabs = page.get_by_role("tab")
    expect(tabs).to_have_count(9)
    for number in range(9):
        expect(tabs.nth(number)).to_be_in_viewport(ratio=1)
    press(page, "Run")
    expect(page.get_by_label("Return value").first).to_be_in_viewport(timeout=SOON)


def test_a_log_beside_the_editors_is_wide(page, roost):
    agent = roost.agent("talkative", "def main():\n    print('line ' * 200)\n")
    roost.built(agent)
    page.goto(f"/agents/{agent['id']}")
    press(page, "Run")
    log = page.locator("log-view")
    expect(log.get_by_text("line line")).to_be_visible(timeout=SOON)
    assert log.bounding_box()["width"] > 480
    expect(log.get_by_role("button", name="Wrap")).to_have_attribute("aria-pressed", "true")
    log.get_by_role("button", name="Full screen").click()
    wait_until(page, "document.fullscreenElement?.clientWidth > 1200")
    log.get_by_role("button", name="Full screen").click()
    wait_until(page, "document.fullscreenElement === null")
    roost.delete("/agents/" + agent["id"])


def test_performance_answers_whether_an_agent_is_well(page, roost):
    agent = roost.agent("measured", "def main(request):\n    return 1 / request.payload\n")
    page.goto(f"/agents/{agent['id']}/performance")
    expect(page.get_by_text("No executions ended in this time")).to_be_visible(timeout=SOON)
    roost.run(agent, 1)
    roost.call("PATCH", f"/agents/{agent['id']}", {"script": "def main(request):\n    return 2 / request.payload\n"})
    for payload in (0, 1, 2):
        roost.run(agent, payload)
    figures = page.locator("agent-performance .figure")
    expect(figures.filter(has_text="Success rate")).to_contain_text("75 %")
    expect(figures.filter(has_text="Success rate")).to_contain_text("3 of 4")
    expect(figures.filter(has_text="Cold starts")).to_contain_text("of 4")
    expect(page.locator("agent-performance bar-chart .mark")).to_have_text(["r1", "r2"])
    expect(page.locator("agent-performance line-chart path.series")).to_have_count(4)
    expect(page.get_by_role("link", name="ZeroDivisionError")).to_be_visible()
    page.get_by_label("Period").select_option("Last 7 days")
    expect(page).to_have_url(re.compile(r"/performance\?hours=168$"))
    page.locator("agent-performance details summary").first.click()
    table = page.get_by_role("region", name="Executions by outcome")
    expect(table.get_by_role("row")).to_have_count(29)
    table.get_by_role("link").last.click()
    expect(page).to_have_url(re.compile(rf"/agents/{agent['id']}/executions\?after="))
    expect(page.get_by_role("row").filter(has_text="failed")).to_have_count(1)
    roost.delete("/agents/" + agent["id"])
