"""Says why the control plane can't be reached: once, then once a minute, and when it is reached again."""

import contextlib
import json
import sys
import time

from roost_executor.link import Answer

AGAIN_SECONDS = 60.0
LONGEST_CAUSE = 300
MOST_CAUSES = 20


class Trouble:
    """What has failed since the last success."""

    def __init__(self, place: str) -> None:
        """`place`: the control plane's, for people."""
        self._place = place
        self._said: dict[str, float] = {}
        self._count = 0
        self._since = 0.0

    def failed(self, cause: object) -> None:
        """An error, or an answer that isn't one to the question."""
        now = time.monotonic()
        self._since = self._since if self._count else now
        self._count += 1
        text = (of_answer(cause) if isinstance(cause, Answer) else str(cause) or type(cause).__name__)[:LONGEST_CAUSE]
        said = self._said.get(text)
        if said is not None and now - said < AGAIN_SECONDS:
            return
        if len(self._said) >= MOST_CAUSES:
            self._said.clear()
        self._said[text] = now
        _say(f"no answer from the control plane at {self._place}: {text} (attempt {self._count})")

    def well(self) -> None:
        """A success."""
        if self._count:
            seconds = time.monotonic() - self._since
            _say(f"the control plane answers again, after {self._count} failed attempts in {seconds:.0f} s")
            self._count = 0
            self._said.clear()


def of_answer(answer: Answer) -> str:
    """Its status, and the code of a problem document. Nothing else of what somebody may have answered."""
    try:
        code = json.loads(answer.body)["code"]
    except (ValueError, KeyError, TypeError):
        code = None
    return f"status {answer.status}" + (f" ({code})" if isinstance(code, str) and code.isidentifier() else "")


def detail_of(answer: Answer) -> str:
    """The text of a problem document that refuses the request, after a colon; bounded, and on one line."""
    try:
        detail = json.loads(answer.body)["detail"] if answer.status == 422 else ""
    except (ValueError, KeyError, TypeError):
        detail = ""
    shown = detail[:LONGEST_CAUSE] if isinstance(detail, str) and detail.isprintable() else ""
    return f": {shown}" if shown else ""


def _say(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # nobody listens
        print(f"roost sidecar: {text}", file=sys.stderr, flush=True)
