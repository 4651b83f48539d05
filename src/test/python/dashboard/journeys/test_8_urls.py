"""The URL of an agent: made, used, changed and removed next to the code that calls it."""

import hashlib
import hmac
import json
import urllib.error
import urllib.request

from hands import SOON, press, saw_toast
from playwright.sync_api import expect

AGENT = """\
def main(request):
    return request.payload
"""
SECRET = "a secret of the sender"
LATER = "another one, from tomorrow on"
BODY = b'{"name": "Ada"}'


def send(url: str, headers: "dict[str, str]") -> "tuple[int, str]":
    request = urllib.request.Request(url, BODY, {"Content-Type": "application/json", **headers}, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def signature(secret: str) -> str:
    return "sha256=" + hmac.new(secret.encode(), BODY, hashlib.sha256).hexdigest()


def test_an_agent_gets_a_url_that_is_changed_and_removed(page, roost, agent):
    page.goto(f"/agents/{agent['id']}/call-it")
    panel = page.get_by_role("region", name="URL", exact=True)
    expect(panel).to_contain_text("This agent has no URL")
    press(page, "Create URL")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Requests require").select_option("public")
    for box in dialog.get_by_role("checkbox").all():
        box.uncheck()
    dialog.get_by_label("Requests per minute").fill("60")
    dialog.get_by_label("Origins of pages").fill("https://App.example")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.locator("#url-methods-mistakes")).to_contain_text("at least one method")
    expect(dialog.locator("#url-origins-mistakes")).to_contain_text("lower case")
    dialog.get_by_label("POST", exact=True).check()
    dialog.get_by_label("Origins of pages").fill("https://app.example")
    dialog.get_by_role("button", name="Save").click()
    saw_toast(page, "URL saved.")
    expect(panel).to_contain_text("Nothing: it is public")
    expect(panel).to_contain_text("60 requests per minute")
    expect(panel.get_by_role("region", name="Code: request to the URL")).to_contain_text("curl -X POST")
    address = panel.locator("code").first.inner_text()
    assert address.endswith("/run/" + agent["name"])
    status, text = send(address, {})
    assert status == 200, text

    press(page, "Change URL")
    dialog.get_by_label("Requests require").select_option("signature")
    dialog.get_by_label("Signed as by").select_option("github")
    expect(dialog.locator("#url-secret-hint")).to_contain_text("the sender signs with")
    dialog.get_by_label("Secret").fill("short")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.locator("#url-secret-mistakes")).to_contain_text("16 to 255")
    dialog.get_by_label("Secret").fill(SECRET)
    dialog.get_by_role("button", name="Save").click()
    expect(panel).to_contain_text("GitHub")
    expect(page.locator("body")).not_to_contain_text(SECRET)
    assert SECRET not in json.dumps(roost.get(f"/agents/{agent['id']}/url"))
    assert send(address, {})[0] == 401
    assert send(address, {"X-Hub-Signature-256": signature(SECRET)})[0] == 200

    press(page, "Change URL")
    expect(dialog.locator("#url-overlap")).to_have_count(0)
    dialog.locator("#url-secret").fill(LATER)
    dialog.get_by_label("Requests signed with the secret so far").select_option("are accepted for another hour")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    for secret in (SECRET, LATER):
        assert send(address, {"X-Hub-Signature-256": signature(secret)})[0] == 200

    press(page, "Remove URL")
    dialog.get_by_role("button", name="Remove URL").click()
    expect(panel).to_contain_text("This agent has no URL", timeout=SOON)


def test_a_generated_secret_is_shown_once(page, agent):
    page.goto(f"/agents/{agent['id']}/call-it")
    press(page, "Create URL")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Requests require").select_option("signature")
    expect(dialog.locator("#url-secret-hint")).to_contain_text("generated")
    dialog.get_by_role("button", name="Save").click()
    shown = page.get_by_role("dialog").locator(".secret code")
    expect(shown).to_contain_text("whsec_")
    page.get_by_role("dialog").get_by_role("button", name="Done").click()
    expect(page.locator("body")).not_to_contain_text("whsec_")
