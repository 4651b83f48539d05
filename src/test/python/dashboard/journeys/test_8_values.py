"""What scripts emit, and how far they are."""

from uuid import uuid4

import pytest
from hands import SOON, press, returned
from playwright.sync_api import expect

SCRIPT = """\
def main(request):
    request.progress(0.4, "reading")
    for word in ["To ", "be, ", "or\\nnot"]:
        yield word
    request.wait_for_event("go", timeout=600)
    request.progress(0.9, "writing")
    yield 12345678901234567890
    return "end"
"""
MANY = "def main():\n    for n in range(450):\n        yield {'n': n}\n"
SLOW = """\
import time

def main(request):
    request.progress(0.4, "reading")
    yield "first"
    time.sleep(3600)
"""


@pytest.fixture
def run(roost):
    """Submits a job of a new agent, and returns it with its first execution."""

    def run(script: str):
        job = roost.submit(roost.agent(f"emits-{uuid4()}", script))
        return job, roost.started(job)

    return run


def values(page):
    return page.get_by_role("group", name="Values")


def test_values_and_progress_appear_while_the_script_runs(page, roost, run):
    job, execution = run(SLOW)
    page.goto("/executions/" + execution["id"])
    expect(values(page)).to_have_text('"first"', timeout=SOON)
    expect(page.get_by_role("progressbar", name="Progress")).to_have_js_property("value", 0.4)
    expect(page.get_by_text("reading", exact=True)).to_be_visible()
    roost.post(f"/executor-jobs/{job['id']}/cancel")
    expect(page.get_by_role("progressbar", name="Progress")).to_have_count(0, timeout=SOON)
    expect(values(page)).to_have_text('"first"')


def test_texts_are_joined_and_numbers_are_exact(page, roost, run):
    job, _ = run(SCRIPT)
    roost.post(f"/executor-jobs/{job['id']}/events", {"name": "go"})
    page.goto("/executor-jobs/" + job["id"])
    expect(returned(page)).to_contain_text("end", timeout=SOON)
    expect(values(page)).to_have_text('"To "\n"be, "\n"or\\nnot"\n12345678901234567890')
    only_texts, execution = run("def main():\n    yield from ['To ', 'be']\n")
    page.goto("/executions/" + execution["id"])
    expect(values(page)).to_have_text('"To "\n"be"', timeout=SOON)
    press(page, "Join")
    expect(values(page)).to_have_text("To be")


def test_many_values_come_page_by_page(page, roost, run):
    job, execution = run(MANY)
    roost.ended(job)
    page.goto("/executions/" + execution["id"])
    expect(values(page)).to_contain_text('{"n":199}', timeout=SOON)
    expect(values(page)).not_to_contain_text('{"n":200}')
    press(page, "Show more")
    expect(values(page)).to_contain_text('{"n":399}')
    press(page, "Show more")
    expect(values(page)).to_contain_text('{"n":449}')
    expect(page.get_by_role("button", name="Show more")).to_have_count(0)
