"""Trying an edited script on the payload that has failed, without saving it."""

import pytest
from hands import SOON, marked_line, returned, write
from playwright.sync_api import expect
from roost_client import until

AGENT = """\
def main(request):
    print("order", request.payload["number"])
    return {"total": request.payload["amount"]}
"""
FIXED = AGENT.replace("amount", "price")


@pytest.fixture
def failed(roost, agent):
    """An execution whose payload has no amount."""
    execution = roost.run(agent, {"number": 7, "price": 2.5})
    assert execution["reason"] == "exception"
    return execution


def test_a_payload_that_failed_is_tried_with_an_edited_script(page, roost, agent, failed):
    page.goto("/executions/" + failed["id"])
    page.get_by_role("link", name="Try an edited script").click()
    expect(page.get_by_role("button", name="Run draft")).to_have_count(0)
    expect(page.locator("run-panel code-editor")).to_contain_text('"number": 7')
    write(page, "Script", FIXED)
    page.get_by_role("button", name="Run draft").click()
    expect(returned(page)).to_contain_text("2.5", timeout=SOON)
    expect(page.locator("recent-executions .draft-mark")).to_have_count(1)
    assert roost.get("/agents/" + agent["id"])["script"] == AGENT

    write(page, "Script", FIXED.replace("return", "raise ValueError(7)\n    return"))
    page.keyboard.press("Control+Shift+Enter")
    expect(page.locator("run-panel .outcome")).to_contain_text("ValueError", timeout=SOON)
    draft = roost.get(f"/executions?agent_id={agent['id']}&draft=true")["data"][0]

    write(page, "Requirements", "six==1.17.0")
    expect(page.get_by_role("button", name="Run draft")).to_be_disabled()

    page.goto("/executions/" + draft["id"])
    expect(page.locator(".summary")).to_contain_text("draft")
    expect(page.locator(".summary")).to_contain_text("based on revision 1")
    expect(page.get_by_role("link", name="Compare with last success")).to_have_count(0)
    page.goto("/executions?q=" + "draft:yes")
    expect(page.locator("execution-table .draft-mark").first).to_be_visible()


def test_a_payload_of_an_issue_is_tried_with_an_edited_script(page, roost, agent, failed):
    def grouped():
        found = roost.get("/issues?agent_id=" + agent["id"])["data"]
        return found and found[0]

    page.goto("/issues/" + until("an issue", grouped)["id"])
    payloads = page.get_by_role("region", name="Payloads")
    payloads.get_by_role("link", name="Try an edited script").click()
    expect(page.locator("run-panel code-editor")).to_contain_text('"price": 2.5')
    expect(marked_line(page)).to_contain_text("amount")
