"""What a visit costs: bytes and requests, which are held to limits, and times, which are only reported."""

from urllib.parse import urlsplit

import pytest
from every_page import address, settled
from figures import note
from hands import SOON
from playwright.sync_api import Page, expect

KIB = 1024
LIMITS = {"overview": 300 * KIB, "agents": 300 * KIB, "create": 600 * KIB}

LINES = """\
def main():
    for n in range(1_000):
        print("\\n".join(f"{n * 100 + i:06} the quick brown fox jumps over the lazy dog" for i in range(100)))
"""

OBSERVE = """
window.seen = { lcp: 0, cls: 0, tasks: [] };
const observe = (type, take) => new PerformanceObserver((list) => list.getEntries().forEach(take))
  .observe({ type, buffered: true });
observe("largest-contentful-paint", (entry) => (window.seen.lcp = entry.startTime));
observe("layout-shift", (entry) => (window.seen.cls += entry.hadRecentInput ? 0 : entry.value));
observe("longtask", (entry) => window.seen.tasks.push(entry.duration));
"""

SCROLL = """async () => {
  window.seen.tasks = [];
  const frame = () => new Promise(requestAnimationFrame);
  const scroller = document.querySelector("log-view .log-text").shadowRoot.querySelector(".cm-scroller");
  const step = scroller.scrollHeight / 200;
  let slowest = 0;
  for (let i = 200; i >= 0; i--) {
    const begun = performance.now();
    scroller.scrollTop = i * step;
    await frame();
    slowest = Math.max(slowest, performance.now() - begun);
  }
  await new Promise((resolve) => setTimeout(resolve, 200));
  return { slowest, longest: Math.max(0, ...window.seen.tasks) };
}"""


@pytest.mark.parametrize("name", LIMITS)
def test_the_first_load_of_a_page_is_small(sign_in, roost, estate, browser, open_context, name):
    state = sign_in().context.storage_state()
    page = open_context(storage_state=state).new_page()
    page.add_init_script(OBSERVE)
    traffic = Traffic(page)
    page.goto(address(name, estate))
    settled(page)
    seen = page.evaluate("window.seen")
    blocking = sum(max(0, duration - 50) for duration in seen["tasks"])
    note(
        f"first load of {name}: {traffic.bytes / KIB:.1f} KiB of files in {traffic.files} requests,"
        f" {traffic.calls} calls of the API; LCP {seen['lcp']:.0f} ms, CLS {seen['cls']:.3f},"
        f" total blocking time {blocking:.0f} ms"
    )
    assert 0 < traffic.bytes < LIMITS[name]
    assert seen["cls"] < 0.1
    again = Traffic(page)
    page.reload()
    settled(page)
    assert again.bytes < 3 * KIB, "the second load takes the files from the browser's cache"


class Traffic:
    """Counts what a page has the browser fetch, in bytes as they are transferred."""

    def __init__(self, page: Page) -> None:
        self.bytes = self.files = self.calls = 0
        self._files: set[str] = set()
        session = page.context.new_cdp_session(page)
        session.on("Network.responseReceived", self._received)
        session.on("Network.loadingFinished", self._finished)
        session.send("Network.enable")

    def _received(self, event) -> None:
        response = event["response"]
        if urlsplit(response["url"]).path.startswith("/v1/"):
            self.calls += 1
        elif response["url"].startswith("http"):
            self.files += 1
            self._files.add(event["requestId"])

    def _finished(self, event) -> None:
        if event["requestId"] in self._files:
            self.bytes += event["encodedDataLength"]


def test_files_are_kept_by_browsers_for_good(page):
    with page.expect_response("**/static/bundle/*.js") as answer:
        page.goto("/settings")
    assert "immutable" in answer.value.headers["cache-control"]


def test_a_log_of_a_hundred_thousand_lines_is_read_and_scrolled(sign_in, roost):
    agent = roost.agent("hundred-thousand-lines", LINES)
    page = sign_in()
    page.add_init_script(OBSERVE)
    roost.built(agent)
    execution = roost.started(roost.submit(agent))
    page.goto(f"/executions/{execution['id']}")
    expect(page.locator("log-view .log-status")).to_contain_text("100,000 lines", timeout=SOON)
    following = page.evaluate("Math.max(0, ...window.seen.tasks)")
    scrolled = page.evaluate(SCROLL)
    note(
        f"100,000 log lines: longest task while they came {following:.0f} ms, while scrolling"
        f" {scrolled['longest']:.0f} ms, slowest frame {scrolled['slowest']:.0f} ms"
    )
    assert page.locator("log-view .cm-line").count() < 500, "only what is seen is drawn"
    roost.delete("/agents/" + agent["id"])
