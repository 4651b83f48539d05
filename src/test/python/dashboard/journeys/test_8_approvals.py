"""What scripts ask people: the inbox, the form, and links that need no key."""

from typing import Any
from uuid import uuid4

import pytest
from estate import INVOICE, PAYMENT
from hands import SOON, press, saw_toast
from playwright.sync_api import Locator, Page, expect
from roost_client import Roost, until


@pytest.fixture
def payment(roost):
    """A job that waits for an approval, of an agent of this test."""
    agent = roost.agent(f"pays-{uuid4()}", PAYMENT)
    job = roost.submit(agent, INVOICE)
    return roost.asked(job), job


def fill_in(page: Page, amount: str) -> None:
    page.get_by_label("Account").select_option("reserve")
    page.get_by_label("Amount in EUR").fill(amount)
    page.get_by_label("note").fill("Invoice\n2026-0117")


def count(page: Page) -> Locator:
    return page.get_by_role("navigation").get_by_role("link", name="Approvals").locator(".number")


def ended(roost: Roost, job: Any) -> Any:
    """The return value of a job, once its script has continued."""

    def returned() -> Any:
        return roost.get("/executor-jobs/" + job["id"])["execution"].get("return_value")

    return until("the return value of " + job["id"], returned)


def test_an_approval_is_found_in_the_inbox_and_approved_with_its_form(page, roost, payment):
    approval, job = payment
    page.goto("/approvals?agent_id=" + approval["agent_id"])
    expect(count(page)).not_to_be_empty()
    page.get_by_role("link", name="Pay Åsa Ångström AB?").click()
    expect(page.get_by_role("group", name="Details")).to_contain_text("2026-0117")
    fill_in(page, "-1")
    press(page, "Approve")
    # Each mistake stands at its field.
    expect(page.get_by_label("Amount in EUR")).to_have_attribute("aria-invalid", "true")
    fill_in(page, "1000.25")
    press(page, "Approve")
    saw_toast(page, "Approved. The script continues.")
    expect(page.get_by_text("It is approved.")).to_be_visible()
    expected = {"account": "reserve", "amount": 1000.25, "note": "Invoice\n2026-0117"}
    assert ended(roost, job) == expected
    page.goto("/executor-jobs/" + job["id"])
    expect(page.get_by_role("region", name="Steps")).to_contain_text("Pay Åsa Ångström AB?", timeout=SOON)


def test_a_question_appears_and_goes_by_itself(page, roost, payment):
    approval, _ = payment
    page.goto("/approvals?agent_id=" + approval["agent_id"])
    expect(page.get_by_role("link", name="Pay Åsa Ångström AB?")).to_be_visible()
    roost.post(f"/approvals/{approval['id']}/reject", {"comment": "Paid already."})
    expect(page.get_by_role("heading", name="No matching approvals")).to_be_visible()
    page.goto("/approvals/" + approval["id"])
    expect(page.get_by_text("It is rejected.")).to_be_visible()
    expect(page.get_by_role("region", name="Details")).to_contain_text("Paid already.")
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)


def test_somebody_else_was_faster(page, roost, payment):
    approval, _ = payment
    page.goto("/approvals/" + approval["id"])

    def overtaken(route) -> None:
        roost.post(f"/approvals/{approval['id']}/reject", {})
        route.continue_()

    page.route("**/v1/approvals/*/approve", overtaken)
    fill_in(page, "1")
    press(page, "Approve")
    expect(page.get_by_role("alert")).to_contain_text("The approval is rejected already")


def test_nothing_to_approve_says_so(page):
    page.route("**/v1/approvals?*", lambda route: route.fulfill(json={"data": [], "next_cursor": None}))
    page.goto("/approvals")
    expect(page.get_by_role("heading", name="Nothing to approve")).to_be_visible()


def test_a_key_that_may_only_read_decides_nothing(sign_in, roost, payment):
    approval, _ = payment
    reader = Roost(roost.url, roost.post("/keys", {"name": "reads approvals", "role": "read"})["key"])
    page = sign_in(by=reader)
    page.goto("/approvals/" + approval["id"])
    expect(page.get_by_text("execute").first).to_be_visible()
    for name in ("Approve", "Reject"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)


def test_a_link_decides_without_a_key_once(open_context, roost, payment):
    approval, job = payment
    link = roost.post(f"/approvals/{approval['id']}/links", {"assignee": "Ada"})["url"]
    page = open_context(viewport={"width": 390, "height": 844}).new_page()
    page.goto(link)
    expect(page.get_by_role("heading", name="Pay Åsa Ångström AB?")).to_be_visible()
    expect(page.get_by_text("You decide as Ada.")).to_be_visible()
    # Whoever only opens it has decided nothing.
    page.reload()
    assert roost.get("/approvals/" + approval["id"])["state"] == "pending"
    fill_in(page, "7")
    press(page, "Approve")
    expect(page.get_by_text("It is approved.")).to_be_visible()
    assert ended(roost, job)["amount"] == 7
    assert roost.get("/approvals/" + approval["id"])["decided_by"] == "Ada"
    page.reload()
    expect(page.get_by_text("It is approved.")).to_be_visible()
    expect(page.get_by_role("button", name="Reject")).to_have_count(0)


def test_a_link_that_is_none_says_what_to_do(open_context):
    page = open_context().new_page()
    page.goto("/approve#token=" + "0" * 64)
    expect(page.get_by_role("heading", name="This link has ended")).to_be_visible()
    expect(page.get_by_text("Ask for another one")).to_be_visible()
