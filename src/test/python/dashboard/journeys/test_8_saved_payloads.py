"""Payloads that are saved for an agent, beside the editor of the payload."""

from hands import SOON, press, returned, saw_toast, write
from playwright.sync_api import expect

AGENT = """\
def main(request):
    return request.payload
"""


def test_a_payload_is_saved_used_by_others_replaced_and_deleted(page, roost, agent, sign_in):
    saved = f"/agents/{agent['id']}/payloads"
    page.goto("/agents/" + agent["id"])
    menu = page.get_by_label("Saved payloads")
    expect(menu).to_have_count(0)
    write(page, "Payload, JSON", '{"total": 1.10}')
    press(page, "Save payload")
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Save payload").click()
    expect(dialog).to_be_visible()  # without a name
    dialog.get_by_label("Name").fill("a/b")
    dialog.get_by_role("button", name="Save payload").click()
    expect(dialog).to_contain_text("begin with a letter or digit")
    dialog.get_by_label("Name").fill("small order")
    dialog.get_by_role("button", name="Save payload").click()
    saw_toast(page, "Payload small order saved.")
    expect(menu).to_have_value("small order")
    assert roost.get(saved + "/small%20order")["payload"] == {"total": 1.1}

    other = sign_in()
    other.goto("/agents/" + agent["id"])
    write(other, "Payload, JSON", "[1, 2]")
    other.get_by_label("Saved payloads").select_option("small order")
    expect(other.locator("run-panel code-editor")).to_contain_text('"total": 1.10')
    other.keyboard.press("Control+Enter")
    expect(returned(other)).to_contain_text("1.1", timeout=SOON)

    write(page, "Payload, JSON", '{"total": 2}')
    expect(menu).to_have_value("")
    press(page, "Save payload")
    expect(dialog.get_by_label("Name")).to_have_value("small order")
    expect(dialog).to_contain_text("Replaces the payload with this name")
    dialog.get_by_role("button", name="Save payload").click()
    expect(dialog).to_have_count(0)
    assert roost.get(saved + "/small%20order")["payload"] == {"total": 2}

    press(page, "Delete payload")
    dialog.get_by_role("button", name="Delete payload").click()
    saw_toast(page, "Payload small order deleted.")
    expect(menu).to_have_count(0)
    expect(page.locator("run-panel code-editor")).to_contain_text('"total": 2')
    assert roost.get(saved)["data"] == []


def test_text_that_is_no_json_is_not_saved(page, agent):
    page.goto("/agents/" + agent["id"])
    write(page, "Payload, JSON", "{'a': 1}")
    press(page, "Save payload")
    expect(page.locator(".toast, [role=alert]").first).to_contain_text("not valid JSON")
    expect(page.get_by_role("dialog")).to_have_count(0)
