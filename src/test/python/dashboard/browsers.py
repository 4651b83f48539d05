"""A Chromium for the tests: `python browsers.py` prints where one is, or says why there is none and ends with 1."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Optional

from playwright.sync_api import Error, Playwright, sync_playwright

# The first one has no windows and takes half of the others' processor time.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
INSTALL_SECONDS = 300
LAUNCH_SECONDS = 180
STEADY = Path(__file__).with_name("steady_browser.py")


def browser_path(playwright: Playwright) -> Optional[str]:
    """The one that ROOST_TEST_BROWSER names, one on the PATH, or Playwright's own; None: there is none."""
    chosen = os.environ.get("ROOST_TEST_BROWSER") or next(filter(None, map(shutil.which, NAMES)), None)
    own = playwright.chromium.executable_path
    return chosen or (own if Path(own).exists() else None)


def install() -> str:
    """Lets Playwright fetch a browser; answers the last line that this has said."""
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"no end of the installation within {INSTALL_SECONDS} s"
    return (done.stderr.strip() or done.stdout.strip()).rpartition("\n")[2]


def main() -> int:
    """Finds a browser that starts, or makes one; 0 when there is one."""
    said = ""
    with sync_playwright() as playwright:
        path = browser_path(playwright)
        if path is None:
            said = install()
            path = browser_path(playwright)
        if path is None:
            print(f"no Chromium on the PATH, and none could be installed ({said})", file=sys.stderr)
            return 1
        try:
            launch(playwright, path).close()
        except Error as e:
            print(f"{path} doesn't start ({str(e).splitlines()[0]})", file=sys.stderr)
            return 1
    print(path)
    return 0


def launch(playwright: Playwright, path: str):  # noqa: ANN201 - a browser
    """Starts it, quietly: it looks for nothing on the network by itself."""
    arguments = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run"]
    if os.geteuid():
        return playwright.chromium.launch(executable_path=path, args=arguments, timeout=LAUNCH_SECONDS * 1_000)
    # Chromium's sandbox refuses root. Without it, nothing stands in the way of a filter of our own.
    with tempfile.TemporaryDirectory(prefix="roost-browser-") as directory:
        steady = Path(directory, "chromium")
        command = shlex.join([sys.executable, str(STEADY), path])
        steady.write_text(f'#!/bin/sh\nexec {command} "$@"\n', encoding="utf-8")
        steady.chmod(0o755)
        return playwright.chromium.launch(
            executable_path=steady, args=[*arguments, "--no-sandbox"], timeout=LAUNCH_SECONDS * 1_000
        )


if __name__ == "__main__":
    sys.exit(main())
