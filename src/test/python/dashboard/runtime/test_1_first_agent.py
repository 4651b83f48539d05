"""The first two minutes. These tests come first: they begin with a Roost that nobody has used."""

import os
import time

from figures import note
from hands import SOON, editor, marked_line, press, returned, write
from playwright.sync_api import expect

COUNT_CLICKS = "addEventListener('click', (event) => (window.clicks = (window.clicks ?? 0) + event.isTrusted), true)"


def test_from_the_printed_link_to_a_return_value(open_context, roost):
    page = open_context().new_page()
    page.add_init_script(COUNT_CLICKS)
    begun = time.monotonic()
    page.goto(os.environ.get("ROOST_TEST_LINK") or roost.link())
    hello = page.get_by_role("link", name="Hello", exact=True)
    hello.or_(page.get_by_role("link", name="Create agent")).first.click()
    press(page, "Create and run")
    expect(returned(page)).to_contain_text("Hello Ada!", timeout=SOON)
    seconds, clicks = time.monotonic() - begun, page.evaluate("window.clicks")
    note(f"first agent, from the link to the return value: {clicks} clicks, {seconds:.1f} s")
    assert clicks <= 3
    page.reload()
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Create agent")


def test_a_failing_build_is_fixed_where_it_failed(page):
    page.goto("/create")
    write(page, "Requirements", "six==99.99.99")
    press(page, "Create and run")
    failure = page.get_by_role("alert")
    expect(failure).to_contain_text("six==99.99.99", timeout=SOON)
    write(page, "Requirements", "six==1.17.0")
    press(page, "Save and run")
    expect(returned(page)).to_contain_text("Hello Ada!", timeout=SOON)
    expect(failure).to_have_count(0)


def test_a_revision_that_cannot_be_built_replaces_nothing(page, roost):
    script = "def main(request):\n    return 'as before'\n"
    agent = roost.agent("steady", script)
    roost.built(agent)
    page.goto(f"/agents/{agent['id']}")
    write(page, "Requirements", "six==99.99.99")
    press(page, "Save and run")
    banner = page.get_by_role("status").filter(has_text="Revision 2 failed to build; revision 1 still runs.")
    expect(banner).to_be_visible(timeout=SOON)
    press(page, "Run revision 1")
    expect(returned(page)).to_contain_text("as before", timeout=SOON)
    write(page, "Script", script.replace("as before", "as wanted"))
    write(page, "Requirements", "six==1.17.0")
    press(page, "Save and run")
    expect(returned(page)).to_contain_text("as wanted", timeout=SOON)
    expect(banner).to_have_count(0)


def test_a_mistake_in_the_requirements_stands_at_its_line(page):
    page.goto("/create")
    write(page, "Requirements", "six==1.17.0\nhttpx")
    press(page, "Create and run")
    expect(page.locator("#requirements-mistakes")).to_contain_text("line 2")
    expect(page.locator("code-editor.requirements .cm-line:has(.cm-lintRange-error)")).to_have_text("httpx")


def test_a_failing_script_is_fixed_where_it_failed(page, roost):
    script = "def main(request):\n    n = request.payload\n    return 10 / n\n"
    agent = roost.agent("mean", script)
    roost.built(agent)
    page.goto(f"/agents/{agent['id']}")
    write(page, "Payload, JSON", "0")
    press(page, "Run")
    expect(page.get_by_label("Failure reason")).to_contain_text("ZeroDivisionError", timeout=SOON)
    expect(marked_line(page)).to_have_text("    return 10 / n")
    write(page, "Script", script.replace("10 / n", "10 / (n or 4)"))
    press(page, "Save and run")
    expect(returned(page)).to_contain_text("2.5", timeout=SOON)
    expect(marked_line(page)).to_have_count(0)
    # The page of the execution that failed still shows what ran then.
    failed = roost.get(f"/executions?agent_id={agent['id']}&state=failed")["data"][0]
    page.goto(f"/executions/{failed['id']}")
    expect(marked_line(page)).to_have_text("    return 10 / n")
    expect(page.get_by_text("line 3").first).to_be_visible()
    expect(editor(page, "Script of revision 1")).to_be_visible()
