"""The page of one execution: its numbers agree, its tab says what it is, its log is searched."""

import re

import pytest
from hands import SOON, marked_line, press, returned, saw_toast, write
from playwright.sync_api import expect

TICKING = """\
import time


def main():
    print("one entry\\nwith two lines")
    for n in range(3_000):
        print(n, flush=True)
        time.sleep(0.1)
"""
FAILING = "def main():\n    raise ValueError('no')\n"


@pytest.fixture
def running(roost, request):
    """An execution that goes on until the test has ended."""
    agent = roost.agent(request.node.name[:90], TICKING)
    yield roost.started(roost.submit(agent))
    roost.delete("/agents/" + agent["id"])


def test_all_numbers_of_a_running_execution_agree(page, running):
    page.goto(f"/executions/{running['id']}")
    expect(page.locator(".summary")).to_contain_text("running")
    seconds = page.evaluate(SECONDS_OF_EACH_TICK)
    assert len(seconds) == 3
    assert all(counted == ago for counted, ago in seconds)
    # How long its log is stands in one place, under the log.
    expect(page.get_by_role("region", name="Details")).not_to_contain_text("entries")


# The seconds of "38 s" and of "started 38s ago", after each of three ticks.
SECONDS_OF_EACH_TICK = """async () => {
  const read = () => ["ticking-duration .number", "time-ago time"].map(
      (part) => Number.parseInt(document.querySelector(`.summary ${part}`).textContent) || 0);
  const found = [];
  for (let before = read(); found.length < 3; ) {
    await new Promise(requestAnimationFrame);
    const now = read();
    if (now[0] !== before[0]) found.push(now);
    before = now;
  }
  return found;
}"""


def test_a_tab_is_titled_after_the_agent_and_its_state(page, roost):
    agent = roost.agent("billing_sync", "import time\n\n\ndef main():\n    time.sleep(3600)\n")
    job = roost.submit(agent)
    execution = roost.started(job)
    page.goto(f"/executions/{execution['id']}")
    expect(page).to_have_title("● billing_sync · running · Roost")
    roost.post(f"/executor-jobs/{job['id']}/cancel")
    expect(page).to_have_title("⊘ billing_sync · cancelled · Roost")
    page.goto(f"/executor-jobs/{job['id']}?stay=1")
    expect(page).to_have_title("⊘ billing_sync · cancelled · Roost")
    page.goto(f"/builds/{roost.built(agent)['id']}")
    expect(page).to_have_title("✓ billing_sync · build succeeded · Roost")
    roost.delete("/agents/" + agent["id"])


def test_the_clock_has_24_hours_wherever_one_is(sign_in, roost):
    agent = roost.agent("american", FAILING)
    execution = roost.run(agent)
    page = sign_in(locale="en-US", timezone_id="America/New_York")
    page.goto(f"/executions/{execution['id']}")
    timeline = page.get_by_role("list", name="Timeline")
    expect(timeline.locator("time").first).to_have_text(re.compile(r"^\d\d:\d\d:\d\d$"))
    titles = page.locator("time[title]").evaluate_all("(all) => all.map(({ title }) => title)")
    assert titles
    assert not [title for title in titles if re.search("[AP]M", title)]
    roost.delete("/agents/" + agent["id"])


LINES = """\
def main():
    for n in range(1, 401):
        print(f"line {n}", "needle" if n in (150, 300) else "hay")
"""


def test_a_search_in_a_log_moves_as_one_types(page, roost):
    agent = roost.agent("haystack", LINES)
    execution = roost.run(agent)
    page.goto(f"/executions/{execution['id']}")
    log = page.locator("log-view")
    expect(log.get_by_text("line 1 hay")).to_be_visible()
    tools = log.locator(".log-tools")
    before = tools.bounding_box()
    log.get_by_label("Search log").focus()
    page.keyboard.type("need")
    expect(log.get_by_text("line 150 needle")).to_be_visible()
    expect(log.get_by_role("status")).to_have_text("1 of 2")
    assert tools.bounding_box() == before
    page.keyboard.press("Enter")
    expect(log.get_by_text("line 300 needle")).to_be_visible()
    # What is typed next is searched from there.
    page.keyboard.type("le")
    expect(log.get_by_role("status")).to_have_text("2 of 2")
    page.keyboard.type("x")
    expect(log.get_by_role("status")).to_have_text("no matches")
    page.keyboard.press("Control+a")
    page.keyboard.type("line 20 ")
    expect(log.get_by_text("line 20 hay")).to_be_visible()
    roost.delete("/agents/" + agent["id"])


def test_an_execution_is_run_again_with_an_edited_payload(page, roost):
    agent = roost.agent("echo", "def main(request):\n    return request.payload\n")
    execution = roost.run(agent, {"day": 1})
    page.goto(f"/executions/{execution['id']}")
    press(page, "Run with edited payload")
    dialog = page.get_by_role("dialog")
    payload = dialog.get_by_role("textbox", name="Payload")
    expect(payload).to_contain_text('"day": 1')
    write(page, "Payload", '{"day": 2')
    dialog.get_by_role("button", name="Run", exact=True).click()
    expect(dialog.locator("#payload-mistakes")).not_to_be_empty()
    write(page, "Payload", '{"day": 2}')
    dialog.get_by_role("button", name="Run", exact=True).click()
    expect(page).not_to_have_url(re.compile(execution["id"]))
    expect(returned(page)).to_contain_text('"day": 2', timeout=SOON)
    roost.delete("/agents/" + agent["id"])


