"""How newer bases come to agents: rebuilding, and watching, pausing and undoing rollouts."""

import pytest
from hands import SOON, press, row
from playwright.sync_api import expect

AGENT = "def main(request):\n    return request.payload\n"

OLD = {
    "reasons": ["base", "sdk"],
    "base": "python:3.13-slim@sha256:01d",
    "current_base": "python:3.13-slim@sha256:2e3",
    "fixes": [{"id": "CVE-2026-0001", "severity": "high", "summary": "OpenSSL"}],
}


def rollout(state: str, **counts: int) -> dict:
    known = dict.fromkeys(("queued", "building", "updated", "failed", "skipped", "undone"), 0)
    return {
        "id": "rollout_00000000000000000000000001",
        "state": state,
        "automatic": True,
        "message": None,
        "agents": {**known, **counts, "total": sum(counts.values())},
        "created_at": "2026-01-14T09:30:00Z",
        "finished_at": None,
    }


def member(name: str, state: str, message: "str | None" = None) -> dict:
    return {
        "agent_id": f"agent_{name:0>26}",
        "agent_name": name,
        "state": state,
        "from_builder_job_id": "bjob_00000000000000000000000001",
        "to_builder_job_id": None,
        "message": message,
        "updated_at": "2026-01-14T09:30:00Z",
    }


def summary(page):
    return page.locator("rollout-page .summary")


def test_an_agent_is_rebuilt_and_that_is_undone(page, roost, agent):
    before = agent["latest_builder_job_id"]
    page.goto(f"/agents/{agent['id']}/builds")
    press(page, "Rebuild")
    expect(page.get_by_role("dialog")).to_contain_text(f"Rebuild {agent['name']}?")
    press(page, "Rebuild agent")
    expect(page.get_by_role("heading", name="Rollout", exact=True)).to_be_visible()
    expect(summary(page)).to_contain_text("completed", timeout=SOON)
    expect(summary(page)).to_contain_text("1 updated of 1 agent")
    expect(row(page, agent["name"])).to_contain_text("updated")
    press(page, "failed")
    expect(page.get_by_text("No matching agents")).to_be_visible()
    assert roost.get("/agents/" + agent["id"])["latest_builder_job_id"] != before

    page.get_by_role("link", name="Rollouts").click()
    expect(row(page, "1 updated").first).to_contain_text("manual")
    row(page, "1 updated").first.get_by_role("link", name="completed").click()
    press(page, "Undo")
    expect(page.get_by_role("dialog")).to_contain_text("1 updated agent returns")
    press(page, "Undo rollout")
    expect(summary(page)).to_contain_text("1 undone of 1 agent", timeout=SOON)
    expect(row(page, agent["name"])).to_contain_text("undone")
    expect(page.get_by_role("button", name="Undo", exact=True)).to_have_count(0)
    assert roost.get("/agents/" + agent["id"])["latest_builder_job_id"] == before
    assert roost.run(agent, "again")["return_value"] == "again"


def test_a_build_names_its_base(page, roost, agent):
    base = roost.get("/builds/" + agent["build_id"])["base"]
    page.goto("/builds/" + agent["build_id"])
    expect(page.locator(".facts", has_text="Base")).to_contain_text(base)


@pytest.fixture
def outdated(page, agent):
    """The agent, as the browser gets it when its base and SDK are newer."""

    def answer(route) -> None:
        found = route.fetch()
        data = found.json()
        for each in data.get("data", [data]):
            each["outdated"] = OLD if each["id"] == agent["id"] else None
        route.fulfill(response=found, json=data)

    page.route("**/v1/agents?*", answer)
    page.route(f"**/v1/agents/{agent['id']}?*", answer)
    return agent


def test_an_outdated_agent_says_so_and_how_it_differs(page, outdated):
    page.goto("/agents")
    expect(row(page, outdated["name"]).locator(".outdated")).to_have_text("outdated")
    row(page, outdated["name"]).get_by_role("link", name=outdated["name"]).click()
    notice = page.locator(".notice", has_text="This agent is outdated")
    expect(notice).to_contain_text(f"were built on {OLD['base']}. The current base is {OLD['current_base']}.")
    expect(notice).to_contain_text("an earlier version of Roost's SDK")
    expect(notice.get_by_role("listitem")).to_have_text("CVE-2026-0001 (high) OpenSSL")
    notice.get_by_role("button", name="Rebuild").click()
    press(page, "Cancel")
    expect(page).to_have_url(f"/agents/{outdated['id']}")
    notice.get_by_role("button", name="Rebuild").click()
    press(page, "Rebuild agent")
    expect(summary(page)).to_contain_text("1 updated of 1 agent", timeout=SOON)


