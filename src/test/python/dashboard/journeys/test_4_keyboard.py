"""The whole dashboard without a pointer, and the way out of it."""

import httpx
import pytest
from hands import SOON, credentials, editor, overview, returned, saw_toast, search, write
from playwright.sync_api import expect

AGENT = "def main():\n    return 'hello'\n"


def test_an_agent_is_changed_run_and_saved_by_keys_alone(page, roost, agent):
    overview(page)
    page.evaluate(PRESS_G_AND_A)
    expect(page).to_have_url("/agents")
    search(page, agent["name"])
    expect(page.get_by_role("option", name=agent["name"]).first).to_be_visible()
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"/agents/{agent['id']}")
    expect(editor(page, "Script")).to_contain_text("hello")
    page.keyboard.press("Control+Enter")
    expect(returned(page)).to_contain_text("hello", timeout=SOON)
    write(page, "Script", AGENT.replace("hello", "by keys"))
    page.keyboard.press("Control+s")
    saw_toast(page, "Saved as revision 2")
    page.keyboard.press("Control+Enter")
    expect(returned(page)).to_contain_text("by keys", timeout=SOON)
    assert "by keys" in roost.get("/agents/" + agent["id"])["script"]


# In one turn, since the second key counts for a second only.
PRESS_G_AND_A = """() => {
  for (const key of "ga") document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
}"""


def test_tab_reaches_the_content_first_and_leaves_the_editor(page, agent):
    page.goto(f"/agents/{agent['id']}")
    expect(editor(page, "Script")).to_contain_text("hello")
    expect(editor(page, "Payload, JSON")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    for _ in range(40):
        page.keyboard.press("Tab")
        if editor(page, "Payload, JSON").evaluate("(element) => element.getRootNode().activeElement === element"):
            break
    else:
        pytest.fail("Tab never reaches the payload, which comes after the script's editor")


def test_focus_is_seen_wherever_it_is(page, agent):
    page.goto("/agents")
    expect(page.get_by_role("row").nth(1)).to_be_visible()
    unseen = set()
    for _ in range(25):
        page.keyboard.press("Tab")
        unseen.add(page.evaluate(UNSEEN_FOCUS))
    assert unseen <= {""}


# The focused element, when nothing shows that it is focused.
UNSEEN_FOCUS = """() => {
  const element = document.activeElement;
  const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
  const seen = (outlineStyle !== "none" && parseFloat(outlineWidth) > 0) || boxShadow !== "none";
  return seen || element === document.body ? "" : element.outerHTML.slice(0, 100);
}"""


def test_help_lists_the_shortcuts_and_escape_closes_it(page):
    overview(page)
    page.keyboard.press("?")
    help_ = page.get_by_role("dialog")
    expect(help_).to_contain_text("Go to Agents")
    page.keyboard.press("Escape")
    expect(help_).to_have_count(0)


def test_signing_out_ends_the_session_in_every_tab(page, roost):
    overview(page)
    other = page.context.new_page()
    other.goto("/agents")
    expect(other.get_by_role("heading", name="Agents", level=1)).to_be_visible()
    before = credentials(page)
    assert httpx.get(roost.url + "/v1/agents", headers=before).status_code == 200
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in to Roost")).to_be_visible()
    assert httpx.get(roost.url + "/v1/agents", headers=before).status_code == 401
    assert page.evaluate("localStorage.getItem('roost-page-token')") is None
    other.reload()
    expect(other.get_by_role("heading", name="Sign in to Roost")).to_be_visible()


def test_a_link_signs_in_once_and_says_so(open_context, roost):
    link = roost.link()
    for expected in ("Overview", "Sign in to Roost"):
        page = open_context().new_page()
        page.goto(link)
        expect(page.get_by_role("heading", name=expected, level=1)).to_be_visible()
        assert "token" not in page.url
    expect(page.get_by_text("already used")).to_be_visible()


def test_a_key_signs_in_and_a_wrong_one_is_rejected(open_context, roost):
    page = open_context().new_page()
    page.goto("/agents")
    page.get_by_label("API key").fill("roost_wrong")
    page.keyboard.press("Enter")
    expect(page.locator("#key-mistakes")).not_to_be_empty()
    page.get_by_label("API key").fill(roost.key)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Agents", level=1)).to_be_visible()
