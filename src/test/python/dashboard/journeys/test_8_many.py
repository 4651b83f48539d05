"""Finding and acting among many agents and executions."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from cut_line import CutLine
from hands import press, row, saw_toast, search
from playwright.sync_api import expect
from roost_client import until

AGENT = "def main(request):\n    return request.payload\n"
SLOW = "import time\n\n\ndef main():\n    time.sleep(3600)\n"
FAILING = "def main(request):\n    return {}[request.payload]\n"
LABELS = {"runOnly": {"type": "rule", "values": ["label-content-name-mismatch"]}}


def newest_payload(roost, agent):
    return roost.get(f"/executor-jobs?limit=1&agent_id={agent['id']}")["data"][0]["payload"]


def test_run_now_sends_the_last_payload_and_says_so(page, roost, agent):
    roost.run(agent, {"n": 41})
    roost.submit(agent, {"n": 42})
    page.goto("/agents?q=" + agent["name"])
    run = row(page, agent["name"]).get_by_role("button", name="Run now")
    run.hover()
    expect(run).to_have_attribute("title", 'Run with payload { "n": 42 }')
    run.click()
    saw_toast(page, 'with payload { "n": 42 }')
    until("the third job", lambda: len(roost.get(f"/executor-jobs?agent_id={agent['id']}")["data"]) == 3)
    assert newest_payload(roost, agent) == {"n": 42}
    assert not Axe().run(page, options=LABELS).response["violations"]


def test_agents_are_found_by_words_in_any_order(page, roost):
    made = [roost.agent(name, AGENT) for name in ("billing_sync.eu", "billing-export")]
    page.goto("/agents")
    field = page.get_by_role("searchbox", name="Search agents")
    field.fill("sync BILL*")
    expect(row(page, "billing-export")).to_have_count(0)
    expect(row(page, "billing_sync.eu")).to_be_visible()
    search(page, "eu billing")
    expect(page.get_by_role("option", name="billing_sync.eu agent")).to_be_visible()
    for agent in made:
        roost.delete("/agents/" + agent["id"])


@pytest.fixture
def queue(roost):
    """An agent that runs one job for long, with 12 queued behind it."""
    agent = roost.agent("long-queue", SLOW, max_concurrency=1, timeout=7200)
    running = roost.started(roost.submit(agent))
    roost.post(f"/agents/{agent['id']}/execute-batch", {"payloads": list(range(12))})
    yield agent, running
    roost.delete("/agents/" + agent["id"])


def test_a_long_queue_is_one_line_and_is_cancelled_at_once(page, roost, queue):
    agent, running = queue
    page.goto(f"/agents/{agent['id']}/executions")
    line = page.get_by_role("heading", name=re.compile("12 queued runs"))
    expect(line).to_contain_text("oldest waiting")
    jobs = page.get_by_role("region", name="List of queued runs").get_by_role("row")
    expect(jobs).to_have_count(0)
    press(page, "Show queued runs")
    expect(jobs).to_have_count(13)
    press(page, "Cancel all")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Cancel 12 queued runs?")
    dialog.get_by_role("button", name="Keep queued").click()
    assert roost.get(f"/executor-jobs/count?state=queued&agent_id={agent['id']}")["count"] == 12
    press(page, "Cancel all")
    dialog.get_by_role("button", name="Cancel queued runs").click()
    saw_toast(page, "12 queued runs cancelled")
    expect(line).to_have_count(0)
    assert roost.get("/executions/" + running["id"])["state"] == "running"


def test_executions_are_filtered_by_typing(page, roost):
    agent = roost.agent("crawl-filtered-news", FAILING)
    other = roost.agent("crawl-filtered-images", AGENT)
    failed, succeeded = roost.run(agent, "gone"), roost.run(other, {"page": 7})
    page.goto("/executions")
    field = page.get_by_role("combobox", name="Filter executions")
    field.fill("agent:crawl-filtered* ")
    rows = page.get_by_role("region", name="List of executions").get_by_role("row")
    expect(rows).to_have_count(3)
    expect(row(page, "crawl-filtered-images")).to_contain_text('{"page":7}')
    expect(page.get_by_role("heading", name="Executions 2")).to_be_visible()
    field.press_sequentially("st")
    page.get_by_role("option", name="state:").click()
    field.press_sequentially("fai")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(rows).to_have_count(2)
    expect(rows.nth(1).get_by_role("link", name="failed")).to_have_attribute("href", f"/executions/{failed['id']}")
    expect(page.get_by_role("button", name="failed", exact=True)).to_have_attribute("aria-pressed", "true")
    page.reload()
    expect(field).to_have_value("agent:crawl-filtered* state:failed")
    field.fill("agent:crawl-filtered* state:fialed")
    expect(page.get_by_text("No state is called “fialed”.")).to_be_visible()
    expect(rows).to_have_count(2)
    field.fill("filtered images since:1h")
    expect(rows.nth(1).get_by_role("link", name="succeeded")).to_have_attribute(
        "href", f"/executions/{succeeded['id']}"
    )
    for each in (agent, other):
        roost.delete("/agents/" + each["id"])


def test_an_older_address_of_filtered_executions_still_works(page, roost, agent):
    roost.run(agent)
    page.goto(f"/executions?agent_id={agent['id']}&state=succeeded&hours=24")
    field = page.get_by_role("combobox", name="Filter executions")
    expect(field).to_have_value(f"state:succeeded agent:{agent['id']} since:24h")
    expect(page.get_by_role("region", name="List of executions").get_by_role("row")).to_have_count(2)


def test_what_could_not_be_read_in_an_outage_is_read_when_it_is_over(sign_in, roost):
    line = CutLine(roost.url)
    page = sign_in(url=line.url)
    page.goto("/keys")
    expect(page.get_by_role("heading", name="API keys", level=1)).to_be_visible()
    page.evaluate("window.sameDocument = true")
    page.context.watch.expects_lost_connection = True
    line.cut()
    expect(page.get_by_text("Connection to Roost lost")).to_be_visible()
    for name in ("Agents", "Schedules"):  # The code of the first page was not loaded either.
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.locator("main").get_by_role("alert")).to_be_visible()
    line.restore()
    expect(page.get_by_role("heading", name="Schedules", level=1)).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_role("link", name="Agents", exact=True).click()
    expect(page.get_by_role("heading", name="Agents", level=1)).to_be_visible()
    page.get_by_role("link", name="Schedules", exact=True).click()
    line.cut()
    page.get_by_role("link", name="Agents", exact=True).click()
    expect(page.locator("main").get_by_role("alert")).to_contain_text("can't be reached")
    line.restore()
    expect(page.get_by_role("alert")).to_have_count(0)
    assert page.evaluate("window.sameDocument")
    line.close()


def test_the_palette_acts_remembers_and_closes_at_once(page, roost, agent):
    roost.run(agent, {"n": 1})
    page.goto(f"/agents/{agent['id']}")
    page.get_by_role("link", name="Schedules", exact=True).first.click()
    page.goto("/executions")
    search(page, "run " + agent["name"][:60])
    page.get_by_role("option", name=re.compile(f"^Run {agent['name']}")).click()  # not "Search logs for" the same
    saw_toast(page, "Run queued")
    until("the second job", lambda: len(roost.get(f"/executor-jobs?agent_id={agent['id']}")["data"]) == 2)
    assert newest_payload(roost, agent) == {"n": 1}
    search(page, "no such thing at all")
    found = page.get_by_role("listbox", name="Results").get_by_role("option")
    expect(found).to_have_count(1)
    expect(found).to_contain_text("Search logs for “no such thing at all”")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    search(page, "failed executions")
    page.keyboard.press("Enter")
    expect(page.get_by_role("combobox", name="Filter executions")).to_have_value(
        "state:failed,timed_out,lost since:24h"
    )


def test_a_visited_agent_is_offered_again(page, agent):
    page.goto(f"/agents/{agent['id']}")
    expect(page.locator("main h1")).to_contain_text(agent["name"])
    page.get_by_role("link", name="DataStores", exact=True).first.click()
    expect(page).to_have_url("/stores")
    page.keyboard.press("Control+k")
    page.get_by_role("option", name=f"{agent['name']} recent").click()
    expect(page).to_have_url(f"/agents/{agent['id']}")


def test_rows_are_chosen_by_keys_and_agents_run_together(page, roost):
    made = [roost.agent(f"bulk-run-{name}", AGENT) for name in ("one", "two", "three")]
    for n, agent in enumerate(made):
        roost.run(agent, {"n": n})
    page.goto("/agents?q=bulk+run")
    expect(row(page, "bulk-run-one")).to_be_visible()
    for key in "jxjjx":
        page.keyboard.press(key)
    bar = page.get_by_role("region", name="Selection")
    expect(bar).to_contain_text("2 selected")
    bar.get_by_role("button", name="Run").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Run 2 agents?")
    expect(dialog.get_by_role("listitem")).to_contain_text(
        ['bulk-run-three with payload { "n": 2 }', 'bulk-run-one with payload { "n": 0 }']
    )
    dialog.get_by_role("button", name="Run 2").click()
    saw_toast(page, "2 runs queued")
    expect(bar).to_have_count(0)
    jobs = [roost.get(f"/executor-jobs?agent_id={agent['id']}")["data"] for agent in made]
    assert [[job["payload"] for job in each] for each in jobs] == [[{"n": 0}] * 2, [{"n": 1}], [{"n": 2}] * 2]
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/agents/agent_"))
    for agent in made:
        roost.delete("/agents/" + agent["id"])


def test_executions_are_run_again_and_cancelled_together(page, roost):
    agent = roost.agent("pairwise-quick", AGENT)
    slow = roost.agent("pairwise-slow", SLOW, timeout=7200)
    for n in (1, 2):
        roost.run(agent, n)
    running = roost.started(roost.submit(slow))
    page.goto("/executions?q=pairwise*")
    boxes = page.get_by_role("checkbox", name="Select exec_")
    expect(boxes).to_have_count(3)
    boxes.first.check()
    press(page, "Select all shown")
    bar = page.get_by_role("region", name="Selection")
    bar.get_by_role("button", name="Run again (2)").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("listitem")).to_contain_text(
        ["pairwise-quick with payload 2", "pairwise-quick with payload 1"]
    )
    dialog.get_by_role("button", name="Run 2 again").click()
    saw_toast(page, "2 runs queued")
    payloads = [job["payload"] for job in roost.get(f"/executor-jobs?agent_id={agent['id']}")["data"]]
    assert sorted(payloads) == [1, 1, 2, 2]
    row(page, "pairwise-slow").get_by_role("checkbox").check()
    bar.get_by_role("button", name="Cancel").click()
    dialog.get_by_role("button", name="Cancel executions").click()
    until("the end", lambda: roost.get("/executions/" + running["id"])["state"] == "cancelled")
    for each in (agent, slow):
        roost.delete("/agents/" + each["id"])


def test_changes_of_stores_show_without_a_reload_and_a_row_opens_its_store(page, roost):
    store = roost.post("/datastore", {"name": "written-elsewhere"})
    page.goto("/stores?q=elsewhere+written")
    line = row(page, "written-elsewhere")
    expect(line).to_contain_text("never")
    roost.post(f"/datastore/{store['id']}/transactions", {"writes": [{"key": "first", "value": 1}]})
    expect(line).not_to_contain_text("never")
    line.get_by_role("cell").nth(1).click()
    expect(page).to_have_url(f"/stores/{store['id']}")
    expect(row(page, "first")).to_be_visible()
    roost.post(f"/datastore/{store['id']}/transactions", {"writes": [{"key": "later", "value": 1}]})
    expect(row(page, "later")).to_be_visible()
    roost.delete("/datastore/" + store["id"])