def test_an_agent_that_a_rollout_has_updated_is_outdated_no_more(page, outdated):
    page.goto(f"/agents/{outdated['id']}")
    notice = page.locator(".notice", has_text="This agent is outdated")
    expect(notice).to_be_visible()
    page.unroute(f"**/v1/agents/{outdated['id']}?*")
    expect(notice).to_have_count(0)


def test_a_rollout_is_watched_paused_and_resumed(page):
    """Its states come one after another, which real builds are too quick for."""
    now = {"state": rollout("running", queued=2, building=1, failed=1)}
    agents = [member("adder", "building"), member("greeter", "failed", "There is no such package.")]

    def move(verb: str, state: str):
        def answer(route) -> None:
            now["state"] = {**now["state"], "state": state}
            route.fulfill(json=now["state"])

        page.route(f"**/v1/rollouts/*/{verb}", answer)

    page.route("**/v1/rollouts/rollout_*", lambda route: route.fulfill(json=now["state"]))
    page.route("**/v1/rollouts?*", lambda route: route.fulfill(json={"data": [now["state"]], "next_cursor": None}))

    def listed(route) -> None:
        chosen = [each for each in agents if f"state={each['state']}" in route.request.url]
        data = chosen if "state=failed" in route.request.url else agents
        route.fulfill(json={"data": data, "next_cursor": None})

    page.route("**/v1/rollouts/*/agents?*", listed)
    move("pause", "paused")
    move("resume", "running")

    page.goto("/rollouts")
    expect(row(page, "running")).to_contain_text("1 failed, 1 building, 2 queued")
    now["state"] = rollout("running", queued=1, building=1, failed=1, updated=1)
    expect(row(page, "running")).to_contain_text("1 updated, 1 failed, 1 building, 1 queued")
    page.get_by_role("link", name="running").click()
    expect(row(page, "greeter")).to_contain_text("There is no such package.")
    expect(row(page, "adder")).to_contain_text("building")
    press(page, "failed")
    expect(row(page, "adder")).to_have_count(0)
    expect(row(page, "greeter")).to_be_visible()
    press(page, "Pause")
    press(page, "Pause rollout")
    expect(summary(page)).to_contain_text("paused")
    press(page, "Resume")
    expect(page.get_by_role("dialog")).to_contain_text("2 agents left to update.")
    press(page, "Resume rollout")
    expect(summary(page)).to_contain_text("running")
    agents[0]["state"] = "updated"
    press(page, "failed")
    now["state"] = {**rollout("paused", queued=1, updated=2, failed=1), "message": "3 of 4 builds have failed."}
    expect(page.get_by_text("Paused by Roost")).to_be_visible()
    expect(row(page, "adder")).to_contain_text("updated")


def test_no_rollouts_say_when_they_begin(page):
    page.route("**/v1/rollouts?*", lambda route: route.fulfill(json={"data": [], "next_cursor": None}))
    page.goto("/rollouts")
    expect(page.get_by_role("heading", name="No rollouts yet")).to_be_visible()
    expect(page.get_by_text("roost.rollouts.automatic")).to_be_visible()


def test_a_key_that_may_not_write_only_watches(sign_in, roost, agent):
    from roost_client import Roost

    reader = Roost(roost.url, roost.post("/keys", {"name": "watches rollouts", "role": "read"})["key"])
    page = sign_in(by=reader)
    rebuilt = roost.rolled_out(roost.post(f"/agents/{agent['id']}/rebuild"))
    page.goto(f"/rollouts/{rebuilt['id']}")
    expect(summary(page)).to_contain_text("completed")
    expect(page.get_by_text("Pausing, resuming and undoing a rollout requires the role")).to_be_visible()
    expect(page.get_by_role("button", name="Undo", exact=True)).to_have_count(0)
