"""What changes while one looks: lost connections, other tabs, keys that may less."""

import re

import pytest
from cut_line import CutLine
from every_page import settled
from hands import SOON, editor, press, returned, row, search, wait_until, write
from playwright.sync_api import expect
from roost_client import Roost, until

FORBIDDEN = re.compile("^(Create|Delete|Run|Save|New|Pause|Resume|Edit|Trigger|Add)")
AGENT = "def main():\n    return 'hello'\n"


@pytest.fixture
def line(roost):
    line = CutLine(roost.url)
    yield line
    line.close()


def test_what_happened_during_a_lost_connection_is_there_without_a_reload(sign_in, roost, agent, line):
    page = sign_in(url=line.url)
    page.goto(f"/agents/{agent['id']}/executions")
    page.evaluate("window.sameDocument = true")
    settled(page)
    bar = page.get_by_text("Connection to Roost lost")
    expect(bar).to_have_count(0)
    page.context.watch.expects_lost_connection = True
    line.cut()
    expect(bar).to_be_visible()
    execution = roost.run(agent)
    line.restore()
    expect(bar).to_have_count(0)
    expect(page.locator(f"a[href$='{execution['id']}']").first).to_be_visible()
    later = roost.run(agent)
    expect(page.locator(f"a[href$='{later['id']}']").first).to_be_visible()
    assert page.evaluate("window.sameDocument")


def test_a_log_continues_after_a_lost_connection(sign_in, roost, line):
    script = "import time\n\n\ndef main():\n    for n in range(3_000):\n        print(n, flush=True)\n        time.sleep(0.1)\n"
    agent = roost.agent("counting", script)
    execution = roost.started(roost.submit(agent))
    page = sign_in(url=line.url)
    page.goto(f"/executions/{execution['id']}")
    lines = page.locator("log-view .log-status")
    expect(lines).to_contain_text("live")
    page.context.watch.expects_lost_connection = True
    line.cut()
    expect(page.get_by_text("Connection to Roost lost")).to_be_visible()
    line.restore()
    expect(page.get_by_text("Connection to Roost lost")).to_have_count(0)
    entries = roost.get("/executions/" + execution["id"])["log_entries"]
    wait_until(page, MORE_LINES, entries)
    roost.delete("/agents/" + agent["id"])


MORE_LINES = """(entries) =>
    Number(document.querySelector("log-view .log-status span").textContent.replace(/[^0-9]/g, "")) > entries"""


def test_what_a_change_of_network_cuts_off_is_sent_again_and_submitted_once(page, roost, agent):
    cut: set[str] = set()

    def lose_the_first_answer(route):
        asked = f"{route.request.method} {route.request.url}"
        if asked in cut or "/v1/events" in asked:
            route.fallback()
            return
        cut.add(asked)
        route.fetch(timeout=SOON)  # A log ends only with its execution.
        route.abort("connectionreset")

    page.route("**/v1/**", lose_the_first_answer)
    page.goto("/agents")
    expect(row(page, agent["name"])).to_be_visible()
    search(page, agent["name"])
    expect(page.get_by_role("option", name=agent["name"]).first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"/agents/{agent['id']}")
    expect(editor(page, "Script")).to_contain_text("hello")  # Until then the list of agents has buttons of that name.
    press(page, "Run")
    expect(returned(page)).to_contain_text("hello", timeout=SOON)
    assert any(asked.startswith("POST") and asked.endswith("/execute") for asked in cut)
    assert len(roost.get(f"/executor-jobs?agent_id={agent['id']}")["data"]) == 1


def test_a_sign_in_whose_answer_is_lost_is_sent_again(open_context, roost):
    context = open_context()
    lost = []

    def lose_the_first_answer(route):
        if route.request.method != "POST" or lost:
            route.fallback()
            return
        lost.append(route.fetch().status)
        route.abort("connectionreset")

    context.route("**/v1/session", lose_the_first_answer)
    page = context.new_page()
    page.goto(roost.link())
    expect(page.locator("nav#navigation")).to_be_visible()
    assert lost == [201]