def test_two_executions_are_compared_and_neighbours_are_a_key_away(page, roost):
    agent = roost.agent("compared", "def main(request):\n    return {'n': request.payload}\n")
    first = roost.run(agent, 1)
    roost.call(
        "PATCH", f"/agents/{agent['id']}", {"script": "def main(request):\n    return {'n': -request.payload}\n"}
    )
    second = roost.run(agent, 2)
    page.goto(f"/executions/{second['id']}")
    steps = page.get_by_role("navigation", name="Executions of the agent")
    expect(steps.get_by_role("link", name="Next")).to_have_count(0)
    steps.get_by_role("link", name="← Previous").click()
    expect(page).to_have_url(re.compile(first["id"]))
    expect(steps.get_by_role("link", name="Next →")).to_be_visible()
    page.keyboard.press("]")
    expect(page).to_have_url(re.compile(second["id"]))
    steps.get_by_role("link", name="Compare with previous").click()
    facts = page.get_by_role("region", name="Facts")
    expect(facts.get_by_role("row", name="Revision")).to_contain_text("1")
    expect(facts.get_by_role("row", name="Revision")).to_contain_text("2")
    expect(page.get_by_role("region", name="Changes: Script")).to_contain_text("-request.payload")
    expect(page.get_by_role("region", name="Payload")).to_contain_text("2")
    expect(page.get_by_text("Both used the same Build.")).to_be_visible()
    page.get_by_role("link", name="Swap sides").click()
    expect(page).to_have_url(re.compile(f"one={second['id']}&other={first['id']}"))
    page.goto(f"/agents/{agent['id']}/executions")
    boxes = page.get_by_role("checkbox", name=re.compile("^Select "))
    expect(boxes).to_have_count(2)
    boxes.nth(0).check()
    press(page, "Compare")
    saw_toast(page, "Select two executions to compare them.")
    boxes.nth(1).check()
    press(page, "Compare")
    expect(page).to_have_url(re.compile(f"one={first['id']}&other={second['id']}"))
    roost.delete("/agents/" + agent["id"])
    page.goto("/executions/compare")
    expect(page.get_by_text("Choose two executions")).to_be_visible()


def test_a_failure_leads_to_its_issue_its_line_and_the_last_success(page, roost):
    agent = roost.agent("led", "def main(request):\n    return 1 / request.payload\n")
    success = roost.run(agent, 1)
    failure = roost.run(agent, 0)
    page.goto(f"/executions/{failure['id']}")
    expect(page.get_by_role("link", name="Compare with last success")).to_have_attribute(
        "href", f"/executions/compare?one={success['id']}&other={failure['id']}"
    )
    page.get_by_role("link", name="ZeroDivisionError").click()
    expect(page).to_have_url(re.compile("/issues/issue_"))
    expect(page.get_by_role("link", name="Compare with last success")).to_be_visible()
    expect(page.get_by_role("button", name="Run with edited payload")).to_have_count(1)
    page.get_by_role("link", name="Edit", exact=True).click()
    expect(page).to_have_url(re.compile(rf"/agents/{agent['id']}\?execution={failure['id']}"))
    expect(marked_line(page)).to_have_text("    return 1 / request.payload")
    roost.delete("/agents/" + agent["id"])


STEPS = """\
def fetch(page):
    return {"page": page}


def fetch_all(request):
    return [request.step(f"fetch {page}", fetch, page)["page"] for page in "ab"]


def load(attempt):
    if attempt == 1:
        raise OSError("the warehouse is down")
    return "loaded"


def main(request):
    request.step("fetch all", fetch_all, request)
    return [request.step(f"part {n}", lambda: n) for n in range(60)], request.step("load", load, request.attempt)
"""


def test_the_steps_of_a_job_are_in_the_order_of_the_script(page, roost):
    agent = roost.agent("stepping", STEPS, max_attempts=2, retry_delay=0)
    execution = roost.run(agent)
    page.goto(f"/executions/{execution['id']}")
    steps = page.get_by_role("region", name="Steps")
    rows = steps.locator(".step-list > li")
    expect(rows).to_have_count(50)
    expect(rows.nth(0)).to_contain_text("fetch all")
    expect(rows.nth(1)).to_contain_text("fetch a")
    outer, inner = (rows.nth(n).locator("summary").bounding_box()["x"] for n in (0, 1))
    assert inner > outer
    rows.nth(1).locator("summary").click()
    expect(rows.nth(1)).to_contain_text('"page": "a"')
    steps.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(65)
    expect(rows.nth(63)).to_contain_text("failed")
    expect(rows.nth(63)).to_contain_text("ran again")
    rows.nth(63).locator("summary").click()
    expect(rows.nth(63)).to_contain_text("OSError: the warehouse is down")
    first = roost.get(f"/executions?executor_job_id={execution['executor_job_id']}&sort=started")["data"][0]
    expect(rows.nth(63).get_by_role("link")).to_have_attribute("href", f"/executions/{first['id']}")
    expect(rows.nth(64)).not_to_contain_text("failed")
    roost.delete("/agents/" + agent["id"])


def test_an_execution_without_steps_has_no_list_of_them(page, roost):
    agent = roost.agent("without_steps", "def main():\n    return 1\n")
    execution = roost.run(agent)
    with page.expect_response(lambda response: "/steps" in response.url):
        page.goto(f"/executions/{execution['id']}")
    expect(page.get_by_role("heading", name="Return value")).to_be_visible()
    expect(page.get_by_role("heading", name="Steps")).to_have_count(0)
    roost.delete("/agents/" + agent["id"])
