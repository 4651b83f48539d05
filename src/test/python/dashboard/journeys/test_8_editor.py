"""The script's editor: remarks with fixes, completion, formatting, and the changes before they are saved."""

import re

from hands import SOON, editor, press, saw_toast, write
from playwright.sync_api import Locator, Page, expect
from roost_client import until

AGENT = "def main(request, store):\n    return request.payload\n"
UNTIDY = """\
import os
import humanize
def main(request,store):
  n = store.increment( 'n' )
  return humanize.intcomma(undefined)
"""


def warnings(page: Page) -> Locator:
    return page.get_by_role("list", name="Warnings", exact=True)


def options(page: Page) -> Locator:
    return page.get_by_role("listbox").get_by_role("option")


def explanation(page: Page, line: str, name: str) -> Locator:
    """What the editor shows for a name under the mouse. It is drawn anew after changes, so the mouse moves again."""
    found = page.locator(".cm-explained")

    def shown() -> bool:
        page.mouse.move(0, 0)
        page.locator("code-editor.script .cm-line", has_text=line).get_by_text(name).hover()
        page.wait_for_timeout(500)
        return found.count() > 0

    until(f"an explanation of {name}", shown)
    return found


def end_of_line(page: Page, text: str) -> None:
    """Puts the cursor at the end of a line of the script."""
    page.locator("code-editor.script .cm-line", has_text=text).click()
    page.keyboard.press("End")


def test_mistakes_are_shown_while_typing_and_can_be_fixed(page, roost):
    agent = roost.agent("linted", AGENT)
    page.goto(f"/agents/{agent['id']}")
    write(page, "Script", UNTIDY)
    expect(warnings(page)).to_contain_text("Undefined name “undefined”.", timeout=SOON)
    expect(warnings(page)).to_contain_text("“os” imported but unused.")
    press(page, "Remove unused import os")
    expect(warnings(page)).not_to_contain_text("imported but unused")
    expect(page.locator("code-editor.script .cm-line").first).to_have_text("import humanize")
    expect(warnings(page).get_by_role("button", name="line 4, column 28")).to_be_visible()
    write(page, "Script", "def main(\n")
    expect(warnings(page)).to_contain_text(re.compile("unexpected EOF", re.IGNORECASE))
    roost.delete("/agents/" + agent["id"])


def test_an_import_becomes_a_requirement_with_a_known_version(page, roost):
    other = roost.agent("has-humanize", AGENT, requirements="humanize==4.13.0")
    roost.built(other)
    agent = roost.agent("imports", AGENT)
    page.goto(f"/agents/{agent['id']}")
    write(page, "Script", "import humanize\nimport bs4\n" + AGENT)
    expect(warnings(page)).to_contain_text("No requirement provides the module “humanize”.", timeout=SOON)
    press(page, "Add humanize")
    saw_toast(page, "Added humanize==4.13.0 to the requirements.")
    expect(editor(page, "Requirements")).to_have_text("humanize==4.13.0")
    expect(warnings(page)).not_to_contain_text("“humanize”.")
    # No Build has it, so its version is left to the person.
    press(page, "Add beautifulsoup4")
    saw_toast(page, "Write the version of beautifulsoup4 to install.")
    expect(editor(page, "Requirements")).to_be_focused()
    page.keyboard.type("4.13.4")
    expect(editor(page, "Requirements")).to_contain_text("beautifulsoup4==4.13.4")
    for each in (agent, other):
        roost.delete("/agents/" + each["id"])


def test_a_requirement_without_a_version_is_pinned(page, roost):
    other = roost.agent("has-six", AGENT, requirements="six==1.17.0")
    roost.built(other)
    agent = roost.agent("unpinned", AGENT)
    page.goto(f"/agents/{agent['id']}")
    write(page, "Requirements", "six  # old\n")
    unpinned = page.get_by_role("list", name="Warnings about requirements")
    expect(unpinned).to_contain_text("“six” has no version. Pin one, for example 1.17.0.")
    press(page, "Pin 1.17.0")
    expect(editor(page, "Requirements")).to_have_text("six==1.17.0  # old", use_inner_text=True)
    expect(unpinned.get_by_role("listitem")).to_have_count(0)
    for each in (agent, other):
        roost.delete("/agents/" + each["id"])


