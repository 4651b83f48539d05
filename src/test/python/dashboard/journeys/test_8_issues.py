"""Failures by cause: what broke, where it is put right, and running the affected jobs again."""

import pytest
from hands import SOON, press, row, saw_toast, write
from playwright.sync_api import expect
from roost_client import until

AGENT = """\
def price_of(order):
    return order["price"]


def main(request):
    print("order", request.payload["number"])
    return {"total": price_of(request.payload)}
"""
BROKEN = AGENT.replace('order["price"]', 'order["amount"]')
AFFECTED = 43


def summary(page):
    return page.locator("issue-page .summary")


@pytest.fixture
def issue(roost, agent):
    """The agent is broken by its second revision, and a batch of jobs fails."""
    assert roost.run(agent, {"number": 1, "price": 2.5})["return_value"] == {"total": 2.5}
    roost.call("PATCH", f"/agents/{agent['id']}", {"script": BROKEN})
    payloads = [{"number": number, "price": number * 1.5} for number in range(AFFECTED)]
    roost.post(f"/agents/{agent['id']}/execute-batch", {"payloads": payloads})

    def grouped():
        found = roost.get("/issues?agent_id=" + agent["id"])["data"]
        return found and found[0]["count"] == AFFECTED and found[0]

    return until(f"{AFFECTED} failures", grouped)


def test_what_broke_since_yesterday_is_found_fixed_and_run_again(page, roost, agent, issue):
    page.goto("/")
    expect(page.locator("nav issue-count")).to_contain_text("open")
    open_issues = page.get_by_role("region", name="Open issues")
    entry = open_issues.get_by_role("listitem").filter(has=page.locator(f"[href='/issues/{issue['id']}']"))
    expect(entry).to_contain_text(f"{AFFECTED}×")
    expect(entry).to_contain_text(agent["name"])
    entry.get_by_role("link", name="KeyError: 'amount'").click()

    expect(page.get_by_role("heading", name="KeyError: 'amount'")).to_be_visible()
    expect(summary(page)).to_contain_text(f"{AFFECTED} failures")
    failing = page.get_by_role("region", name="Script around line 2").locator("[aria-current]")
    expect(failing).to_contain_text('return order["amount"]')
    expect(failing).to_be_in_viewport()
    expect(page.get_by_role("region", name="Traceback")).to_contain_text("in price_of")
    introduced = page.get_by_role("region", name="Introduced in revision 2")
    expect(introduced.locator("del")).to_have_text('    return order["price"]')
    expect(introduced.locator("ins")).to_have_text('    return order["amount"]')
    expect(page.get_by_role("region", name="End of the log")).to_contain_text("order")
    expect(page.get_by_role("region", name="Payloads")).to_contain_text('"price"')
    expect(page.get_by_role("img", name=f"{AFFECTED} failures in 14 days")).to_be_visible()

    page.get_by_role("link", name="Edit", exact=True).click()
    write(page, "Script", AGENT)
    page.keyboard.press("Control+s")
    until("the fix", lambda: roost.get("/agents/" + agent["id"])["running_revision"] == 3)

    page.goto("/issues/" + issue["id"])
    press(page, "Run again")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"Run {AFFECTED} jobs again?")
    press(page, f"Run {AFFECTED} jobs")
    saw_toast(page, f"{AFFECTED} jobs submitted.")
    succeeded = f"/executions?state=succeeded&limit=200&agent_id={agent['id']}"
    until("the replayed jobs", lambda: len(roost.get(succeeded)["data"]) == 1 + AFFECTED)
    press(page, "Resolve")
    expect(summary(page)).to_contain_text("resolved")
    press(page, "Run again")
    saw_toast(page, f"No job to run again: {AFFECTED} jobs succeeded since.")

    page.get_by_role("link", name="Issues").first.click()
    expect(page.locator(f"main [href='/issues/{issue['id']}']")).to_have_count(0)
    press(page, "open")
    press(page, "resolved")
    expect(row(page, agent["name"])).to_contain_text("resolved")
    assert roost.get("/issues/" + issue["id"])["count"] == AFFECTED, "no further failure"


def test_some_jobs_run_again(page, roost, agent, issue):
    page.goto("/issues/" + issue["id"])
    boxes = page.get_by_role("checkbox")
    boxes.nth(0).check()
    boxes.nth(1).check()
    press(page, "Run 2 jobs again")
    page.get_by_role("dialog").get_by_role("button", name="Run 2 jobs").click()
    saw_toast(page, "2 jobs submitted.")
    expect(boxes.nth(0)).not_to_be_checked()
    # Nothing was fixed, so they fail again, in the same issue.
    expect(summary(page)).to_contain_text(f"{AFFECTED + 2} failures", timeout=SOON)
    row(page, "failed").first.get_by_role("button", name="Run again").click()
    expect(page.get_by_role("dialog")).to_contain_text("Run 1 job again?")
    press(page, "Cancel")


def test_an_issue_is_muted_and_reopened(page, issue):
    page.goto("/issues/" + issue["id"])
    press(page, "Mute")
    expect(summary(page)).to_contain_text("muted")
    press(page, "Reopen")
    expect(summary(page)).to_contain_text("open")


def test_a_new_failure_appears_by_itself(page, roost, agent):
    page.goto(f"/issues?agent_id={agent['id']}")
    expect(page.get_by_text("No matching issues")).to_be_visible()
    roost.run(agent, {"number": 1})
    expect(row(page, "KeyError: 'price'")).to_contain_text(agent["name"])


def test_no_open_issues_say_so(page):
    page.route("**/v1/issues?*", lambda route: route.fulfill(json={"data": [], "next_cursor": None}))
    page.goto("/issues")
    expect(page.get_by_role("heading", name="No open issues")).to_be_visible()


def test_a_key_that_may_only_read_changes_nothing(sign_in, roost, issue):
    from roost_client import Roost

    reader = Roost(roost.url, roost.post("/keys", {"name": "reads issues", "role": "read"})["key"])
    page = sign_in(by=reader)
    page.goto("/issues/" + issue["id"])
    expect(page.get_by_text("Resolving and muting an issue requires the role")).to_be_visible()
    for name in ("Resolve", "Mute", "Run again"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    expect(page.get_by_role("checkbox")).to_have_count(0)
