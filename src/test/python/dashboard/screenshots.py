"""Takes a screenshot of every page, for people to look at: of a Roost in use, with 300 agents and 20,000 executions.

    python3 src/test/python/tools.py src/test/python/dashboard/screenshots.py DIRECTORY [PAGE ...]

ROOST_TEST_URL, ROOST_TEST_API_KEY and ROOST_TEST_DATA name a server whose data can be thrown away. Writes
DIRECTORY/{page}-{width}-{colour scheme}.png, and DIRECTORY/index.html with all of them.
"""

import os
import sys
from pathlib import Path

from browsers import browser_path, launch
from crowd import Crowd
from estate import make_estate
from every_page import NAMES, address, settled
from playwright.sync_api import expect, sync_playwright
from roost_client import Roost

SIZES = {390: 844, 1280: 800, 1920: 1080, 3840: 2160}
SCHEMES = ("light", "dark")
AGENTS = 300
EXECUTIONS = 20_000


def main() -> None:
    directory = Path(sys.argv[1])
    names = sys.argv[2:] or NAMES
    directory.mkdir(parents=True, exist_ok=True)
    roost = Roost(os.environ["ROOST_TEST_URL"], os.environ["ROOST_TEST_API_KEY"])
    estate = make_estate(roost)
    if len(roost.get("/agents?limit=200")["data"]) < 200:
        crowd = Crowd(roost, "crowd")
        crowd.add_agents(AGENTS)
        crowd.add_executions(EXECUTIONS)
    expect.set_options(timeout=60_000)
    with sync_playwright() as playwright:
        path = browser_path(playwright)
        if path is None:
            raise SystemExit("no browser: neither Chromium nor Chrome on the PATH")
        browser = launch(playwright, path)
        for scheme in SCHEMES:
            context = browser.new_context(
                base_url=roost.url, color_scheme=scheme, timezone_id="UTC", reduced_motion="reduce"
            )
            page = context.new_page()
            page.goto(roost.link())
            expect(page.locator("nav#navigation")).to_be_attached()
            for name in names:
                page.goto(address(name, estate))
                for width, height in SIZES.items():
                    page.set_viewport_size({"width": width, "height": height})
                    settled(page)
                    page.screenshot(path=directory / f"{name}-{width}-{scheme}.png")
            context.close()
        browser.close()
    shots = sorted(path.name for path in directory.glob("*.png"))
    figures = "\n".join(
        f'<figure><figcaption>{name}</figcaption><img src="{name}" width="900"></figure>' for name in shots
    )
    (directory / "index.html").write_text(f"<!doctype html>\n<title>Dashboard</title>\n{figures}\n")
    print(f"{len(shots)} screenshots in {directory}")


if __name__ == "__main__":
    main()
