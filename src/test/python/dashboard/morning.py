"""What broke since yesterday is found, fixed, and the affected jobs run again."""

from typing import Any

from hands import press, row, saw_toast, write
from playwright.sync_api import Locator, Page, expect
from roost_client import Roost, until

AGENT = """\
def price_of(order):
    return order["price"]


def main(request):
    print("order", request.payload["number"])
    return {"total": price_of(request.payload)}
"""
BROKEN = AGENT.replace('order["price"]', 'order["amount"]')
AFFECTED = 43


def summary(page: Page) -> Locator:
    """What the page of an issue says at its top."""
    return page.locator("issue-page .summary")


def broken(roost: Roost, agent: Any) -> Any:
    """The issue of an agent that its second revision breaks, with the failed jobs of a batch."""
    assert roost.run(agent, {"number": 1, "price": 2.5})["return_value"] == {"total": 2.5}
    roost.call("PATCH", f"/agents/{agent['id']}", {"script": BROKEN})
    payloads = [{"number": number, "price": number * 1.5} for number in range(AFFECTED)]
    roost.post(f"/agents/{agent['id']}/execute-batch", {"payloads": payloads})

    def grouped():
        found = roost.get("/issues?agent_id=" + agent["id"])["data"]
        return found and found[0]["count"] == AFFECTED and found[0]

    return until(f"{AFFECTED} failures", grouped)


def find_fix_and_run_again(page: Page, roost: Roost, agent: Any, issue: Any) -> None:
    """From the overview to the last job that has succeeded."""
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
