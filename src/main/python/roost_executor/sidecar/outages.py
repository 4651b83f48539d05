"""Logs why the control plane can't be reached: each cause once, again after a minute, and the recovery."""

import contextlib
import json
import sys
import time

from roost_executor.sidecar.link import Response

REPEAT_SECONDS = 60.0
LONGEST_CAUSE = 300
MOST_CAUSES = 20


class OutageLog:
    """The failures since the last success."""

    def __init__(self, place: str) -> None:
        """`place`: the control plane's address, for people."""
        self._place = place
        self._logged_at: dict[str, float] = {}
        self._count = 0
        self._since = 0.0

    def failed(self, cause: object) -> None:
        """`cause`: an error, or an unexpected response."""
        now = time.monotonic()
        self._since = self._since if self._count else now
        self._count += 1
        text = status_of(cause) if isinstance(cause, Response) else str(cause) or type(cause).__name__
        text = text[:LONGEST_CAUSE]
        logged_at = self._logged_at.get(text)
        if logged_at is not None and now - logged_at < REPEAT_SECONDS:
            return
        if len(self._logged_at) >= MOST_CAUSES:
            self._logged_at.clear()
        self._logged_at[text] = now
        _log(f"no answer from the control plane at {self._place}: {text} (attempt {self._count})")

    def succeeded(self) -> None:
        """Logs the end of an outage, if there was one."""
        if self._count:
            seconds = time.monotonic() - self._since
            _log(f"the control plane answers again, after {self._count} failed attempts in {seconds:.0f} s")
            self._count = 0
            self._logged_at.clear()


def status_of(response: Response) -> str:
    """The status, and the code of a problem document; nothing else, since a proxy may have answered anything."""
    try:
        code = json.loads(response.body)["code"]
    except (ValueError, KeyError, TypeError):
        code = None
    return f"status {response.status}" + (f" ({code})" if isinstance(code, str) and code.isidentifier() else "")


def detail_of(response: Response) -> str:
    """The detail of a problem document with status 422, after a colon; bounded, and one line."""
    try:
        detail = json.loads(response.body)["detail"] if response.status == 422 else ""
    except (ValueError, KeyError, TypeError):
        detail = ""
    shown = detail[:LONGEST_CAUSE] if isinstance(detail, str) and detail.isprintable() else ""
    return f": {shown}" if shown else ""


def _log(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # standard error is closed
        print(f"roost sidecar: {text}", file=sys.stderr, flush=True)