def test_names_of_the_request_and_the_store_are_completed_and_explained(page, roost):
    agent = roost.agent("completed", AGENT)
    page.goto(f"/agents/{agent['id']}")
    end_of_line(page, "return request.payload")
    page.keyboard.type("\nstore.")
    expect(options(page).filter(has_text="increment")).to_be_visible()
    page.keyboard.type("incr")
    expect(options(page)).to_have_count(1)
    expect(page.locator(".cm-completionInfo")).to_contain_text("(key: str, amount: int | float = 1) -> int | float")
    page.keyboard.press("Enter")
    page.keyboard.type('("n")\nrequest.')
    expect(options(page).filter(has_text="scheduled_time")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("listbox")).to_have_count(0)
    expect(editor(page, "Script")).to_contain_text('store.increment("n")')
    expect(explanation(page, "store.increment", "increment")).to_contain_text(
        "Adds to a number, atomically and in decimal"
    )
    roost.delete("/agents/" + agent["id"])


def test_names_of_installed_packages_are_completed_and_explained(page, roost):
    agent = roost.agent("with-packages", "import humanize\n\n\n" + AGENT, requirements="humanize==4.13.0")
    roost.built(agent)
    page.goto(f"/agents/{agent['id']}")
    end_of_line(page, "return request.payload")
    page.keyboard.type("\nhumanize.intc", delay=50)
    # The editor ignores Enter just after the list has appeared.
    options(page).filter(has_text="intcomma").click(timeout=SOON)
    expect(editor(page, "Script")).to_contain_text("humanize.intcomma")
    page.keyboard.type("(1)\nfrom humanize.fi", delay=50)
    expect(options(page).filter(has_text="filesize")).to_be_visible()
    page.keyboard.type("lesize import natur", delay=50)
    expect(options(page).filter(has_text="naturalsize")).to_be_visible()
    page.keyboard.press("Escape")
    found = explanation(page, "humanize.intcomma", "intcomma")
    expect(found).to_contain_text("Converts an integer to a string containing commas")
    # What the Build has installed is known, whatever its package is called.
    write(page, "Script", "import humanize, six\n" + AGENT)
    expect(warnings(page)).to_contain_text("No requirement provides the module “six”.")
    expect(warnings(page)).not_to_contain_text("module “humanize”")
    roost.delete("/agents/" + agent["id"])


def test_a_script_is_formatted_by_button_and_shortcut(page, roost):
    agent = roost.agent("formatted", AGENT)
    page.goto(f"/agents/{agent['id']}")
    write(page, "Script", UNTIDY)
    press(page, "Format")
    lines = page.locator("code-editor.script .cm-line")
    expect(lines.nth(4)).to_have_text("def main(request, store):", timeout=SOON)
    expect(lines.nth(5)).to_have_text('    n = store.increment("n")')
    editor(page, "Script").focus()
    page.keyboard.press("Control+z")
    expect(lines.nth(2)).to_have_text("def main(request,store):")
    page.keyboard.press("Shift+Alt+KeyF")
    expect(lines.nth(4)).to_have_text("def main(request, store):")
    write(page, "Script", "def main(")
    press(page, "Format")
    saw_toast(page, "The script could not be formatted.")
    roost.delete("/agents/" + agent["id"])


def test_changes_are_reviewed_before_they_are_saved(page, roost):
    agent = roost.agent("reviewed", AGENT)
    page.goto(f"/agents/{agent['id']}")
    expect(page.get_by_role("button", name="Review changes")).to_have_count(0)
    write(page, "Script", AGENT.replace("request.payload", "1"))
    press(page, "Review changes")
    dialog = page.get_by_role("dialog", name="Changes since revision 1")
    expect(dialog.locator("del")).to_have_text("    return request.payload")
    expect(dialog.locator("ins")).to_have_text("    return 1")
    dialog.get_by_role("button", name="Close").click()
    press(page, "Review changes")
    dialog.get_by_role("button", name="Save").click()
    saw_toast(page, "Saved as revision 2.")
    assert roost.get(f"/agents/{agent['id']}")["script"].endswith("return 1\n")
    roost.delete("/agents/" + agent["id"])


def test_checks_go_on_without_ruff(page, roost):
    # As if the worker had no WebAssembly: a missing file is an error of the console, which no test may have.
    worker = "onmessage = ({ data: { id } }) => postMessage({ id, error: 'Ruff could not be loaded.' });"
    page.route(
        re.compile("/static/ruff/worker.js"),
        lambda route: route.fulfill(body=worker, content_type="text/javascript"),
    )
    agent = roost.agent("without-ruff", AGENT)
    page.goto(f"/agents/{agent['id']}")
    write(page, "Script", "import bs4\ndef main(:\n")
    expect(warnings(page)).to_contain_text("This is not valid Python.", timeout=SOON)
    expect(warnings(page)).to_contain_text("No requirement provides the module “bs4”.")
    press(page, "Format")
    saw_toast(page, "The script could not be formatted.")
    roost.delete("/agents/" + agent["id"])
