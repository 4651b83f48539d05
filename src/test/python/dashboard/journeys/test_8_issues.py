"""Failures by cause: where they are put right, and running the affected jobs again."""

import morning
import pytest
from hands import SOON, press, row, saw_toast
from morning import AFFECTED, broken, summary
from playwright.sync_api import expect

AGENT = morning.AGENT


@pytest.fixture
def issue(roost, agent):
    return broken(roost, agent)


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