def test_a_document_whose_scripts_do_not_come_says_so(page):
    page.route("**/*.js", lambda route: route.abort("connectionreset"))
    page.goto("/agents")
    again = page.get_by_role("link", name="reload the page")
    expect(again).to_be_visible()
    page.unroute_all()
    again.click()
    expect(page.get_by_role("heading", name="Agents", level=1)).to_be_visible()


def test_a_failed_search_is_reported(line, sign_in, agent):
    page = sign_in(url=line.url)
    page.context.watch.expects_lost_connection = True
    line.cut()
    search(page, agent["name"])
    expect(page.get_by_role("dialog")).to_contain_text("Roost can't be reached")


def test_who_cannot_be_signed_out_is_reported(sign_in, line):
    page = sign_in(url=line.url)
    page.context.watch.expects_lost_connection = True
    line.cut()
    press(page, "Sign out")
    expect(page.get_by_text("You are still signed in")).to_be_visible()
    line.restore()
    press(page, "Sign out")
    expect(page.get_by_role("heading", name="Sign in to Roost")).to_be_visible()
    assert page.evaluate("fetch('/v1/agents').then((answer) => answer.status)") == 401


def test_a_change_of_one_tab_shows_in_the_other(page, roost, agent):
    other = page.context.new_page()
    other.goto("/agents?q=" + agent["name"][:40])
    expect(row(other, agent["name"])).to_be_visible()
    page.goto(f"/agents/{agent['id']}")
    press(page, "Run")
    expect(row(other, agent["name"])).to_contain_text("succeeded", timeout=SOON)


def test_unsaved_changes_and_what_another_tab_has_saved_are_both_shown(page, roost, agent):
    other = page.context.new_page()
    for tab in (page, other):
        tab.goto(f"/agents/{agent['id']}")
        expect(editor(tab, "Script")).to_contain_text("hello")
    write(page, "Script", AGENT.replace("hello", "mine"))
    expect(page.get_by_text("Unsaved changes", exact=True)).to_be_visible()
    roost.call("PATCH", f"/agents/{agent['id']}", {"script": AGENT.replace("hello", "theirs")})
    expect(editor(other, "Script")).to_contain_text("theirs")
    conflict = page.get_by_role("alert").filter(has_text="was saved elsewhere")
    expect(conflict).to_contain_text("theirs")
    expect(conflict).to_contain_text("mine")
    press(page, "Keep mine")
    press(page, "Save")
    until("the change", lambda: "mine" in roost.get("/agents/" + agent["id"])["script"])
    expect(editor(other, "Script")).to_contain_text("mine")


def test_leaving_with_unsaved_changes_asks_and_loses_nothing(page, agent):
    page.goto(f"/agents/{agent['id']}")
    write(page, "Script", AGENT.replace("hello", "unsaved"))
    page.get_by_role("link", name="Executions", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Leave").click()
    expect(page).to_have_url("/executions")
    page.goto(f"/agents/{agent['id']}")
    expect(editor(page, "Script")).to_contain_text("unsaved")
    press(page, "Discard")
    expect(editor(page, "Script")).to_contain_text("hello")


@pytest.fixture
def reader(roost):
    """The same Roost with a key that may only read."""
    key = roost.post("/keys", {"name": "reader", "role": "read"})
    yield Roost(roost.url, key["key"])
    roost.delete("/keys/" + key["id"])


def test_a_key_that_may_only_read_sees_no_buttons_that_it_cannot_use(sign_in, reader, roost, agent):
    page = sign_in(by=reader)
    page.goto("/agents")
    expect(row(page, agent["name"])).to_be_visible()
    for path in ("/agents", f"/agents/{agent['id']}", "/schedules", "/stores", "/webhooks", "/create"):
        page.goto(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        expect(page.locator("main [aria-busy=true]")).to_have_count(0)
        refused = page.locator("main").get_by_role("button", name=FORBIDDEN)
        expect(refused).to_have_count(0)
    page.goto("/create")
    expect(page.get_by_role("main")).to_contain_text("role write")
    page.goto(f"/agents/{agent['id']}")
    expect(page.get_by_role("main")).to_contain_text("API key is read-only")
    expect(editor(page, "Script")).to_have_attribute("aria-readonly", "true")
