"""What people do with agents that they have: schedules, stores, runs that take long."""

from hands import SOON, logged, press, returned, row, write
from playwright.sync_api import expect
from roost_client import until

AGENT = "def main(request, store):\n    store['last'] = request.payload\n    return request.payload\n"
ENDLESS = "import time\n\n\ndef main():\n    for n in range(36_000):\n        print('tick', n, flush=True)\n        time.sleep(0.1)\n"


def test_a_schedule_is_created_triggered_and_paused(page, roost, agent):
    page.goto(f"/agents/{agent['id']}/schedules")
    press(page, "New schedule")
    form = page.get_by_role("dialog")
    form.get_by_label("Cron expression").fill("61 * * * *")
    expect(form.locator("#cron-mistakes")).not_to_be_empty()
    form.get_by_label("Cron expression").fill("30 4 1 1 *")
    form.get_by_label("Time zone").fill("Asia/Tokyo")
    expect(form.get_by_role("listitem").filter(has_text="04:30")).to_have_count(5)
    write(page, "Payload", '{"n": 7}')
    press(page, "Create schedule")
    schedule = until("the schedule", lambda: roost.get(f"/schedules?agent_id={agent['id']}")["data"])[0]
    assert (schedule["cron"], schedule["time_zone"], schedule["payload"]) == ("30 4 1 1 *", "Asia/Tokyo", {"n": 7})
    line = row(page, "30 4 1 1 *")
    link = page.get_by_role("link", name="View run")
    line.get_by_role("button", name="Run now").click()
    first = link.get_attribute("href")
    line.get_by_role("button", name="Run now").click()
    expect(link).not_to_have_attribute("href", first)  # The next one has taken its place.
    link.click()
    expect(link).to_have_count(0)
    expect(returned(page)).to_contain_text("7", timeout=SOON)
    page.goto(f"/agents/{agent['id']}/schedules")
    line.get_by_role("button", name="Pause").click()
    expect(line).to_contain_text("paused")
    assert roost.get("/schedules/" + schedule["id"])["state"] == "paused"
    line.get_by_role("button", name="Resume").click()
    expect(line).to_contain_text("active")


def test_an_entry_of_a_store_is_changed_unless_somebody_was_faster(page, roost, agent):
    store = agent["store_ids"][0]
    roost.call("PUT", f"/datastore/{store}/entries/limit", {"n": 1})
    page.goto(f"/stores/{store}")
    page.get_by_role("link", name="limit").click()
    write(page, "Value", '{"n": 1.10}')
    press(page, "Save")
    until("the change", lambda: roost.get(f"/datastore/{store}/entries/limit") == {"n": 1.1})
    expect(row(page, "limit")).to_contain_text("1.10")
    write(page, "Value", '{"n": 3}')
    roost.call("PUT", f"/datastore/{store}/entries/limit", {"n": "theirs"})
    press(page, "Save")
    conflict = page.get_by_role("alert").filter(has_text="changed while you were editing")
    expect(conflict).to_contain_text("theirs")
    expect(conflict).to_contain_text("3")
    press(page, "Overwrite")
    until("the change", lambda: roost.get(f"/datastore/{store}/entries/limit") == {"n": 3})


def test_what_a_script_stores_shows_without_a_reload(page, roost, agent):
    page.goto(f"/stores/{agent['store_ids'][0]}")
    expect(page.get_by_text("No entries yet")).to_be_visible()
    roost.run(agent, "from a script")
    expect(row(page, "last")).to_contain_text("from a script")


def test_a_run_that_takes_too_long_is_cancelled(page, roost):
    agent = roost.agent("ticker", ENDLESS)
    execution = roost.started(roost.submit(agent))
    page.goto(f"/executions/{execution['id']}")
    logged(page, "tick")
    press(page, "Cancel")
    page.get_by_role("dialog").get_by_role("button", name="Cancel execution").click()
    expect(page.get_by_role("status").filter(has_text="cancelled").first).to_be_visible(timeout=SOON)
    until("the end", lambda: roost.get("/executions/" + execution["id"])["state"] == "cancelled")
    roost.delete("/agents/" + agent["id"])


def test_a_payload_keeps_its_exact_numbers(page, agent):
    page.goto(f"/agents/{agent['id']}")
    write(page, "Payload, JSON", '{"big": 123456789012345678901234567890, "price": 1.10}')
    press(page, "Run")
    expect(returned(page)).to_contain_text("123456789012345678901234567890", timeout=SOON)
