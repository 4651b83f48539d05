"""Pictures of the pages: ROOST_SCREENSHOTS=target/pictures has them made, and updates those that the documentation shows."""

import os
import re
import shutil
from datetime import datetime, timedelta, timezone
from io import BytesIO
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from every_page import NAMES, address, settled
from PIL import Image
from playwright.sync_api import Page, Request

TARGET = os.environ.get("ROOST_SCREENSHOTS")
SHOWN_BY_PAGES = Path("docs/images/dashboard")
SIZES = {"desktop": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
SHOWN = [name for name in NAMES if name not in ("agent-long", "missing", "missing-agent")]
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
NOW = datetime(2026, 1, 14, 9, 30, tzinfo=timezone.utc)
COLOURS = 128

pytestmark = pytest.mark.skipif(not TARGET, reason="pictures are made when ROOST_SCREENSHOTS names a folder")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_pictures(sign_in, estate, size, scheme):
    page = sign_in(viewport=SIZES[size], color_scheme=scheme)
    behind = datetime.now(timezone.utc).replace(minute=30, second=0, microsecond=0) - NOW
    page.clock.set_fixed_time(datetime.now(timezone.utc) - behind)
    page.context.route("**/v1/**", lambda route: put_back(route, behind))
    open_calls = calls_of(page)
    Path(TARGET).mkdir(parents=True, exist_ok=True)
    for name in SHOWN:
        open_calls.clear()
        page.goto(address(name, estate))
        settled(page)
        while open_calls:  # Names of agents come last.
            page.wait_for_timeout(100)
            settled(page)
        picture = Image.open(BytesIO(page.screenshot(animations="disabled"))).convert("RGB")
        small = picture.quantize(COLOURS, dither=Image.Dither.NONE)
        taken = Path(TARGET, f"{name}-{size}-{scheme}.png")
        small.save(taken, optimize=True)
        if (SHOWN_BY_PAGES / taken.name).exists():
            shutil.copyfile(taken, SHOWN_BY_PAGES / taken.name)


def calls_of(page: Page) -> "set[Request]":
    """The calls of the API that have no answer yet, but streams."""
    calls: set[Request] = set()
    page.on("request", lambda call: calls.add(call) if is_call(call) else None)
    page.on("requestfinished", lambda call: calls.discard(call))
    page.on("requestfailed", lambda call: calls.discard(call))
    return calls


def is_call(request: Request) -> bool:
    streams = "event-stream" in request.headers.get("accept", "")
    return urlsplit(request.url).path.startswith("/v1/") and not streams


def put_back(route, behind: timedelta) -> None:
    """Moves the times of an answer, by whole hours, to the day that all pictures show."""
    if "event-stream" in route.request.headers.get("accept", ""):
        return route.continue_()
    answer = route.fetch()

    def moved(time: "re.Match[str]") -> str:
        return (datetime.fromisoformat(time[0].replace("Z", "+00:00")) - behind).isoformat().replace("+00:00", "Z")

    return route.fulfill(response=answer, body=TIME.sub(moved, answer.text()))
